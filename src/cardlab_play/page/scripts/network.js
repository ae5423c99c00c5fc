/** Page of what the network sees: the observation of the advising policy at the player's decision, by block. */

import { getAdvice, getTable } from './api.js';
import { fill, h } from './dom.js';
import { observationView } from './observation.js';

/**
 * @param {HTMLElement} main
 * @param {import('./types.js').PageContext} context
 */
export async function showNetwork(main, context) {
  const { id, signal } = context;
  const table = await getTable(id, signal);
  context.setTitle(`${table.title}: what the network sees`);
  fill(main, h('p.muted', { role: 'status' }, 'The network looks at the table …'));
  const content = await observation(table, signal);
  if (signal.aborted) return;
  fill(
    main,
    h('article.box.network', null, h('h1', null, 'What the network sees'), content, h('a.button', { href: `#/table/${id}` }, 'Back to the game')),
  );
}

/**
 * @param {import('./types.js').Table} table
 * @param {AbortSignal} signal
 */
async function observation({ id, game, deal, status }, signal) {
  if (deal.counts || status === 'over') {
    return h('p', null, 'In a practice game this page shows the input of the network at each of your moves. In a game that counts, and after the end, it shows nothing.');
  }
  const advice = await getAdvice(id, {}, signal);
  const view = observationView(advice.observation);
  if (!view) return h('p', null, `${advice.agent.title} is not a network: it follows rules.`);
  return [
    h('p', null, `The input of ${advice.agent.title} at your move, from your seat. One square is one number: grey is 0, green is above 0 and red is below 0; the darker, the farther from 0 in its block. It sees what you know, and no hidden card.${cardOrder(game, advice.observation)}`),
    view,
  ];
}

/**
 * The order of the cards, where blocks have a square for each card.
 * @param {string} game
 * @param {import('./observation.js').Block[]} blocks
 */
function cardOrder(game, blocks) {
  if (!blocks.some(({ shape }) => shape.at(-1) === 52)) return '';
  return ` The 52 squares of a row are the cards from ${game === 'big2' ? '3♦ 3♣ 3♥ 3♠ to 2♠' : '2♣ 2♦ 2♥ 2♠ to A♠'}.`;
}
