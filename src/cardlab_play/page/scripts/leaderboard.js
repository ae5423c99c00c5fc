/** Leaderboard of a game by agent and by player, with the form for the player's name. */

import { getLeaderboard, putName } from './api.js';
import { fill, h } from './dom.js';
import { MIN_GAMES, formatEstimate, formatPercent, formatPoints } from './formatting.js';

/** @typedef {{title?: string, name?: string, games: number, mean: number, low: number | null, high: number | null, you?: boolean}} Row */

/**
 * @param {import('./types.js').GameChoice} game
 * @param {{name: string}} session
 * @param {AbortSignal} signal
 */
export function makeLeaderboard(game, session, signal) {
  const body = h('div.leaderboard', null, h('p.muted', null, 'Loading …'));
  const refresh = async () => {
    try {
      fill(body, ...leaderboardTables(await getLeaderboard(game.game, signal)));
    } catch (/** @type {any} */ error) {
      if (!signal.aborted) fill(body, h('p.error', { role: 'alert' }, error.message));
    }
  };
  refresh();
  return h('section.box', { 'aria-label': `Leaderboard of ${game.title}` }, h('h2', null, `Leaderboard: ${game.title}`), body, nameForm(session, refresh));
}

/** @param {{unit: string, share: boolean, agents: Row[], players: Row[]}} board */
function leaderboardTables({ unit, share, agents, players }) {
  if (agents.length === 0 && players.length === 0) return [h('p.muted', null, 'No finished games yet.')];
  return [
    h('p.muted', null, `Mean ${unit}, with the 95 % interval from ${MIN_GAMES} games on`),
    h('div.leaderboard-tables', null, leaderboardTable('Players against', agents, share), players.length > 0 && leaderboardTable('Player', players, share)),
  ];
}

/**
 * @param {string} heading
 * @param {Row[]} rows
 * @param {boolean} share whether results are shares of games won
 */
function leaderboardTable(heading, rows, share) {
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
          h('td', null, title ?? (name || 'anonymous'), you && ' (you)'),
          h('td.number', null, games),
          h('td.number.unbroken', null, meanOf(games, mean, low, high, share)),
        ),
      ),
    ),
  );
}

/**
 * @param {number} games
 * @param {number} mean
 * @param {number | null} low
 * @param {number | null} high
 * @param {boolean} share
 */
function meanOf(games, mean, low, high, share) {
  const known = low !== null && high !== null && games >= MIN_GAMES;
  if (!share) return h('b', null, known ? formatEstimate('', mean, (high - low) / 2) : formatPoints(mean));
  return [h('b', null, formatPercent(mean)), known && ` (${formatPercent(low)} to ${formatPercent(high)})`];
}

/**
 * @param {{name: string}} session
 * @param {() => void} refresh
 */
function nameForm(session, refresh) {
  const input = /** @type {HTMLInputElement} */ (h('input', { type: 'text', value: session.name, autocomplete: 'nickname', 'aria-label': 'Your name' }));
  const status = h('span.muted', { role: 'status' });
  const save = async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      session.name = (await putName(input.value)).name;
      input.value = session.name;
      status.textContent = 'Saved.';
      refresh();
    } catch (/** @type {any} */ error) {
      status.textContent = error.message;
    }
  };
  return h('form.name', { onsubmit: save }, h('label.field', null, h('span', null, 'Your name'), input), h('button', { type: 'submit' }, 'Save'), status);
}
