/** Who may hold the cards that the person cannot see: a table of suits by ranks, a stacked bar for each card. */

import { cardName } from './cards.js';
import { h, spoken } from './dom.js';
import { percent } from './figures.js';
import { distinctSeats } from './games/pieces.js';

/** @typedef {import('./types.js').Advice} Advice */
/** @typedef {import('./types.js').Table} Table */

const RANKS = [...'23456789TJQKA'];
const SUITS = /** @type {const} */ ([['s', '♠'], ['h', '♥'], ['d', '♦'], ['c', '♣']]);

/**
 * @param {Advice} advice
 * @param {Table} table
 */
export function beliefOf({ belief }, table) {
  if (belief.cards.length === 0) return null;
  const holders = holdersOf(belief.cards, table);
  const chances = new Map(belief.cards.map(({ card, chances, elsewhere }) => [card, [...chances, elsewhere]]));
  const source = belief.from === 'network' ? 'A network read them from the play.' : 'Every deal that fits what you have seen is taken to be as likely.';
  return h(
    'details.belief-of',
    null,
    h('summary', null, 'Where the hidden cards may be'),
    h('ul.legend', null, holders.map(({ index, title }) => h('li', null, h(`span.key.holder-${index % 9}`, { 'aria-hidden': 'true' }), title))),
    h(
      'table.belief',
      null,
      h('thead', null, h('tr', null, h('td'), RANKS.map((rank) => h('th', { scope: 'col' }, rank === 'T' ? '10' : rank)))),
      h('tbody', null, SUITS.map(([suit, sign]) => h('tr', null, h(`th.suit-${suit}`, { scope: 'row' }, sign), RANKS.map((rank) => cellOf(chances.get(rank + suit), rank + suit, holders))))),
    ),
    h('p.quiet', null, source),
  );
}

/**
 * The seats that may hold one of the cards; the last one stands for the deck.
 * @param {{chances: number[], elsewhere: number}[]} cards
 * @param {Table} table
 */
function holdersOf(cards, table) {
  const seats = distinctSeats(table.seats, table.seat).map(({ player, title }) => ({ index: player, title }));
  const all = [...seats, { index: table.seats.length, title: 'the deck' }];
  return all.filter(({ index }) => cards.some(({ chances, elsewhere }) => ([...chances, elsewhere][index] ?? 0) > 0));
}

/**
 * @param {number[] | undefined} chances
 * @param {string} card
 * @param {{index: number, title: string}[]} holders
 */
function cellOf(chances, card, holders) {
  if (!chances) return h('td', null, spoken('in sight'));
  const words = holders.filter(({ index }) => chances[index] > 0).map(({ index, title }) => `${title} ${percent(chances[index])}`).join(', ');
  const stack = h('span.stack', { 'aria-hidden': 'true' });
  for (const { index } of holders) {
    const part = h(`span.holder-${index % 9}`);
    part.style.blockSize = `${100 * chances[index]}%`;
    stack.append(part);
  }
  return h('td', { title: `${cardName(card)}: ${words}` }, stack, spoken(words));
}
