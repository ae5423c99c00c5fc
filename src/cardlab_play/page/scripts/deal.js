/** A deal that somebody shared: what it is, who has played it, and a table to play it at. */

import { getDeal, openTable } from './api.js';
import { fill, h } from './dom.js';
import { outcomeOf } from './figures.js';
import { standingsOf } from './outcome.js';

/**
 * @param {HTMLElement} main
 * @param {import('./types.js').Visit} visit
 */
export async function showDeal(main, visit) {
  const deal = await getDeal(visit.id, visit.signal);
  visit.entitle(deal.title);
  const trouble = h('p.trouble', { role: 'alert', hidden: true });
  const play = async () => {
    try {
      const table = await openTable({ game: deal.game, deal: deal.id });
      location.hash = `#/table/${table.id}`;
    } catch (/** @type {any} */ error) {
      trouble.textContent = error.message;
      trouble.hidden = false;
    }
  };
  const rivals = deal.seats.filter((/** @type {any} */ seat) => seat.player !== deal.seat).map((/** @type {any} */ seat) => seat.title);
  fill(
    main,
    h(
      'section.box.narrow',
      null,
      h('h1', null, deal.kind === 'daily' ? `${deal.title}: the deal of ${deal.date}` : `${deal.title}: a shared deal`),
      rivals.length > 0 && h('p', null, `Against ${rivals.join(', ')}`),
      deal.par && h('p', null, `${deal.par.title} on it: ${outcomeOf(deal.game, deal.par.payoff)}`),
      standingsOf(deal),
      deal.finished && h('p.quiet', null, 'You have played it; another try is practice.'),
      trouble,
      h('div.row', null, h('button.primary', { type: 'button', onclick: play }, 'Play this deal'), h('a.button', { href: '#/' }, 'To the start')),
    ),
  );
}
