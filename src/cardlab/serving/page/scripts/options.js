/** The options of a decision with their probabilities and values, the likeliest first. */

import { withSigns } from './cards.js';
import { h, spoken } from './dom.js';
import { bar, percent } from './figures.js';

/** @typedef {import('./types.js').AdvisedOption} AdvisedOption */

const SHORT = 8; // options that stand there without being asked for

/**
 * @param {AdvisedOption[]} options
 * @param {number} best the action that the agent would take
 * @param {(value: number) => string} written
 * @param {string} [source] where values come from
 */
export function optionsOf(options, best, written, source) {
  const ordered = [...options].sort((a, b) => rank(b, best) - rank(a, best));
  const values = options.map(({ value }) => value).filter((value) => value !== null);
  const least = Math.min(...values);
  const range = Math.max(...values) - least;
  const rows = ordered.map((option) => rowOf(option, option.action === best, range > 0 ? ((option.value ?? least) - least) / range : 0, written));
  const list = h('ul.options', null, rows.slice(0, SHORT));
  if (rows.length <= SHORT) return h('div', null, list, note(source));
  const more = h('button.plain', { type: 'button', onclick: () => { list.append(...rows.slice(SHORT)); more.remove(); } }, `All ${rows.length} options`);
  return h('div', null, list, more, note(source));
}

/** @param {string} [source] */
function note(source) {
  return source === 'playouts' && h('p.quiet', null, 'Values come from games played out to their end.');
}

/**
 * @param {AdvisedOption} option
 * @param {number} best
 */
function rank(option, best) {
  return option.action === best ? Infinity : option.probability ?? option.value ?? 0;
}

/**
 * @param {AdvisedOption} option
 * @param {boolean} best
 * @param {number} height of its value among those of all options, 0 … 1
 * @param {(value: number) => string} written
 */
function rowOf(option, best, height, written) {
  const kinds = ['li', best && 'best', option.chosen && 'chosen'].filter(Boolean).join('.');
  return h(
    kinds,
    null,
    h('span.what', null, withSigns(option.text), best && spoken(', the agent would do this'), option.chosen && h('span.mark', null, ' your move')),
    option.probability !== null && [h('span.number', null, spoken('probability '), percent(option.probability)), bar(option.probability)],
    option.value !== null && [h('span.number', null, spoken('value '), written(option.value)), bar(height, 'value')],
  );
}
