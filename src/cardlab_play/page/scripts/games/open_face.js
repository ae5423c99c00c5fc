/** Open-face: three rows each; rows in the wrong order foul. */

import { h } from '../dom.js';
import { cardName, cardSign, drawCard } from '../cards.js';
import { outcomeOf } from '../figures.js';
import { advise, nameOf, others, slot, tag } from './pieces.js';

/** @typedef {import('../types.js').Scene} Scene */

const ROWS = ['front', 'middle', 'back'];
/** Kinds of hands from the weakest; a row that stands above a stronger one threatens to foul. */
const KINDS = ['high card', 'pair', 'two pair', 'three of a kind', 'straight', 'flush', 'full house', 'four of a kind', 'straight flush', 'royal flush'];
const SIZES = { front: 3, middle: 5, back: 5 };

/**
 * @param {import('../types.js').Host} host
 * @returns {import('../types.js').GameView}
 */
export function makeOpenFace(host) {
  return {
    prompt: ({ view, legal }) => (legal.length > 0 ? `Place the ${cardSign(view.cards[0])} in a row` : ''),
    draw: (scene) => {
      const [rival] = others(scene);
      return h('div.open-face', null, board(scene, host, rival), toPlace(scene), board(scene, host, scene.seat));
    },
  };
}

/**
 * Whether a row as it stands is weaker than one above it.
 * @param {Record<string, string | null>} made
 */
function threatened(made) {
  const [front, middle, back] = ROWS.map((row) => KINDS.indexOf(made[row] ?? 'high card'));
  return middle < front || back < middle;
}

/** @param {Scene} scene */
function toPlace({ view, seat, seats }) {
  if (view.scores) return h('p.prompt', null, `${outcomeOf('open_face', view.scores[seat])} for you`);
  const words = view.turn === seat ? 'Your cards, the first is placed now' : `${seats[1 - seat].title} places`;
  return h(
    'div.to-place',
    { role: 'group', 'aria-label': 'To be placed' },
    view.cards.map((/** @type {string} */ card) => slot(card)),
    h('span.quiet', null, view.cards.length === 1 && view.turn === seat ? 'Your card' : words),
  );
}

/**
 * @param {Scene} scene
 * @param {import('../types.js').Host} host
 * @param {number} player
 */
function board(scene, host, player) {
  const mine = player === scene.seat;
  const sum = Object.values(scene.view.royalties[player]).reduce((total, royalty) => total + royalty, 0);
  return h(
    mine ? 'section.board.mine' : 'section.board',
    { 'aria-label': mine ? 'Your board' : `Board of ${nameOf(scene, player)}`, 'data-seat': player },
    h(
      'h3',
      null,
      `${nameOf(scene, player)} `,
      scene.view.fouled[player] ? tag('foul', 'bad') : sum > 0 && tag(`royalties ${sum}`, 'good'),
      !scene.view.fouled[player] && threatened(scene.view.hands[player]) && tag('a foul threatens', 'bad'),
    ),
    ROWS.map((row) => rowOf(scene, host, player, row)),
  );
}

/**
 * @param {Scene} scene
 * @param {import('../types.js').Host} host
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
  advise(button, scene.shares?.get(move.action));
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
