/** View of Thirty-One: hands, stock and discard pile. */

import { h, screenReaderText } from '../dom.js';
import { cardName, cardSymbol, drawCard } from '../cards.js';
import { showProbability, cardButton, playerName, otherPlayers, slot, tag } from './pieces.js';

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
        piles(scene, host),
        myHand(scene, host),
        !scene.showdown && buttons(scene, host),
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
  const { lives, out, hand, score } = view.players[player];
  const moves = view.turn === player && !showdown;
  return h(
    moves ? 'div.seat.moves' : 'div.seat',
    { 'data-seat': player, role: 'group', 'aria-label': playerName(scene, player) },
    h('div.name', null, playerName(scene, player)),
    out && !(showdown && hand) ? h('div.gone', null, 'out') : h('div.held', null, (scene.hands?.[player] ?? hand ?? []).map((/** @type {any} */ card) => slot(card))),
    h('div.row', null, livesLeft(lives), playerStatus(scene, player, score)),
  );
}

/**
 * @param {Scene} scene
 * @param {number} player
 * @param {number | null} score
 */
function playerStatus({ view, showdown }, player, score) {
  const called = (showdown ? showdown.caller : view.caller) === player && tag('called');
  const scored = score !== null && score !== undefined && tag(`${score}`);
  return [scored, called, lives(showdown?.lost[player] ?? 0)];
}

/** @param {number} lost */
function lives(lost) {
  if (lost === 0) return null;
  const words = lost === 1 ? 'loses a life' : `loses ${lost} lives`;
  return h('span.tag.bad', { title: words }, screenReaderText(words), h('span', { 'aria-hidden': 'true' }, `−${lost} ♥`));
}

/** @param {number} lives */
function livesLeft(lives) {
  return h('span.lives', null, screenReaderText(lives === 1 ? '1 life' : `${lives} lives`), h('span', { 'aria-hidden': 'true' }, '♥'.repeat(lives) || 'no life'));
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
  return cardButton(null, { label: 'Draw from the stock', key: 'stock', share: scene.probabilities?.get(move.action), onclick: () => host.choose(move.action) });
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
    share: scene.probabilities?.get(move.action),
    onclick: () => host.choose(move.action),
  });
}

/**
 * @param {Scene} scene
 * @param {GameHost} host
 */
function myHand(scene, host) {
  const { view, seat, showdown } = scene;
  const { lives, out, hand, score } = view.players[seat];
  const places = (hand ?? []).map((/** @type {string} */ card, /** @type {number} */ position) => {
    const move = scene.legal.find((legal) => legal.kind === 'swap' && legal.position === position);
    if (!move) return slot(card);
    return cardButton(card, {
      label: `Swap the ${cardName(card)} for the ${cardName(view.drawn)}`,
      key: `position ${position}`,
      share: scene.probabilities?.get(move.action),
      onclick: () => host.choose(move.action),
    });
  });
  return h(
    'section.mine',
    { 'aria-label': 'Your hand', 'data-seat': seat },
    h('div.held', null, out && !(showdown && hand) ? h('p', null, view.turn === null ? 'You are out.' : 'You are out. The other players continue.') : places),
    h('div.row', null, livesLeft(lives), playerStatus(scene, seat, null), score !== null && h('span.tag', null, screenReaderText('your hand scores '), score)),
  );
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
        showProbability(button, scene.probabilities?.get(move.action));
        return button;
      }),
  );
}
