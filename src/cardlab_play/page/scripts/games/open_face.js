/** View of Open-face Chinese Poker: two boards of three rows. */

import { h } from '../dom.js';
import { cardName, cardSymbol, drawCard } from '../cards.js';
import { formatCount, formatPoints } from '../formatting.js';
import { markAdvised, playerName, otherPlayers, slot, tag } from './pieces.js';

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
 * The first row that has a stronger kind of hand than the row below it: "pair above high card".
 * @param {Record<string, string | null>} made
 */
function foulRisk(made) {
  const [front, middle, back] = ROWS.map((row) => made[row] ?? 'high card');
  const weaker = (/** @type {string} */ hand, /** @type {string} */ above) => KINDS.indexOf(hand) < KINDS.indexOf(above) && `${above} above ${hand}`;
  return weaker(middle, front) || weaker(back, middle);
}

/**
 * How the points come about.
 * @param {any} view
 * @param {number} seat
 * @param {string} opponent
 */
function scoreText({ winners, royalties, fouled, foul_costs, scores }, seat, opponent) {
  const total = `${formatPoints(scores[seat])} for you`;
  const [mine, theirs] = [seat, 1 - seat].map((player) => Object.values(royalties[player]).reduce((sum, points) => sum + points, 0));
  if (fouled[0] && fouled[1]) return `Both boards are fouls: ${total}`;
  if (!winners) return fouled[seat] ? `Your foul: −${foul_costs[seat] - theirs}, royalties of ${opponent}: ${formatPoints(-theirs)}. Total: ${total}` : `Foul of ${opponent}: +${foul_costs[1 - seat] - mine}, your royalties: ${formatPoints(mine)}. Total: ${total}`;
  const [won, lost] = [seat, 1 - seat].map((player) => ROWS.filter((row) => winners[row] === player).length);
  const more = scores[seat] - (won - lost) - (mine - theirs);
  const all = more === 0 ? '' : `, all three: ${formatPoints(more)} more`;
  return `Rows: ${won} won, ${lost} lost${all}. Royalties: ${formatPoints(mine)} yours, ${formatPoints(-theirs)} of ${opponent}. Total: ${total}`;
}

/** @param {Scene} scene */
function toPlace({ view, seat, seats }) {
  if (view.scores) return h('p.prompt.beside', null, scoreText(view, seat, seats[1 - seat].title));
  const words = view.turn === seat ? 'Place the first card, then the others in this order' : `${seats[1 - seat].title} places`;
  return h(
    'div.to-place.beside',
    { role: 'group', 'aria-label': 'Cards to place' },
    view.cards.map((/** @type {string} */ card) => slot(card)),
    h('span.muted', null, view.cards.length === 1 && view.turn === seat ? 'Your card' : words),
    h('p.muted.cost', null, `A row stronger than the row below it is a foul: it would cost you ${formatCount(view.foul_costs[seat], 'point')} and all your royalties, the extra points of strong rows.`),
  );
}

/**
 * @param {Scene} scene
 * @param {import('../types.js').GameHost} host
 * @param {number} player
 */
function board(scene, host, player) {
  const mine = player === scene.seat;
  const { fouled, hands } = scene.view;
  const risk = !fouled[player] && foulRisk(hands[player]);
  return h(
    mine ? 'section.board.mine' : 'section.board',
    { 'aria-label': mine ? 'Your board' : `Board of ${playerName(scene, player)}`, 'data-seat': player },
    h(
      'h2',
      null,
      `${playerName(scene, player)} `,
      fouled[player] && tag(fouled[1 - player] ? 'foul' : `foul: −${formatCount(scene.view.foul_costs[player], 'point')}`, 'bad'),
      risk && tag(`risk of a foul: ${risk}`, 'bad'),
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
  markAdvised(button, scene.advised === move.action);
  return button;
}

/**
 * @param {any} view
 * @param {number} player
 * @param {string} row
 */
function captionOf(view, player, row) {
  const royalty = view.royalties[player][row];
  const winner = view.winners?.[row];
  return h(
    'div.made',
    null,
    h(winner === player ? 'b.won' : 'b', null, view.winners ? `${row}: ${winner === null ? 'tied' : winner === player ? 'won' : 'lost'}` : row),
    h('span', null, view.hands[player][row] ?? ''),
    royalty > 0 && h('b', null, view.fouled[player] ? `royalty ${royalty} lost` : `royalty +${royalty}`),
  );
}
