/** The agent's observation by block, as a heat map. */

import { h, svg } from './dom.js';

const MAX_COLUMNS = 52; // per row

/** @typedef {{name: string, shape: number[], values: number[]}} Block */

/** @param {Block[]} blocks */
export function observationView(blocks) {
  if (blocks.length === 0) return null;
  const count = blocks.reduce((sum, { values }) => sum + values.length, 0);
  return h(
    'section.observation-section',
    null,
    h('h2', null, `Network input: ${count} numbers in ${blocks.length} blocks`),
    h('dl.observation', null, blocks.map((block) => h('div', null, h('dt', null, block.name.replaceAll('_', ' '), h('span.muted', null, ` ${block.shape.join(' × ')}`)), h('dd', null, picture(block))))),
  );
}

/** @param {Block} block */
function picture({ name, shape, values }) {
  const columns = widthOf(shape, values.length);
  const lines = Math.ceil(values.length / columns);
  const largest = Math.max(1, ...values.map(Math.abs));
  const set = values.filter((value) => value !== 0).length;
  const squares = values.map((value, i) =>
    svg(
      'rect',
      {
        class: value === 0 ? 'zero-value' : value < 0 ? 'negative' : 'positive',
        x: i % columns,
        y: Math.floor(i / columns),
        width: 0.9,
        height: 0.9,
        'fill-opacity': value === 0 ? null : (0.25 + 0.75 * Math.abs(value) / largest).toFixed(2),
      },
      svg('title', null, `${i}: ${value}`),
    ),
  );
  const picture = svg('svg', { class: 'block', viewBox: `0 0 ${columns} ${lines}`, role: 'img', 'aria-label': `${name}: ${set} of ${values.length} are not zero` }, squares);
  /** @type {any} */ (picture).style.inlineSize = `${columns * 12}px`;
  return picture;
}

/**
 * Columns of the heat map: the last axis, or several of its rows side by side.
 * @param {number[]} shape
 * @param {number} size
 */
function widthOf(shape, size) {
  const last = shape.at(-1) ?? size;
  if (last > MAX_COLUMNS) return 26;
  if (shape.length < 2) return Math.min(size, MAX_COLUMNS);
  return last < 6 ? last * Math.max(1, Math.min(Math.floor(26 / last), size / last)) : last;
}
