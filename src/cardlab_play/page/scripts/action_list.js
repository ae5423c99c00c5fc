/** List of the legal actions with probabilities and values: the agent's action first, then by probability. */

import { withSuitSymbols } from './cards.js';
import { h, screenReaderText } from './dom.js';
import { bar, columnFormatter, formatPercent, formatMargin } from './formatting.js';

/** @typedef {import('./types.js').ActionAnalysis} ActionAnalysis */

const INITIAL_ROWS = 8; // shown before the player expands the list

/**
 * @param {ActionAnalysis[]} options
 * @param {number} best the agent's action
 * @param {string} game
 * @param {string | null} [source] where the values come from, in words
 */
export function actionList(options, best, game, source) {
  const ordered = [...options].sort((a, b) => compare(a, b, best));
  const values = options.map(({ value }) => value).filter((value) => value !== null);
  const smallest = Math.min(...values);
  const range = Math.max(...values) - smallest;
  const format = columnFormatter(game, values);
  const rows = ordered.map((option) => rowOf(option, option.action === best, range > 0 ? ((option.value ?? smallest) - smallest) / range : 0, format));
  const list = h('ul.options', null, rows.slice(0, INITIAL_ROWS));
  const note = source && values.length > 0 && h('p.muted', null, source);
  if (rows.length <= INITIAL_ROWS) return h('div', null, list, note);
  const moreButton = h('button.plain', { type: 'button', onclick: () => { list.append(...rows.slice(INITIAL_ROWS)); moreButton.remove(); } }, `All ${rows.length} options`);
  return h('div', null, list, moreButton, note);
}

/**
 * Order: the agent's action, then by probability, then by value.
 * @param {ActionAnalysis} a
 * @param {ActionAnalysis} b
 * @param {number} best
 */
function compare(a, b, best) {
  if (a.action === best || b.action === best) return a.action === best ? -1 : 1;
  const likelier = (b.probability ?? 0) - (a.probability ?? 0);
  return likelier || (b.value ?? -Infinity) - (a.value ?? -Infinity) || 0;
}

/**
 * @param {ActionAnalysis} option
 * @param {boolean} best
 * @param {number} height position of the value between the smallest and the largest, 0 … 1
 * @param {(value: number) => string} format
 */
function rowOf(option, best, height, format) {
  const kinds = ['li', best && 'best', option.chosen && 'chosen'].filter(Boolean).join('.');
  const fromPlayouts = option.margin !== null && option.margin !== undefined;
  return h(
    kinds,
    null,
    h('span.what', null, withSuitSymbols(option.text), best && screenReaderText(', choice of the agent'), option.chosen && h('span.mark', null, ' your move')),
    option.probability !== null && [h('span.number', null, screenReaderText('probability '), formatPercent(option.probability)), bar(option.probability)],
    option.value !== null &&
      (fromPlayouts
        ? h('span.number.estimate', null, screenReaderText('value '), format(option.value), formatMargin(option.margin))
        : [h('span.number', null, screenReaderText('value '), format(option.value)), bar(height, 'value')]),
  );
}

/**
 * Describes the source of the values, null for the agent's own values.
 * @param {{value_source: string, playouts: number | null, simulations: number | null}} advice
 */
export function valueSourceText({ value_source: from, playouts, simulations }) {
  if (from === 'playouts') return `Values: mean of ${playouts} playouts per action with 95 % intervals. Playouts use fast rules or random moves; the agent does not use these values.`;
  return simulations ? `Values: results of the search, ${simulations} simulations in total.` : null;
}
