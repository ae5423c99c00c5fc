/** The options of a decision with their probabilities and values, what the agent would do first, then the likeliest. */

import { withSigns } from './cards.js';
import { h, spoken } from './dom.js';
import { bar, columnOf, percent, plusMinus } from './figures.js';

/** @typedef {import('./types.js').AdvisedOption} AdvisedOption */

const SHORT = 8; // options that stand there without being asked for

/**
 * @param {AdvisedOption[]} options
 * @param {number} best the action that the agent would take
 * @param {string} game
 * @param {string | null} [source] where the values come from, in words
 */
export function optionsOf(options, best, game, source) {
  const ordered = [...options].sort((a, b) => compare(a, b, best));
  const values = options.map(({ value }) => value).filter((value) => value !== null);
  const least = Math.min(...values);
  const range = Math.max(...values) - least;
  const written = columnOf(game, values);
  const rows = ordered.map((option) => rowOf(option, option.action === best, range > 0 ? ((option.value ?? least) - least) / range : 0, written));
  const list = h('ul.options', null, rows.slice(0, SHORT));
  const note = source && values.length > 0 && h('p.quiet', null, source);
  if (rows.length <= SHORT) return h('div', null, list, note);
  const more = h('button.plain', { type: 'button', onclick: () => { list.append(...rows.slice(SHORT)); more.remove(); } }, `All ${rows.length} options`);
  return h('div', null, list, more, note);
}

/**
 * What the agent would do, then the likeliest, then the best.
 * @param {AdvisedOption} a
 * @param {AdvisedOption} b
 * @param {number} best
 */
function compare(a, b, best) {
  if (a.action === best || b.action === best) return a.action === best ? -1 : 1;
  const likelier = (b.probability ?? 0) - (a.probability ?? 0);
  return likelier || (b.value ?? -Infinity) - (a.value ?? -Infinity) || 0;
}

/**
 * @param {AdvisedOption} option
 * @param {boolean} best
 * @param {number} height of its value among those of all options, 0 … 1
 * @param {(value: number) => string} written
 */
function rowOf(option, best, height, written) {
  const kinds = ['li', best && 'best', option.chosen && 'chosen'].filter(Boolean).join('.');
  const guessed = option.margin !== null && option.margin !== undefined; // from few games: not to be read like the agent's own
  return h(
    kinds,
    null,
    h('span.what', null, withSigns(option.text), best && spoken(', the agent would do this'), option.chosen && h('span.mark', null, ' your move')),
    option.probability !== null && [h('span.number', null, spoken('probability '), percent(option.probability)), bar(option.probability)],
    option.value !== null &&
      (guessed
        ? h('span.number.guess', null, spoken('value '), written(option.value), plusMinus(option.margin))
        : [h('span.number', null, spoken('value '), written(option.value)), bar(height, 'value')]),
  );
}

/**
 * Where the values of `options` come from; null for the agent's own, which need no word.
 * @param {{values_from: string, playouts: number | null, simulations: number | null}} judged
 */
export function sourceOf({ values_from: from, playouts, simulations }) {
  if (from === 'playouts') return `Values: about ${playouts} games each, played on by quick rules or at random, with 95 % intervals. The agent does not go by them.`;
  return simulations ? `Values: what the search found, from ${simulations} games or positions ahead in all.` : null;
}
