/** The value that the person could expect, decision by decision, as a curve with the largest drops marked. */

import { h, svg } from './dom.js';
import { resultsOf } from './figures.js';

const WIDTH = 320;
const HEIGHT = 110;
const EDGE = 8;

/**
 * @param {import('./types.js').Replay} replay
 * @param {(index: number) => void} go
 */
export function courseOf(replay, go) {
  const written = resultsOf(replay.game);
  const own = replay.frames.map((frame, index) => ({ index, frame })).filter(({ frame }) => frame.judged);
  const values = [...own.map(({ frame }) => frame.judged?.value ?? 0), replay.result.payoff];
  const [least, most] = [Math.min(...values, 0), Math.max(...values, 0)];
  const last = Math.max(1, replay.frames.length - 1);
  const x = (/** @type {number} */ index) => EDGE + ((WIDTH - 2 * EDGE) * index) / last;
  const y = (/** @type {number} */ value) => HEIGHT - EDGE - ((HEIGHT - 2 * EDGE) * (value - least)) / (most - least || 1);
  const spots = own.map(({ index, frame }) => ({ index, value: frame.judged?.value ?? 0, number: frame.number }));
  const line = [...spots.map(({ index, value }) => `${x(index)},${y(value)}`), `${x(last)},${y(replay.result.payoff)}`].join(' ');
  const here = svg('line', { class: 'here', y1: 0, y2: HEIGHT });
  const picture = svg(
    'svg',
    { class: 'course', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': `Your expected result, from ${written(values[0])} to ${written(replay.result.payoff)}` },
    svg('line', { class: 'zero', x1: 0, x2: WIDTH, y1: y(0), y2: y(0) }),
    here,
    svg('polyline', { class: 'curve', points: line }),
    spots.map(({ index, value, number }) => svg('circle', { class: replay.worst.includes(number) ? 'drop' : 'spot', cx: x(index), cy: y(value), r: replay.worst.includes(number) ? 5 : 2.5 })),
  );
  picture.addEventListener('click', (event) => {
    const box = picture.getBoundingClientRect();
    go(Math.round(((/** @type {MouseEvent} */ (event).clientX - box.left) / box.width) * last));
  });
  const mark = (/** @type {number} */ index) => {
    here.setAttribute('x1', String(x(index)));
    here.setAttribute('x2', String(x(index)));
  };
  return { picture: h('figure', null, picture, h('figcaption.quiet', null, 'What you could expect at each decision')), mark };
}
