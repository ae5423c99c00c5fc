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

/**
 * As `resultsOf`, with as many digits for each as the column `values` can do with: 2 for small ones, 1 for tens.
 * @param {string} game
 * @param {(number | null)[]} values
 * @returns {(value: number) => string}
 */
export function columnOf(game, values) {
  const largest = Math.max(0, ...values.map((value) => Math.abs(value ?? 0)));
  const digits = largest < 10 ? 2 : largest < 100 ? 1 : 0;
  return (value) => {
    const written = Math.abs(value).toFixed(digits);
    if (game === 'poker_squares' || Number(written) === 0) return written;
    return `${value > 0 ? '+' : '−'}${written}`;
  };
}

/**
 * How far a value may be off, as `± 0.30`; nothing where that is not known.
 * @param {number | null | undefined} margin
 */
export function plusMinus(margin) {
  if (margin === null || margin === undefined) return '';
  return ` ± ${margin.toFixed(margin < 10 ? 2 : margin < 100 ? 1 : 0)}`;
}

/**
 * What a game paid, with its unit where it has one: +3 points, won.
 * @param {string} game
 * @param {number} payoff
 */
export function outcomeOf(game, payoff) {
  if (game === 'five_o') return payoff > 0 ? 'won' : payoff < 0 ? 'lost' : 'a tie';
  if (game === 'thirty_one') return `${points(payoff)} of a match`;
  return `${resultsOf(game)(payoff)} ${Math.abs(payoff) === 1 ? 'point' : 'points'}`;
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
