/** Formats numbers and results, and draws bars. */

import { h } from './dom.js';

/**
 * Signed points: +3, −1.25, 0.
 * @param {number | null | undefined} value
 */
export function formatPoints(value) {
  if (value === null || value === undefined) return '–';
  const rounded = Math.abs(value) >= 20 ? Math.round(value) : Math.round(100 * value) / 100;
  if (rounded === 0) return '0';
  return `${rounded > 0 ? '+' : '−'}${Math.abs(rounded)}`;
}

/**
 * The number format of results of `game`: signed, except for Poker Squares.
 * @param {string} game
 */
export function resultFormatter(game) {
  return game === 'poker_squares' ? (/** @type {number | null} */ value) => (value === null ? '–' : String(Math.round(10 * value) / 10)) : formatPoints;
}

/**
 * The number format of a column of results, with their margins: fewer decimal places for larger values.
 * @param {string} game
 * @param {(number | null)[]} values
 * @returns {(value: number, margin?: number | null) => string}
 */
export function columnFormatter(game, values) {
  const largest = Math.max(0, ...values.map((value) => Math.abs(value ?? 0)));
  const digits = largest < 10 ? 2 : largest < 100 ? 1 : 0;
  return (value, margin) => {
    const text = Math.abs(value).toFixed(digits);
    const sign = game === 'poker_squares' || Number(text) === 0 ? '' : value > 0 ? '+' : '−';
    return `${sign}${text}${typeof margin === 'number' ? ` ± ${margin.toFixed(digits)}` : ''}`;
  };
}

/**
 * A mean result with its margin: −3.59 ± 0.70.
 * @param {string} game
 * @param {number} value
 * @param {number | null} margin
 */
export const formatEstimate = (game, value, margin) => columnFormatter(game, [value, margin])(value, margin);

/**
 * The size of a difference with its margin: 0.91 ± 0.25.
 * @param {number} value
 * @param {number} margin
 */
export const formatDifference = (value, margin) => formatEstimate('', Math.abs(value), margin).replace('+', '');

/**
 * What stands behind a mean result: points, or what a win and a loss count.
 * @param {string} game
 * @param {number} players
 */
export function resultUnit(game, players) {
  if (game !== 'five_o' && game !== 'thirty_one') return ' points';
  return `, where a win is +1 and a loss ${formatPoints(-1 / (players - 1))}`;
}

/**
 * A number with its noun: 1 card, 3 cards.
 * @param {number} number
 * @param {string} noun
 */
export const formatCount = (number, noun) => `${number} ${noun}${number === 1 ? '' : 's'}`;

/**
 * The payoff of a game in words: +3 points, won the match.
 * @param {string} game
 * @param {number} payoff
 */
export function formatOutcome(game, payoff) {
  if (game === 'five_o') return payoff > 0 ? 'won the game' : payoff < 0 ? 'lost the game' : 'tied the game';
  if (game === 'thirty_one') return payoff >= 1 ? 'won the match' : payoff < 0 ? 'lost the match' : 'shared the match';
  return `${resultFormatter(game)(payoff)} ${Math.abs(payoff) === 1 ? 'point' : 'points'}`;
}

/** @param {number | null | undefined} share */
export function formatPercent(share) {
  if (share === null || share === undefined) return '–';
  return share > 0 && share < 0.01 ? '< 1 %' : `${Math.round(100 * share)} %`;
}

/**
 * A horizontal bar, hidden from screen readers.
 * @param {number} share 0 … 1
 * @param {string} [kind]
 */
export function bar(share, kind = '') {
  const inner = h('span');
  inner.style.inlineSize = `${100 * Math.max(0, Math.min(1, share))}%`;
  return h(kind ? `span.bar.${kind}` : 'span.bar', { 'aria-hidden': 'true' }, inner);
}
