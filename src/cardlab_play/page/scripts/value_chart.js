/** Line chart of the player's expected result by decision, with costly moves marked. Frame i shows the table before move i + 1. */

import { h, svg } from './dom.js';
import { countsWins, resultColumn } from './formatting.js';

const WIDTH = 320;
const HEIGHT = 110;
const EDGE = 8;

/**
 * @param {import('./types.js').Replay} replay
 * @param {(index: number) => void} showFrame
 */
export function valueChart(replay, showFrame) {
  const { game, result } = replay;
  const format = resultColumn(game, result.payoffs.length, replay.frames.map(({ review }) => review?.value ?? 0));
  const own = replay.frames.map((frame, index) => ({ index: index - 1, frame })).filter(({ frame }) => frame.review);
  const values = [...own.map(({ frame }) => frame.review?.value ?? 0), result.payoff];
  const [smallest, largest] = [Math.min(...values, 0), Math.max(...values, 0)];
  const last = Math.max(1, replay.frames.length - 1);
  const x = (/** @type {number} */ index) => EDGE + ((WIDTH - 2 * EDGE) * index) / last;
  const y = (/** @type {number} */ value) => HEIGHT - EDGE - ((HEIGHT - 2 * EDGE) * (value - smallest)) / (largest - smallest || 1);
  const points = own.map(({ index, frame }) => ({ index, value: frame.review?.value ?? 0, number: frame.number }));
  const caption = `${countsWins(game) ? 'Your chance to win' : 'The result to expect, in points,'} before each of your moves: from ${format(values[0])} to ${format(result.payoff)} at the end. Red: your costliest moves.${result.payoffs.length > 1 ? ' Dashed: as good as the others.' : ''}`;
  const line = [...points.map(({ index, value }) => `${x(index)},${y(value)}`), `${x(last)},${y(result.payoff)}`].join(' ');
  const marker = svg('line', { class: 'marker', y1: 0, y2: HEIGHT });
  const picture = svg(
    'svg',
    { class: 'value-chart', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': caption },
    svg('line', { class: 'zero', x1: 0, x2: WIDTH, y1: y(0), y2: y(0) }),
    marker,
    svg('polyline', { class: 'curve', points: line }),
    points.map(({ index, value, number }) => svg('circle', { class: replay.costly_moves.includes(number) ? 'costly' : 'spot', cx: x(index), cy: y(value), r: replay.costly_moves.includes(number) ? 5 : 2.5 })),
  );
  picture.addEventListener('click', (event) => {
    const box = picture.getBoundingClientRect();
    showFrame(Math.round(((/** @type {MouseEvent} */ (event).clientX - box.left) / box.width) * last));
  });
  const mark = (/** @type {number} */ index) => {
    marker.setAttribute('x1', String(x(index)));
    marker.setAttribute('x2', String(x(index)));
  };
  return { picture: h('figure', null, picture, h('figcaption.muted', null, caption)), mark };
}
