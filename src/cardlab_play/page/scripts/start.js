/** Start page: games with their options and opponents, open games, daily deals, leaderboard. */

import { getGames, getDaily, getSession, getTables, openTable } from './api.js';
import { enableArrowKeys, updateTabStop } from './arrow_keys.js';
import { drawCard } from './cards.js';
import { fill, h } from './dom.js';
import { tileOf } from './games/catalogue.js';
import { makeLeaderboard } from './leaderboard.js';
import { TableForm } from './table_form.js';

/** @typedef {import('./types.js').GameChoice} GameChoice */

const LAST_GAME = 'cardlab.game';

/**
 * @param {HTMLElement} main
 * @param {import('./types.js').PageContext} context
 */
export async function showStart(main, context) {
  const { signal } = context;
  const session = await getSession(signal); // first, so that the other requests have its cookie
  const [gameList, open, daily] = await Promise.all([getGames(signal), getTables(signal), getDaily(signal).catch(() => ({ deals: [] }))]);
  if (signal.aborted) return;
  context.setTitle('');
  /** @type {GameChoice[]} */
  const games = gameList.games;
  const form = h('div');
  const leaderboard = h('div');
  const selectGame = (/** @type {GameChoice} */ game) => {
    saveLast(game.game);
    new TableForm(game, daily.deals.find((/** @type {any} */ deal) => deal.game === game.game) ?? null).show(form);
    fill(leaderboard, makeLeaderboard(game, session, signal));
  };
  const first = games.find(({ game }) => game === loadLast()) ?? games[0];
  fill(
    main,
    h('h1.visually-hidden', null, 'Play against the agents'),
    context.notice && h('p.notice', { role: 'status' }, context.notice),
    openGames(open.tables),
    gameTiles(games, first, selectGame),
    h('div.start', null, form, dailyDeals(daily), leaderboard),
    h('p.record-link', null, h('a.button', { href: '#/record' }, 'Your record against each agent')),
  );
  selectGame(first);
}

/**
 * @param {GameChoice[]} games
 * @param {GameChoice} first
 * @param {(game: GameChoice) => void} selectGame
 */
function gameTiles(games, first, selectGame) {
  const group = h('div.tiles', { role: 'group', 'aria-label': 'Game' });
  const markPressed = (/** @type {GameChoice} */ chosen) => {
    for (const tile of group.children) tile.setAttribute('aria-pressed', String(/** @type {HTMLElement} */ (tile).dataset.game === chosen.game));
    updateTabStop(group);
  };
  for (const game of games) {
    const { cards, summary } = tileOf(game.game);
    group.append(
      h(
        'button.tile',
        { type: 'button', 'data-game': game.game, 'aria-pressed': String(game === first), onclick: () => { markPressed(game); selectGame(game); } },
        h('span.fanned', null, cards.map((/** @type {string} */ card) => drawCard(card, { decorative: true }))),
        h('span.title', null, game.title),
        h('span.muted', null, summary),
      ),
    );
  }
  enableArrowKeys(group);
  updateTabStop(group);
  return group;
}

/** @param {any[]} tables */
function openGames(tables) {
  if (tables.length === 0) return null;
  return h(
    'section.box.open-games',
    { 'aria-label': 'Open games' },
    h('h2', null, 'Continue'),
    h(
      'div.row',
      null,
      tables.map((table) => {
        const opponents = table.seats.filter((/** @type {any} */ seat) => seat.agent).map((/** @type {any} */ seat) => seat.title);
        const against = opponents.length > 0 ? `against ${[...new Set(opponents)].join(', ')}, ` : '';
        return h('a.button', { href: `#/table/${table.id}` }, h('b', null, table.title), h('span.muted', null, ` ${against}move ${table.number}`));
      }),
    ),
  );
}

/** @param {{date: string, deals: any[]}} daily */
function dailyDeals(daily) {
  return h(
    'section.box',
    { 'aria-label': 'Daily deals' },
    h('h2', null, "Today's deals"),
    h('p.muted', null, 'All players get the same cards. Your first game counts.'),
    h('ul.daily', null, daily.deals.map(dailyDealRow)),
  );
}

/** @param {{game: string, title: string, table: string | null, finished: boolean}} deal */
function dailyDealRow({ game, title, table, finished }) {
  const errorLine = h('span.muted', { role: 'alert' });
  const play = async () => {
    errorLine.textContent = 'Dealing the cards …';
    try {
      location.hash = `#/table/${(await openTable({ game, deal: 'daily' })).id}`;
    } catch (/** @type {any} */ error) {
      errorLine.textContent = error.message;
    }
  };
  const action = table
    ? h('a.button', { href: `#/table/${table}` }, finished ? 'Result' : 'Continue')
    : h('button', { type: 'button', 'aria-label': `Play today's deal of ${title}`, onclick: play }, 'Play');
  return h('li', null, h('span', null, title), errorLine, action);
}

function loadLast() {
  try {
    return localStorage.getItem(LAST_GAME);
  } catch {
    return null;
  }
}

/** @param {string} game */
function saveLast(game) {
  try {
    localStorage.setItem(LAST_GAME, game);
  } catch {
    // storage is disabled
  }
}
