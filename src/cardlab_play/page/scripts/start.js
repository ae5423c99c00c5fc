/** Where people begin: a game, its options and who else sits there; games to go on with; today's deals; who is best. */

import { getChoices, getDaily, getSession, getTables, openTable } from './api.js';
import { enableArrows, keepStop } from './arrows.js';
import { drawCard } from './cards.js';
import { fill, h } from './dom.js';
import { GAMES, TILES } from './games/catalogue.js';
import { makeLeaderboard } from './leaderboard.js';
import { SettingUp } from './setting_up.js';

/** @typedef {import('./types.js').GameChoice} GameChoice */

const LAST_GAME = 'cardlab.game';

/**
 * @param {HTMLElement} main
 * @param {import('./types.js').Visit} visit
 */
export async function showStart(main, visit) {
  const { signal } = visit;
  const session = await getSession(signal); // first, so that the other requests come with its cookie
  const [choices, open, daily] = await Promise.all([getChoices(signal), getTables(signal), getDaily(signal).catch(() => ({ deals: [] }))]);
  if (signal.aborted) return;
  visit.entitle('');
  const games = choices.games.filter((/** @type {GameChoice} */ { game }) => game in GAMES);
  const setting = h('div');
  const standing = h('div');
  const choose = (/** @type {GameChoice} */ game) => {
    remember(game.game);
    new SettingUp(game, daily.deals.find((/** @type {any} */ deal) => deal.game === game.game) ?? null).show(setting);
    fill(standing, makeLeaderboard(game, session, signal));
  };
  const first = games.find((/** @type {GameChoice} */ { game }) => game === remembered()) ?? games[0];
  fill(
    main,
    h('h1.spoken', null, 'Play against the agents'),
    visit.notice && h('p.notice', { role: 'status' }, visit.notice),
    goOn(open.tables),
    tiles(games, first, choose),
    h('div.start', null, setting, today(daily), standing),
  );
  choose(first);
}

/**
 * @param {GameChoice[]} games
 * @param {GameChoice} first
 * @param {(game: GameChoice) => void} choose
 */
function tiles(games, first, choose) {
  const group = h('div.tiles', { role: 'group', 'aria-label': 'Game' });
  const press = (/** @type {GameChoice} */ chosen) => {
    for (const tile of group.children) tile.setAttribute('aria-pressed', String(/** @type {HTMLElement} */ (tile).dataset.game === chosen.game));
    keepStop(group);
  };
  for (const game of games) {
    const { cards, idea } = TILES[game.game];
    group.append(
      h(
        'button.tile',
        { type: 'button', 'data-game': game.game, 'aria-pressed': String(game === first), onclick: () => { press(game); choose(game); } },
        h('span.fanned', null, cards.map((/** @type {string} */ card) => drawCard(card, { decorative: true }))),
        h('span.title', null, game.title),
        h('span.quiet', null, idea),
      ),
    );
  }
  enableArrows(group);
  keepStop(group);
  return group;
}

/** @param {any[]} tables */
function goOn(tables) {
  if (tables.length === 0) return null;
  return h(
    'section.box.go-on',
    { 'aria-label': 'Open games' },
    h('h2', null, 'Go on with'),
    h(
      'div.row',
      null,
      tables.map((table) => {
        const rivals = table.seats.filter((/** @type {any} */ seat) => seat.agent).map((/** @type {any} */ seat) => seat.title);
        const against = rivals.length > 0 ? `against ${[...new Set(rivals)].join(', ')}, ` : '';
        return h('a.button', { href: `#/table/${table.id}` }, h('b', null, table.title), h('span.quiet', null, ` ${against}move ${table.number}`));
      }),
    ),
  );
}

/** @param {{date: string, deals: any[]}} daily */
function today(daily) {
  return h(
    'section.box',
    { 'aria-label': 'Daily deals' },
    h('h2', null, "Today's deals"),
    h('p.quiet', null, 'The same cards for everybody; the first try counts.'),
    h('ul.daily', null, daily.deals.map(dailyRow)),
  );
}

/** @param {{game: string, title: string, table: string | null, finished: boolean}} deal */
function dailyRow({ game, title, table, finished }) {
  const trouble = h('span.quiet', { role: 'alert' });
  const begin = async () => {
    try {
      location.hash = `#/table/${(await openTable({ game, deal: 'daily' })).id}`;
    } catch (/** @type {any} */ error) {
      trouble.textContent = error.message;
    }
  };
  const action = table
    ? h('a.button', { href: `#/table/${table}` }, finished ? 'See the result' : 'Go on')
    : h('button', { type: 'button', 'aria-label': `Play today's deal of ${title}`, onclick: begin }, 'Play');
  return h('li', null, h('span', null, title), trouble, action);
}

function remembered() {
  try {
    return localStorage.getItem(LAST_GAME);
  } catch {
    return null;
  }
}

/** @param {string} game */
function remember(game) {
  try {
    localStorage.setItem(LAST_GAME, game);
  } catch {
    // a browser that keeps nothing
  }
}
