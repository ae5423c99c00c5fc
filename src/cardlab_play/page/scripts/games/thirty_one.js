/** Thirty-One: hands of three around a stock and a discard pile; the lowest loses a life. */

import { h, spoken } from '../dom.js';
import { cardName, cardSign, drawCard } from '../cards.js';
import { advise, choice, nameOf, others, slot, tag } from './pieces.js';

/** @typedef {import('../types.js').Scene} Scene */
/** @typedef {import('../types.js').Host} Host */

/**
 * @param {Host} host
 * @returns {import('../types.js').GameView}
 */
export function makeThirtyOne(host) {
  return {
    prompt,
    draw: (scene) =>
      h(
        'div.thirty-one',
        null,
        h('div.seats', null, others(scene).map((player) => seatOf(scene, player))),
        piles(scene, host),
        myHand(scene, host),
        !scene.showdown && buttons(scene, host),
      ),
  };
}

/** @param {Scene} scene */
function prompt({ view, legal, showdown }) {
  if (showdown) return `Round ${showdown.round}: all show their hands`;
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
    { 'data-seat': player, role: 'group', 'aria-label': nameOf(scene, player) },
    h('div.name', null, nameOf(scene, player)),
    out && !(showdown && hand) ? h('div.gone', null, 'out') : h('div.held', null, (scene.hands?.[player] ?? hand ?? []).map((/** @type {any} */ card) => slot(card))),
    h('div.row', null, hearts(lives), standing(scene, player, score)),
  );
}

/**
 * @param {Scene} scene
 * @param {number} player
 * @param {number | null} score
 */
function standing({ view, showdown }, player, score) {
  const called = (showdown ? showdown.caller : view.caller) === player && tag('called');
  const scored = score !== null && score !== undefined && tag(`${score}`);
  return [scored, called, lives(showdown?.lost[player] ?? 0)];
}

/** @param {number} lost */
function lives(lost) {
  if (lost === 0) return null;
  const words = lost === 1 ? 'loses a life' : `loses ${lost} lives`;
  return h('span.tag.bad', { title: words }, spoken(words), h('span', { 'aria-hidden': 'true' }, `−${lost} ♥`));
}

/** @param {number} lives */
function hearts(lives) {
  return h('span.lives', null, spoken(lives === 1 ? '1 life' : `${lives} lives`), h('span', { 'aria-hidden': 'true' }, '♥'.repeat(lives) || 'no life'));
}

/**
 * @param {Scene} scene
 * @param {Host} host
 */
function piles(scene, host) {
  const { view } = scene;
  return h(
    'div.piles',
    null,
    h('div.pile-of', null, stock(scene, host), h('span.quiet', null, `stock ${view.stock}`)),
    view.drawn_by !== null && h('div.pile-of', null, slot(view.drawn), h('span.quiet', null, view.drawn_by === scene.seat ? 'yours' : 'in the air')),
    h('div.pile-of', null, discard(scene, host), h('span.quiet', null, `discards ${view.discards}`)),
  );
}

/**
 * @param {Scene} scene
 * @param {Host} host
 */
function stock(scene, host) {
  const move = scene.legal.find((legal) => legal.kind === 'draw');
  if (!move) return slot(scene.view.stock > 0 ? null : undefined);
  return choice(null, { label: 'Draw from the stock', key: 'stock', share: scene.shares?.get(move.action), onclick: () => host.choose(move.action) });
}

/**
 * @param {Scene} scene
 * @param {Host} host
 */
function discard(scene, host) {
  const { view } = scene;
  const take = scene.legal.find((legal) => legal.kind === 'take');
  const keep = scene.legal.find((legal) => legal.kind === 'keep');
  const move = take ?? keep;
  if (!move) return slot(view.top ?? undefined);
  return choice(view.top ?? undefined, {
    label: take ? `Take the ${cardName(view.top)}` : `Discard the ${cardName(view.drawn)}`,
    key: 'discard',
    share: scene.shares?.get(move.action),
    onclick: () => host.choose(move.action),
  });
}

/**
 * @param {Scene} scene
 * @param {Host} host
 */
function myHand(scene, host) {
  const { view, seat, showdown } = scene;
  const { lives, out, hand, score } = view.players[seat];
  const places = (hand ?? []).map((/** @type {string} */ card, /** @type {number} */ position) => {
    const move = scene.legal.find((legal) => legal.kind === 'swap' && legal.position === position);
    if (!move) return slot(card);
    return choice(card, {
      label: `Swap the ${cardName(card)} for the ${cardName(view.drawn)}`,
      key: `position ${position}`,
      share: scene.shares?.get(move.action),
      onclick: () => host.choose(move.action),
    });
  });
  return h(
    'section.mine',
    { 'aria-label': 'Your hand', 'data-seat': seat },
    h('div.held', null, out && !(showdown && hand) ? h('p', null, 'You are out; the others play on.') : places),
    h('div.row', null, hearts(lives), standing(scene, seat, null), score !== null && h('span.tag', null, spoken('your hand scores '), score)),
  );
}

/**
 * @param {Scene} scene
 * @param {Host} host
 */
function buttons(scene, host) {
  const words = { draw: () => 'Draw', take: () => `Take ${cardSign(scene.view.top)}`, call: () => 'Call', keep: () => `Discard ${cardSign(scene.view.drawn)}` };
  return h(
    'div.actions',
    null,
    scene.legal
      .filter((move) => move.kind in words)
      .map((move) => {
        const button = h('button', { type: 'button', 'data-key': move.kind, onclick: () => host.choose(move.action) }, words[move.kind]());
        advise(button, scene.shares?.get(move.action));
        return button;
      }),
  );
}
