/** Page of the player's record: results against each agent, with 95 % intervals. */

import { getRecord } from './api.js';
import { fill, h } from './dom.js';
import { MIN_GAMES, columnFormatter, formatPercent } from './formatting.js';

/**
 * @typedef {{
 *   game: string, title: string, against: string, games: number, won: number, tied: number, lost: number,
 *   win_rate: number, win_rate_low: number, win_rate_high: number,
 *   points: boolean, mean: number, mean_low: number | null, mean_high: number | null,
 * }} RecordRow
 */

/**
 * @param {HTMLElement} main
 * @param {import('./types.js').PageContext} context
 */
export async function showRecord(main, context) {
  /** @type {{rows: RecordRow[]}} */
  const { rows } = await getRecord(context.signal);
  if (context.signal.aborted) return;
  context.setTitle('Your record');
  const games = [...new Set(rows.map(({ title }) => title))];
  fill(
    main,
    h(
      'section.box.record',
      null,
      h('h1', null, 'Your record'),
      rows.length === 0
        ? h('p', null, 'No finished games that count yet.')
        : h('p.muted', null, `All your games that count, with 95 % intervals from ${MIN_GAMES} games on. A tie is half a win. At Poker Squares the opponent is par, the points of the agent on the same cards; mean points are those above par.`),
      games.map((title) => [h('h2', null, title), recordTable(title, rows.filter((row) => row.title === title))]),
      h('div.row', null, h('a.button', { href: '#/' }, 'Back to the start page')),
    ),
  );
}

/**
 * @param {string} title
 * @param {RecordRow[]} rows
 */
function recordTable(title, rows) {
  const heads = ['Games', 'Win rate', ...(rows[0].points ? ['Mean points'] : [])];
  return h(
    'div.wide-table',
    { tabindex: '0', role: 'region', 'aria-label': `Results at ${title}` },
    h(
      'table',
      null,
      h('thead', null, h('tr', null, h('th', { scope: 'col' }, 'Against'), heads.map((head) => h('th.number', { scope: 'col' }, head)))),
      h('tbody', null, rows.map(recordRow)),
    ),
  );
}

/** @param {RecordRow} row */
function recordRow({ against, games, won, tied, lost, win_rate: rate, win_rate_low: low, win_rate_high: high, points, mean, mean_low: least, mean_high: most }) {
  const format = columnFormatter('', [mean, least, most]);
  return h(
    'tr',
    null,
    h('td', null, against),
    h('td.number', null, h('b', null, games), h('div.muted', null, unbroken(`${won} won,`, `${tied} tied,`, `${lost} lost`))),
    h('td.number', null, h('b', null, formatPercent(rate)), games >= MIN_GAMES && h('div.muted', null, unbroken(`${formatPercent(low)} to`, formatPercent(high)))),
    points && h('td.number', null, h('b', null, format(mean)), games >= MIN_GAMES && least !== null && most !== null && h('div.muted', null, unbroken(`${format(least)} to`, format(most)))),
  );
}

/**
 * Parts of a line, which breaks between them only.
 * @param {...string} parts
 */
function unbroken(...parts) {
  return parts.map((part) => [h('span.unbroken', null, part), ' ']);
}
