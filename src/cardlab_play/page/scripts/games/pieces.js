/** What the tables of several games show alike: places for cards, seats, tags. */

import { h } from '../dom.js';
import { cardName, drawCard } from '../cards.js';

/** @typedef {import('../types.js').Scene} Scene */
/** @typedef {import('../types.js').LegalMove} LegalMove */

/**
 * A card or an empty place that nothing can be done with.
 * @param {string | null | undefined} card undefined: an empty place; null: face down
 * @param {import('../dom.js').Attributes} [attributes]
 */
export function slot(card, attributes = {}) {
  if (card === undefined) return h('div.slot', { 'aria-hidden': 'true', ...attributes });
  return h('div.slot.filled', attributes, drawCard(card));
}

/**
 * A place that a move begins or ends at: lit, and a button.
 * @param {string | null | undefined} card
 * @param {{label: string, key: string, share?: number, onclick: () => void, pressed?: boolean}} options
 */
export function choice(card, { label, key, share, onclick, pressed }) {
  const button = h(
    card === undefined ? 'button.slot' : 'button.slot.filled',
    { type: 'button', 'aria-label': label, 'data-key': key, 'aria-pressed': pressed === undefined ? null : String(pressed), onclick },
    card === undefined ? null : drawCard(card, { decorative: true }),
  );
  advise(button, share);
  return button;
}

/**
 * Write on a place how likely the agent would choose it.
 * @param {HTMLElement} element
 * @param {number | undefined} share
 */
export function advise(element, share) {
  if (share === undefined || share < 0.005) return;
  element.classList.add('advised');
  element.dataset.share = percent(share);
}

/** @param {number} share */
export function percent(share) {
  return `${Math.round(100 * share)} %`;
}

/**
 * @param {string} text
 * @param {'' | 'good' | 'bad'} [kind]
 */
export function tag(text, kind = '') {
  return h(kind ? `span.tag.${kind}` : 'span.tag', null, text);
}

/**
 * A card to be placed, beside the words that say so.
 * @param {string | null} card
 * @param {...import('../dom.js').Child} words
 */
export function inHand(card, ...words) {
  return h('div.in-hand', null, card ? slot(card) : slot(undefined), h('div.words', null, ...words));
}

/**
 * @param {Scene} scene
 * @param {number} player
 */
export function nameOf(scene, player) {
  return player === scene.seat ? 'You' : scene.seats[player].title;
}

/**
 * The other players, in the order in which they move after the person.
 * @param {Scene} scene
 */
export function others(scene) {
  const count = scene.seats.length;
  return Array.from({ length: count - 1 }, (_, step) => (scene.seat + step + 1) % count);
}

/**
 * Names told apart: two agents of one kind get a number.
 * @param {import('../types.js').Seat[]} seats
 * @param {number} me
 * @returns {import('../types.js').Seat[]}
 */
export function distinctSeats(seats, me) {
  return seats.map((seat) => {
    const alike = seats.filter((other) => other.player !== me && other.title === seat.title);
    if (seat.player === me || alike.length < 2) return seat;
    return { ...seat, title: `${seat.title} ${alike.indexOf(seat) + 1}` };
  });
}

/**
 * @param {Scene} scene
 * @param {(move: LegalMove) => boolean} fits
 */
export function legalMove(scene, fits) {
  return scene.legal.find(fits);
}

/** @param {string[]} cards */
export function cardNames(cards) {
  return cards.map(cardName).join(', ');
}
