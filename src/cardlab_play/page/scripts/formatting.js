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
 * Whether results of `game` are wins: the page shows mean results as the chance to win.
 * @param {string} game
 */
export const countsWins = (game) => game === 'five_o' || game === 'thirty_one';

/**
 * The chance to win of a mean payoff: a win pays 1, and all payoffs sum to 0.
 * @param {number} payoff
 * @param {number} players
 */
const winChance = (payoff, players) => (100 * (payoff * (players - 1) + 1)) / players;

/**
 * The number format of a column of mean results, with their margins: fewer decimal places for larger values.
 * @param {string} game
 * @param {number} players
 * @param {(number | null)[]} values
 * @returns {(value: number, margin?: number | null) => string}
 */
export function resultColumn(game, players, values) {
  if (!countsWins(game)) return columnFormatter(game, values);
  const span = (/** @type {number} */ width) => Math.round(winChance(width, players) - winChance(0, players));
  return (value, margin) => `${Math.round(winChance(value, players))}${typeof margin === 'number' ? ` ± ${span(margin)}` : ''} %`;
}

/**
 * The number format of a column of points, with their margins.
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
 * How much better a move is than another, in words: scores 0.91 ± 0.25 points more than.
 * @param {string} game
 * @param {number} players
 * @param {number} difference
 * @param {number} margin
 */
export function formatAdvantage(game, players, difference, margin) {
  const compared = difference < 0 ? 'fewer' : 'more';
  if (!countsWins(game)) return `scores ${formatEstimate('', Math.abs(difference), margin).replace('+', '')} points ${compared} than`;
  const [more, half] = [Math.abs(difference), margin].map((payoff) => Math.round((100 * payoff * (players - 1)) / players));
  return `wins ${more} ± ${half} ${compared} games in 100 than`;
}

/**
 * The number format of a column of losses: −14.0 points, −12 % of the chance to win.
 * @param {string} game
 * @param {number} players
 * @param {number[]} losses
 * @returns {(loss: number) => string}
 */
export function lossColumn(game, players, losses) {
  const format = columnFormatter('', losses);
  return (loss) => (countsWins(game) ? `−${Math.round((100 * loss * (players - 1)) / players)} %` : format(-loss));
}

/** What a mean result of `game` is, as the head of a column. */
export const resultHead = (/** @type {string} */ game) => (countsWins(game) ? 'chance to win' : 'points a game');

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
  return `${game === 'poker_squares' ? payoff : formatPoints(payoff)} ${Math.abs(payoff) === 1 ? 'point' : 'points'}`;
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
