/** View of Five-O: five columns for each player. */

import { h } from '../dom.js';
import { cardName, cardSymbol, drawCard } from '../cards.js';
import { formatCount } from '../formatting.js';
import { markAdvised, cardToPlace, playerName, otherPlayers, tag } from './pieces.js';

/** @typedef {import('../types.js').Scene} Scene */

const SIZE = 5;

/**
 * @param {import('../types.js').GameHost} host
 * @returns {import('../types.js').GameView}
 */
export function makeFiveO(host) {
  return {
    prompt: ({ view, legal }) => (legal.length > 0 ? `Place the ${cardSymbol(view.card)} on a column` : ''),
    draw: (scene) => {
      const [opponent] = otherPlayers(scene);
      return h('div.five-o', null, side(scene, host, opponent), turnedUp(scene), side(scene, host, scene.seat));
    },
  };
}

/** @param {Scene} scene */
function turnedUp({ view, seat, seats }) {
  const mine = view.turn === seat;
  if (view.won) return h('p.prompt.beside', null, `${formatCount(view.won[seat], 'column')} for you, ${view.won[1 - seat]} for ${seats[1 - seat].title}`);
  const words = mine ? 'Your card' : `${seats[1 - seat].title} places`;
  const hidden = view.round === view.hidden_round && h('span.muted', null, 'face down for the opponent');
  return cardToPlace(view.card, h('strong', null, words), h('span.muted', null, `card ${view.round} of ${SIZE} in each column`), hidden);
}

/**
 * @param {Scene} scene
 * @param {import('../types.js').GameHost} host
 * @param {number} player
 */
function side(scene, host, player) {
  const mine = player === scene.seat;
  return h(
    'section.columns',
    { 'aria-label': mine ? 'Your columns' : `Columns of ${playerName(scene, player)}`, 'data-seat': player },
    h('h2', null, mine ? 'You' : playerName(scene, player)),
    Array.from({ length: SIZE }, (_, column) => h('span.muted.number-head', { 'aria-hidden': 'true' }, column + 1)),
    scene.view.columns[player].map((/** @type {any} */ _, /** @type {number} */ column) => columnOf(scene, host, player, column)),
  );
}

/**
 * @param {Scene} scene
 * @param {import('../types.js').GameHost} host
 * @param {number} player
 * @param {number} column
 */
function columnOf(scene, host, player, column) {
  const cards = scene.view.columns[player][column];
  const move = player === scene.seat ? scene.legal.find((legal) => legal.column === column) : undefined;
  const pile = h('div.pile', null, cards.map((/** @type {string | null} */ card) => drawCard(card, { decorative: Boolean(move) })));
  const made = cards.length > 1 && scene.view.hands[player][column]; // one card is no hand
  const caption = h('div.made', null, verdict(scene.view, player, column), h('span', null, made || ''));
  if (!move) return h('div.column', null, pile, caption);
  pile.append(h('div.slot'));
  const held = cards.map(cardName).join(', ');
  const button = h(
    'button.column',
    {
      type: 'button',
      'data-key': `column ${column}`,
      'aria-label': `Place the ${cardName(scene.view.card)} on column ${column + 1}: ${held}`,
      onclick: () => host.choose(move.action),
    },
    pile,
    caption,
  );
  markAdvised(button, scene.advised === move.action);
  return button;
}

/**
 * @param {any} view
 * @param {number} player
 * @param {number} column
 */
function verdict(view, player, column) {
  if (!view.winners) return null;
  const winner = view.winners[column];
  if (winner === null) return tag('tied');
  return winner === player ? tag('won', 'good') : tag('lost');
}
