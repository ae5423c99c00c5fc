/** List of the legal actions with the figures of the agent and of the playouts: the agent's action first. */

import { withSuitSymbols } from './cards.js';
import { h, screenReaderText } from './dom.js';
import { bar, columnFormatter, formatCount, formatDifference, formatPercent } from './formatting.js';

/** @typedef {import('./types.js').ActionAnalysis} ActionAnalysis */

const INITIAL_ROWS = 8; // shown before the player expands the list

/**
 * @param {ActionAnalysis[]} options
 * @param {number} best the agent's action
 * @param {string} game
 */
export function actionList(options, best, game) {
  const visits = options.reduce((sum, option) => sum + (option.visits ?? 0), 0);
  const ordered = [...options].sort((a, b) => compare(a, b, best));
  const format = columnFormatter(game, options.flatMap(({ value, search_value }) => [value, search_value]));
  const rows = ordered.map((option) => rowOf(option, option.action === best, visits, format));
  const list = h('ul.options', null, rows.slice(0, INITIAL_ROWS));
  if (rows.length <= INITIAL_ROWS) return list;
  const moreButton = h('button.plain', { type: 'button', onclick: () => { list.append(...rows.slice(INITIAL_ROWS)); moreButton.remove(); } }, `All ${rows.length} options`);
  return h('div', null, list, moreButton);
}

/**
 * Order: the agent's action, then by probability, visits and value.
 * @param {ActionAnalysis} a
 * @param {ActionAnalysis} b
 * @param {number} best
 */
function compare(a, b, best) {
  if (a.action === best || b.action === best) return a.action === best ? -1 : 1;
  const likelier = (b.probability ?? 0) - (a.probability ?? 0) || (b.visits ?? 0) - (a.visits ?? 0);
  return likelier || (b.value ?? -Infinity) - (a.value ?? -Infinity) || 0;
}

/**
 * @param {ActionAnalysis} option
 * @param {boolean} best
 * @param {number} visits of all options
 * @param {(value: number, margin?: number | null) => string} format
 */
function rowOf(option, best, visits, format) {
  const kinds = ['li', best && 'best', option.chosen && 'chosen'].filter(Boolean).join('.');
  return h(
    kinds,
    null,
    h('span.what', null, withSuitSymbols(option.text), best && screenReaderText(', choice of the agent'), option.chosen && h('span.mark', null, ' your move')),
    agentFigures(option, visits, format),
    option.value !== null && h('span.number.estimate', null, screenReaderText('playouts '), format(option.value, option.margin)),
  );
}

/**
 * The probability of a policy, or the value and the visits of a search.
 * @param {ActionAnalysis} option
 * @param {number} visits of all options
 * @param {(value: number, margin?: number | null) => string} format
 */
function agentFigures({ probability, search_value, visits: own }, visits, format) {
  if (probability !== null) return [h('span.number', null, screenReaderText('probability '), formatPercent(probability)), bar(probability)];
  if (own === null || visits === 0) return null;
  const value = search_value === null ? '' : `${format(search_value)}, `;
  return [h('span.number', null, screenReaderText('search '), `${value}${formatCount(own, 'visit')}`), bar(own / visits)];
}

/**
 * Whether the playouts agree with the agent, in one sentence.
 * @param {import('./types.js').Verdict} verdict
 * @param {number} deals
 * @param {number} count of options
 */
export function verdictText({ agrees, text, difference, margin }, deals, count) {
  if (count === 1) return 'It is the only option.';
  if (agrees) return `The playouts agree: no option does better on the ${deals} deals.`;
  const other = `${withSuitSymbols(text)} does ${formatDifference(difference, margin)} better on the same ${deals} deals`;
  return agrees === false ? `The playouts disagree: ${other}.` : `The playouts do not decide: ${other}, which may be chance: it is the best of ${count} options.`;
}
