/** Where the hidden cards may be: a table of suits by ranks with a stacked bar for each card. */

import { SUIT_SYMBOLS, cardName } from './cards.js';
import { h, screenReaderText } from './dom.js';
import { formatCount, formatPercent } from './formatting.js';
import { distinctSeats } from './games/pieces.js';

/** @typedef {import('./types.js').Advice} Advice */
/** @typedef {import('./types.js').Table} Table */

/** Columns and rows: at Big 2 in its order, the highest suit above. */
const ORDERS = { big2: ['3456789TJQKA2', 'shcd'], others: ['23456789TJQKA', 'shdc'] };

/**
 * @param {Advice} advice
 * @param {Table} table
 */
export function beliefTable({ belief }, table) {
  if (belief.cards.length === 0) return null;
  const holders = holdersOf(belief.cards, table);
  const probabilities = new Map(belief.cards.map(({ card, probabilities, elsewhere }) => [card, [...probabilities, elsewhere]]));
  const uniform = belief.source === 'uniform'; // each card is with a holder as often as any other
  const share = (/** @type {number} */ index) => [...probabilities.values()].reduce((sum, shares) => sum + shares[index], 0) / probabilities.size;
  const [ranks, suits] = ORDERS[table.game] ?? ORDERS.others;
  return h(
    'details.belief-section',
    null,
    h('summary', null, 'Who may hold the hidden cards'),
    h('ul.legend', null, holders.map(({ index, title }) => h('li', null, h(`span.key.holder-${index % 9}`, { 'aria-hidden': 'true' }), uniform ? `${title} ${formatPercent(share(index))}` : title))),
    !uniform && h(
      'table.belief',
      null,
      h('thead', null, h('tr', null, h('td'), [...ranks].map((rank) => h('th', { scope: 'col' }, rank === 'T' ? '10' : rank)))),
      h('tbody', null, [...suits].map((suit) => h('tr', null, h(`th.suit-${suit}`, { scope: 'row' }, SUIT_SYMBOLS[suit]), [...ranks].map((rank) => cellOf(probabilities.get(rank + suit), rank + suit, holders))))),
    ),
    h('p.muted', null, uniform ? `You cannot see ${formatCount(probabilities.size, 'card')}. For each of them the chances are the same.` : 'How likely each player holds each card, judged by the moves so far. The more of a colour, the likelier. Empty: you can see the card.'),
  );
}

/**
 * Seats that may hold one of the cards, and the deck.
 * @param {{probabilities: number[], elsewhere: number}[]} cards
 * @param {Table} table
 */
function holdersOf(cards, table) {
  const seats = distinctSeats(table.seats, table.seat).map(({ player, title }) => ({ index: player, title }));
  const all = [...seats, { index: table.seats.length, title: 'the deck' }];
  return all.filter(({ index }) => cards.some(({ probabilities, elsewhere }) => ([...probabilities, elsewhere][index] ?? 0) > 0));
}

/**
 * @param {number[] | undefined} probabilities
 * @param {string} card
 * @param {{index: number, title: string}[]} holders
 */
function cellOf(probabilities, card, holders) {
  if (!probabilities) return h('td', null, screenReaderText('visible'));
  const text = holders.filter(({ index }) => probabilities[index] > 0).map(({ index, title }) => `${title} ${formatPercent(probabilities[index])}`).join(', ');
  const stack = h('span.stack', { 'aria-hidden': 'true' });
  for (const { index } of holders) {
    const part = h(`span.holder-${index % 9}`);
    part.style.blockSize = `${100 * probabilities[index]}%`;
    stack.append(part);
  }
  return h('td', { title: `${cardName(card)}: ${text}` }, stack, screenReaderText(text));
}
