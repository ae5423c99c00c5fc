/** Page of a shared deal: its opponents, its results, and a button to play it. */

import { getDeal, openTable } from './api.js';
import { fill, h } from './dom.js';
import { formatOutcome } from './formatting.js';
import { dealResults } from './result.js';

/**
 * @param {HTMLElement} main
 * @param {import('./types.js').PageContext} context
 */
export async function showDeal(main, context) {
  const deal = await getDeal(context.id, context.signal);
  context.setTitle(deal.title);
  const errorLine = h('p.error', { role: 'alert', hidden: true });
  const play = async () => {
    try {
      const table = await openTable({ game: deal.game, deal: deal.id });
      location.hash = `#/table/${table.id}`;
    } catch (/** @type {any} */ error) {
      errorLine.textContent = error.message;
      errorLine.hidden = false;
    }
  };
  const opponents = deal.seats.filter((/** @type {any} */ seat) => seat.player !== deal.seat).map((/** @type {any} */ seat) => seat.title);
  fill(
    main,
    h(
      'section.box.narrow',
      null,
      h('h1', null, deal.kind === 'daily' ? `${deal.title}: the deal of ${deal.date}` : `${deal.title}: a shared deal`),
      opponents.length > 0 && h('p', null, `Against ${opponents.join(', ')}`),
      deal.par && h('p', null, `${deal.par.title} on this deal: ${formatOutcome(deal.game, deal.par.payoff)}`),
      dealResults(deal),
      deal.finished && h('p.muted', null, 'You have played this deal; further games do not count.'),
      errorLine,
      h('div.row', null, h('button.primary', { type: 'button', onclick: play }, 'Play this deal'), h('a.button', { href: '#/' }, 'Back to the start page')),
    ),
  );
}
