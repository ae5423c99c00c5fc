/** The result of a finished game: payoff, par, results of other players on the deal, and links. */

import { getDeal, getTable, openTable } from './api.js';
import { fill, h } from './dom.js';
import { countsWins, formatOutcome, formatPoints } from './formatting.js';
import { distinctSeats } from './games/pieces.js';

/** @typedef {import('./types.js').Table} Table */

const PAR_POLL_MS = 4000;
const MAX_PAR_POLLS = 60;

/**
 * @param {HTMLElement} container
 * @param {Table} table
 * @param {AbortSignal} signal
 */
export function showResult(container, table, signal) {
  const result = table.result;
  if (!result) return;
  const results = h('div.deal-results');
  const par = h('p', { role: 'status' });
  const errorLine = h('p.error', { role: 'alert', hidden: true });
  fill(
    container,
    h(
      'section.outcome',
      { 'aria-label': 'Result' },
      h('h2', null, result.text),
      standings(table),
      result.par && par,
      result.resigned && h('p.muted', null, 'Resigned: the rest was played at random.'),
      results,
      errorLine,
      h(
        'div.row',
        null,
        h('button.primary', { type: 'button', onclick: () => playAgain(table, errorLine) }, 'Play again'),
        h('a.button', { href: `#/replay/${table.id}` }, 'Replay'),
        h('button', { type: 'button', onclick: (/** @type {Event} */ event) => share(table, event) }, 'Share this deal'),
        h('a.button', { href: '#/' }, 'Another game'),
      ),
    ),
  );
  showDealResults(results, table, signal);
  showPar(par, table, signal);
}

/**
 * Who won; at games for points the points of all players.
 * @param {Table} table
 */
function standings({ game, seats, seat, result }) {
  const payoffs = result?.payoffs ?? [];
  const best = Math.max(...payoffs);
  const players = distinctSeats(seats, seat).map(({ player, title }) => ({ title, payoff: payoffs[player] }));
  if (players.length < 2) return null;
  if (countsWins(game)) {
    const winners = players.filter(({ payoff }) => payoff === best).map(({ title }) => title);
    return winners.join() !== 'You' && best > 0 && h('p', null, winners.length === 1 ? `Winner: ${winners[0]}` : `Shared by ${winners.join(' and ')}`);
  }
  const points = players.sort((a, b) => b.payoff - a.payoff).map(({ title, payoff }) => `${title} ${formatPoints(payoff)}`.replaceAll(' ', '\u00a0'));
  return h('p', null, points.join('\u00a0· '));
}

/**
 * Show the par result, and poll until it is computed.
 * @param {HTMLElement} container
 * @param {Table} table
 * @param {AbortSignal} signal
 */
async function showPar(container, table, signal) {
  let par = table.result?.par;
  for (let poll = 0; par && par.payoff === null && poll < MAX_PAR_POLLS; poll += 1) {
    container.textContent = `${par.title} is still playing this deal …`;
    await new Promise((done) => { setTimeout(done, PAR_POLL_MS); });
    if (signal.aborted) return;
    par = (await getTable(table.id, signal).catch(() => table)).result?.par;
  }
  if (!par || par.payoff === null) container.remove();
  else container.textContent = parText(table, par.title, par.payoff);
}

/**
 * @param {Table} table
 * @param {string} agent
 * @param {number} payoff of the agent in the player's seat
 */
export function parText({ game, seats, result }, agent, payoff) {
  if (seats.length > 1) return `${agent} with your cards in your seat: ${formatOutcome(game, payoff)}`;
  const more = (result?.payoff ?? 0) - payoff;
  const compared = more === 0 ? 'as many as you' : `${Math.abs(more)} ${more > 0 ? 'fewer' : 'more'} than you`;
  return `${agent} with the same cards: ${formatOutcome(game, payoff)}, ${compared}`;
}

/**
 * @param {Table} table
 * @param {HTMLElement} errorLine
 */
async function playAgain(table, errorLine) {
  const { game, options, seat } = table;
  const shown = table.result?.par;
  const par = shown && { agent: shown.agent, search: shown.search };
  const opponents = table.seats.filter(({ player }) => player !== seat).map(({ agent, search }) => ({ agent, search }));
  try {
    const next = await openTable({ game, options, seat, opponents, par, practice: table.deal.kind === 'fresh' && !table.deal.counts });
    location.hash = `#/table/${next.id}`;
  } catch (/** @type {any} */ error) {
    errorLine.textContent = error.message;
    errorLine.hidden = false;
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
 * @param {HTMLElement} container
 * @param {Table} table
 * @param {AbortSignal} signal
 */
async function showDealResults(container, table, signal) {
  const deal = await getDeal(table.deal.id, signal).catch(() => null);
  if (deal) fill(container, dealResults(deal));
}

/** @param {{game: string, results: {name: string, payoff: number, you: boolean}[] | null}} deal */
export function dealResults(deal) {
  if (!deal.results || deal.results.length < 2) return null;
  return h(
    'table',
    null,
    h('caption.muted', null, 'Results of this deal'),
    h(
      'tbody',
      null,
      deal.results.map(({ name, payoff, you }) =>
        h('tr', null, h('td', null, you && name ? `${name} (you)` : name || (you ? 'You' : 'anonymous')), h('td.number', null, formatOutcome(deal.game, payoff))),
      ),
    ),
  );
}
