/** View of Thirty-One: hands, stock and discard pile. */

import { h } from '../dom.js';
import { cardName, cardSymbol } from '../cards.js';
import { formatCount } from '../formatting.js';
import { cardButton, markAdvised, orderOfPlay, otherPlayers, playerName, slot, tag } from './pieces.js';

/** @typedef {import('../types.js').Scene} Scene */
/** @typedef {import('../types.js').GameHost} GameHost */

/**
 * @param {GameHost} host
 * @returns {import('../types.js').GameView}
 */
export function makeThirtyOne(host) {
  return {
    prompt,
    draw: (scene) =>
      h(
        'div.thirty-one',
        null,
        h('div.seats', null, otherPlayers(scene).map((player) => seatOf(scene, player))),
        otherPlayers(scene).length > 1 && orderOfPlay(),
        piles(scene, host),
        myHand(scene, host),
        !scene.showdown && buttons(scene, host),
        callText(scene),
      ),
  };
}

/** @param {Scene} scene */
function prompt({ view, legal, showdown }) {
  if (showdown) return `Round ${showdown.round}: all hands are open`;
  if (legal.length === 0) return '';
  if (view.phase === 'turn') return view.caller === null ? 'Draw, take or call' : 'Your last turn: draw or take';
  return view.taken ? 'Swap the card you took for one of yours' : 'Swap the card you drew, or discard it';
}

/**
 * @param {Scene} scene
 * @param {number} player
 */
function seatOf(scene, player) {
  const { view, showdown } = scene;
  const { out, hand, score } = view.players[player];
  const moves = view.turn === player && !showdown;
  const gone = out && !(showdown && hand);
  return h(
    moves ? 'div.seat.moves' : 'div.seat',
    { 'data-seat': player, role: 'group', 'aria-label': playerName(scene, player) },
    h('div.name', null, playerName(scene, player)),
    gone ? h('div.gone', null, 'out') : h('div.held', null, (scene.hands?.[player] ?? hand ?? []).map((/** @type {any} */ card) => slot(card))),
    !gone && status(scene, player, score),
    moves && h('span.muted', null, 'to move'),
  );
}

/**
 * Points, call and lives of a player.
 * @param {Scene} scene
 * @param {number} player
 * @param {number | null} score
 */
function status({ view, showdown }, player, score) {
  const { lives } = view.players[player];
  const lost = showdown?.lost[player] ?? 0;
  const called = (showdown ? showdown.caller : view.caller) === player;
  return h(
    'div.row',
    null,
    typeof score === 'number' && tag(formatCount(score, 'point')),
    called && tag('called'),
    h('span.muted', null, lives === 1 ? '1 life' : lives === 0 ? 'no life left' : `${lives} lives`),
    lost > 0 && tag(lost === 1 ? 'loses a life' : `loses ${lost} lives`, 'bad'),
  );
}

/**
 * @param {Scene} scene
 * @param {GameHost} host
 */
function piles(scene, host) {
  const { view } = scene;
  return h(
    'div.piles',
    null,
    h('div.pile-frame', null, stock(scene, host), h('span.muted', null, `stock ${view.stock}`)),
    view.drawn_by !== null && h('div.pile-frame', null, slot(view.drawn), h('span.muted', null, view.drawn_by === scene.seat ? 'yours' : 'drawn')),
    h('div.pile-frame', null, discard(scene, host), h('span.muted', null, `discards ${view.discards}`)),
  );
}

/**
 * @param {Scene} scene
 * @param {GameHost} host
 */
function stock(scene, host) {
  const move = scene.legal.find((legal) => legal.kind === 'draw');
  if (!move) return slot(scene.view.stock > 0 ? null : undefined);
  return cardButton(null, { label: 'Draw from the stock', key: 'stock', onclick: () => host.choose(move.action) });
}

/**
 * @param {Scene} scene
 * @param {GameHost} host
 */
function discard(scene, host) {
  const { view } = scene;
  const take = scene.legal.find((legal) => legal.kind === 'take');
  const keep = scene.legal.find((legal) => legal.kind === 'keep');
  const move = take ?? keep;
  if (!move) return slot(view.top ?? undefined);
  return cardButton(view.top ?? undefined, {
    label: take ? `Take the ${cardName(view.top)}` : `Discard the ${cardName(view.drawn)}`,
    key: 'discard',
    onclick: () => host.choose(move.action),
  });
}

/**
 * @param {Scene} scene
 * @param {GameHost} host
 */
function myHand(scene, host) {
  const { view, seat, showdown } = scene;
  const { out, hand, score } = view.players[seat];
  const gone = out && !(showdown && hand);
  const places = (hand ?? []).map((/** @type {string} */ card, /** @type {number} */ position) => {
    const move = scene.legal.find((legal) => legal.kind === 'swap' && legal.position === position);
    if (!move) return slot(card);
    return cardButton(card, {
      label: `Swap the ${cardName(card)} for the ${cardName(view.drawn)}`,
      key: `position ${position}`,
      advised: scene.advised === move.action,
      onclick: () => host.choose(move.action),
    });
  });
  return h(
    'section.mine',
    { 'aria-label': 'Your hand', 'data-seat': seat },
    h('div.held', null, gone ? h('p', null, view.turn === null ? 'You are out.' : 'You are out. The other players continue.') : places),
    !gone && status(scene, seat, score),
  );
}

/**
 * What a call does.
 * @param {Scene} scene
 */
function callText({ view, legal }) {
  if (!legal.some((move) => move.kind === 'call')) return null;
  const ends = view.turns === 0 ? 'Call on the first turn: the round ends at once' : 'Call: all others have one more turn';
  return h('p.muted.cost', null, `${ends}. Then the lowest hand loses a life; two, if it is yours.`);
}

/**
 * @param {Scene} scene
 * @param {GameHost} host
 */
function buttons(scene, host) {
  const words = { draw: () => 'Draw', take: () => `Take ${cardSymbol(scene.view.top)}`, call: () => 'Call', keep: () => `Discard ${cardSymbol(scene.view.drawn)}` };
  return h(
    'div.actions',
    null,
    scene.legal
      .filter((move) => move.kind in words)
      .map((move) => {
        const button = h('button', { type: 'button', 'data-key': move.kind, onclick: () => host.choose(move.action) }, words[move.kind]());
        markAdvised(button, scene.advised === move.action);
        return button;
      }),
  );
}
