/** How a game ended: the result, par, what others did on the same deal, and what to do next. */

import { getDeal, getTable, openTable } from './api.js';
import { fill, h } from './dom.js';
import { outcomeOf } from './figures.js';

/** @typedef {import('./types.js').Table} Table */

const AGAIN = 4000; // ms between two looks whether par has been played
const LOOKS = 60;

/**
 * @param {HTMLElement} place
 * @param {Table} table
 * @param {AbortSignal} signal
 */
export function showOutcome(place, table, signal) {
  const result = table.result;
  if (!result) return;
  const standings = h('div.standings');
  const par = h('p', { role: 'status' });
  const trouble = h('p.trouble', { role: 'alert', hidden: true });
  fill(
    place,
    h(
      'section.outcome',
      { 'aria-label': 'Result' },
      h('h2', null, result.text),
      table.game === 'thirty_one' && h('p', null, outcomeOf(table.game, result.payoff)), // elsewhere the words say it
      result.par && par,
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
  showPar(par, table, signal);
}

/**
 * What the agent did on the same deal: it may take longer than the person.
 * @param {HTMLElement} place
 * @param {Table} table
 * @param {AbortSignal} signal
 */
async function showPar(place, table, signal) {
  let par = table.result?.par;
  for (let look = 0; par && par.payoff === null && look < LOOKS; look += 1) {
    place.textContent = `${par.title} still plays the same deal …`;
    await new Promise((done) => { setTimeout(done, AGAIN); });
    if (signal.aborted) return;
    par = (await getTable(table.id, signal).catch(() => table)).result?.par;
  }
  if (!par || par.payoff === null) place.remove();
  else place.textContent = `${par.title} on the same deal: ${outcomeOf(table.game, par.payoff)}`;
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
  return h(
    'table',
    null,
    h('caption.quiet', null, 'Who has played this deal'),
    h(
      'tbody',
      null,
      deal.standings.map(({ name, payoff, you }) =>
        h('tr', null, h('td', null, you && name ? `${name} (you)` : name || (you ? 'You' : 'no name')), h('td.number', null, outcomeOf(deal.game, payoff))),
      ),
    ),
  );
}
