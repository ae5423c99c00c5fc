/** How people do against each agent of a game, and who they are; the person's own name stands here too. */

import { getLeaderboard, putName } from './api.js';
import { fill, h } from './dom.js';
import { points } from './figures.js';

/** @typedef {{title?: string, name?: string, games: number, mean: number, low: number | null, high: number | null, you?: boolean}} Row */

/**
 * @param {import('./types.js').GameChoice} game
 * @param {{name: string}} session
 * @param {AbortSignal} signal
 */
export function makeLeaderboard(game, session, signal) {
  const body = h('div.standing', null, h('p.quiet', null, 'One moment …'));
  const refresh = async () => {
    try {
      fill(body, ...tablesOf(await getLeaderboard(game.game, signal)));
    } catch (/** @type {any} */ error) {
      if (!signal.aborted) fill(body, h('p.trouble', { role: 'alert' }, error.message));
    }
  };
  refresh();
  return h('section.box', { 'aria-label': `Leaderboard of ${game.title}` }, h('h2', null, `Leaderboard: ${game.title}`), body, nameForm(session, refresh));
}

/** @param {{unit: string, agents: Row[], people: Row[]}} board */
function tablesOf({ unit, agents, people }) {
  if (agents.length === 0 && people.length === 0) return [h('p.quiet', null, 'Nobody has finished a game yet.')];
  return [
    h('p.quiet', null, `Mean ${unit} with its 95 % interval`),
    h('div.boards', null, tableOf('People against', agents), people.length > 0 && tableOf('Person', people)),
  ];
}

/**
 * @param {string} heading
 * @param {Row[]} rows
 */
function tableOf(heading, rows) {
  return h(
    'table',
    null,
    h('thead', null, h('tr', null, h('th', { scope: 'col' }, heading), h('th.number', { scope: 'col' }, 'Games'), h('th.number', { scope: 'col' }, 'Mean'))),
    h(
      'tbody',
      null,
      rows.map(({ title, name, games, mean, low, high, you }) =>
        h(
          'tr',
          null,
          h('td', null, title ?? (name || 'no name'), you && ' (you)'),
          h('td.number', null, games),
          h('td.number', null, h('b', null, points(mean)), low !== null && h('div.quiet', null, `${points(low)} to ${points(high)}`)),
        ),
      ),
    ),
  );
}

/**
 * @param {{name: string}} session
 * @param {() => void} refresh
 */
function nameForm(session, refresh) {
  const input = /** @type {HTMLInputElement} */ (h('input', { type: 'text', value: session.name, autocomplete: 'nickname', 'aria-label': 'Your name' }));
  const said = h('span.quiet', { role: 'status' });
  const save = async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      session.name = (await putName(input.value)).name;
      input.value = session.name;
      said.textContent = 'Kept.';
      refresh();
    } catch (/** @type {any} */ error) {
      said.textContent = error.message;
    }
  };
  return h('form.name', { onsubmit: save }, h('label.field', null, h('span', null, 'Your name here'), input), h('button', { type: 'submit' }, 'Keep'), said);
}
