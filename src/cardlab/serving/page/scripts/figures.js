/** Numbers as people read them, and bars as long as they are large. */

import { h } from './dom.js';

/**
 * Points with their sign: +3, −1.25, 0.
 * @param {number | null | undefined} value
 */
export function points(value) {
  if (value === null || value === undefined) return '–';
  const rounded = Math.abs(value) >= 20 ? Math.round(value) : Math.round(100 * value) / 100;
  if (rounded === 0) return '0';
  return `${rounded > 0 ? '+' : '−'}${Math.abs(rounded)}`;
}

/**
 * How a result of `game` is written: what is won from others has a sign, a score of one's own has none.
 * @param {string} game
 */
export function resultsOf(game) {
  return game === 'poker_squares' ? (/** @type {number | null} */ value) => (value === null ? '–' : String(Math.round(10 * value) / 10)) : points;
}

/** @param {number | null | undefined} share */
export function percent(share) {
  if (share === null || share === undefined) return '–';
  return share > 0 && share < 0.01 ? '< 1 %' : `${Math.round(100 * share)} %`;
}

/**
 * A bar; what it says is written beside it.
 * @param {number} share 0 … 1
 * @param {string} [kind]
 */
export function bar(share, kind = '') {
  const inner = h('span');
  inner.style.inlineSize = `${100 * Math.max(0, Math.min(1, share))}%`;
  return h(kind ? `span.bar.${kind}` : 'span.bar', { 'aria-hidden': 'true' }, inner);
}
