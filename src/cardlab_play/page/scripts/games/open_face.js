/** View of Open-face Chinese Poker: two boards of three rows. */

import { h } from '../dom.js';
import { cardName, cardSymbol, drawCard } from '../cards.js';
import { formatOutcome } from '../formatting.js';
import { showProbability, playerName, otherPlayers, slot, tag } from './pieces.js';

/** @typedef {import('../types.js').Scene} Scene */

const ROWS = ['front', 'middle', 'back'];
/** Kinds of hands, weakest first. */
const KINDS = ['high card', 'pair', 'two pair', 'three of a kind', 'straight', 'flush', 'full house', 'four of a kind', 'straight flush', 'royal flush'];
const SIZES = { front: 3, middle: 5, back: 5 };

/**
 * @param {import('../types.js').GameHost} host
 * @returns {import('../types.js').GameView}
 */
export function makeOpenFace(host) {
  return {
    prompt: ({ view, legal }) => (legal.length > 0 ? `Place the ${cardSymbol(view.cards[0])} in a row` : ''),
    draw: (scene) => {
      const [opponent] = otherPlayers(scene);
      return h('div.open-face', null, board(scene, host, opponent), toPlace(scene), board(scene, host, scene.seat));
    },
  };
}

/**
 * Whether a row is currently weaker than a row above it.
 * @param {Record<string, string | null>} made
 */
function foulThreatens(made) {
  const [front, middle, back] = ROWS.map((row) => KINDS.indexOf(made[row] ?? 'high card'));
  return middle < front || back < middle;
}

/** @param {Scene} scene */
function toPlace({ view, seat, seats }) {
  if (view.scores) return h('p.prompt', null, `${formatOutcome('open_face', view.scores[seat])} for you`);
  const words = view.turn === seat ? 'Your cards: place the first one' : `${seats[1 - seat].title} places`;
  return h(
    'div.to-place',
    { role: 'group', 'aria-label': 'Cards to place' },
    view.cards.map((/** @type {string} */ card) => slot(card)),
    h('span.muted', null, view.cards.length === 1 && view.turn === seat ? 'Your card' : words),
  );
}

/**
 * @param {Scene} scene
 * @param {import('../types.js').GameHost} host
 * @param {number} player
 */
function board(scene, host, player) {
  const mine = player === scene.seat;
  const sum = Object.values(scene.view.royalties[player]).reduce((total, royalty) => total + royalty, 0);
  return h(
    mine ? 'section.board.mine' : 'section.board',
    { 'aria-label': mine ? 'Your board' : `Board of ${playerName(scene, player)}`, 'data-seat': player },
    h(
      'h2',
      null,
      `${playerName(scene, player)} `,
      scene.view.fouled[player] ? tag(`foul: −${scene.view.foul_costs[player]}`, 'bad') : sum > 0 && tag(`royalties ${sum}`, 'good'),
      !scene.view.fouled[player] && foulThreatens(scene.view.hands[player]) && tag(`risk of a foul: −${scene.view.foul_costs[player]}`, 'bad'),
    ),
    ROWS.map((row) => rowOf(scene, host, player, row)),
  );
}

/**
 * @param {Scene} scene
 * @param {import('../types.js').GameHost} host
 * @param {number} player
 * @param {string} row
 */
function rowOf(scene, host, player, row) {
  const cards = scene.view.boards[player][row];
  const move = player === scene.seat ? scene.legal.find((legal) => legal.row === row) : undefined;
  const places = Array.from({ length: SIZES[row] }, (_, i) =>
    i < cards.length ? h('div.slot.filled', null, drawCard(cards[i], { decorative: Boolean(move) })) : slot(undefined),
  );
  const caption = captionOf(scene.view, player, row);
  if (!move) return h(`div.face-row.${row}`, null, h('div.places', null, places), caption);
  const held = cards.length > 0 ? `: ${cards.map(cardName).join(', ')}` : '';
  const button = h(
    `button.face-row.${row}`,
    {
      type: 'button',
      'data-key': `row ${row}`,
      'aria-label': `Place the ${cardName(scene.view.cards[0])} in the ${row}${held}`,
      onclick: () => host.choose(move.action),
    },
    h('div.places', null, places),
    caption,
  );
  showProbability(button, scene.probabilities?.get(move.action));
  return button;
}

/**
 * @param {any} view
 * @param {number} player
 * @param {string} row
 */
function captionOf(view, player, row) {
  const royalty = view.royalties[player][row];
  return h(
    'div.made',
    null,
    h('b', null, row),
    h('span', null, view.hands[player][row] ?? ''),
    royalty > 0 && tag(`+${royalty}`, view.fouled[player] ? 'bad' : 'good'),
  );
}
