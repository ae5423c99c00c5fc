/** How a game ended: the result, par, what others did on the same deal, and what to do next. */

import { getDeal, openTable } from './api.js';
import { fill, h } from './dom.js';
import { resultsOf } from './figures.js';

/** @typedef {import('./types.js').Table} Table */

/**
 * @param {HTMLElement} place
 * @param {Table} table
 * @param {AbortSignal} signal
 */
export function showOutcome(place, table, signal) {
  const result = table.result;
  if (!result) return;
  const written = resultsOf(table.game);
  const standings = h('div.standings');
  const trouble = h('p.trouble', { role: 'alert', hidden: true });
  fill(
    place,
    h(
      'section.outcome',
      { 'aria-label': 'Result' },
      h('h2', null, result.text),
      h('p.score', null, written(result.payoff)),
      result.par && h('p', null, `${result.par.title} on the same deal: ${written(result.par.payoff)}`),
      result.given_up && h('p.quiet', null, 'Given up: the rest was played at random.'),
      standings,
      trouble,
      h(
        'div.row',
        null,
        h('button.primary', { type: 'button', onclick: () => again(table, null, trouble) }, 'Play again'),
        h('a.button', { href: `#/replay/${table.id}` }, 'Look back'),
        h('button', { type: 'button', onclick: (/** @type {Event} */ event) => share(table, event) }, 'Share this deal'),
        h('a.button', { href: '#/' }, 'Another game'),
      ),
    ),
  );
  showStandings(standings, table, signal);
}

/**
 * @param {Table} table
 * @param {string | null} deal
 * @param {HTMLElement} trouble
 */
async function again(table, deal, trouble) {
  const { game, options, seat } = table;
  const opponents = table.seats.filter(({ player }) => player !== seat).map(({ agent, search }) => ({ agent, search }));
  try {
    const next = await openTable({ game, options, seat, opponents, deal });
    location.hash = `#/table/${next.id}`;
  } catch (/** @type {any} */ error) {
    trouble.textContent = error.message;
    trouble.hidden = false;
  }
}

/**
 * @param {Table} table
 * @param {Event} event
 */
async function share(table, event) {
  const address = `${location.origin}${location.pathname}#/deal/${table.deal.id}`;
  const button = /** @type {HTMLElement} */ (event.currentTarget);
  try {
    await navigator.clipboard.writeText(address);
    button.textContent = 'Address copied';
  } catch {
    window.prompt('The address of this deal:', address);
  }
}

/**
 * @param {HTMLElement} place
 * @param {Table} table
 * @param {AbortSignal} signal
 */
async function showStandings(place, table, signal) {
  const deal = await getDeal(table.deal.id, signal).catch(() => null);
  if (deal) fill(place, standingsOf(deal));
}

/** @param {{game: string, standings: {name: string, payoff: number, you: boolean}[] | null}} deal */
export function standingsOf(deal) {
  if (!deal.standings || deal.standings.length < 2) return null;
  const written = resultsOf(deal.game);
  return h(
    'table',
    null,
    h('caption.quiet', null, 'Who has played this deal'),
    h(
      'tbody',
      null,
      deal.standings.map(({ name, payoff, you }) =>
        h('tr', null, h('td', null, you && name ? `${name} (you)` : name || (you ? 'You' : 'no name')), h('td.number', null, written(payoff))),
      ),
    ),
  );
}
