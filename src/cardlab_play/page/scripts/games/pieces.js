/** Elements that several game views share: card slots, buttons, names, tags. */

import { h } from '../dom.js';
import { drawCard } from '../cards.js';

/** @typedef {import('../types.js').Scene} Scene */

/**
 * A card or an empty slot, not clickable.
 * @param {string | null | undefined} card undefined: an empty slot; null: face down
 * @param {import('../dom.js').Attributes} [attributes]
 */
export function slot(card, attributes = {}) {
  if (card === undefined) return h('div.slot', { 'aria-hidden': 'true', ...attributes });
  return h('div.slot.filled', attributes, drawCard(card));
}

/**
 * A slot as a button.
 * @param {string | null | undefined} card
 * @param {{label: string, key: string, advised?: boolean, onclick: () => void, pressed?: boolean}} options
 */
export function cardButton(card, { label, key, advised, onclick, pressed }) {
  const button = h(
    card === undefined ? 'button.slot' : 'button.slot.filled',
    { type: 'button', 'aria-label': label, 'data-key': key, 'aria-pressed': pressed === undefined ? null : String(pressed), onclick },
    card === undefined ? null : drawCard(card, { decorative: true }),
  );
  markAdvised(button, advised);
  return button;
}

/**
 * Mark the element of the recommended move.
 * @param {HTMLElement} element
 * @param {boolean} [advised]
 */
export function markAdvised(element, advised) {
  if (!advised) return;
  element.classList.add('advised');
  element.setAttribute('aria-description', 'recommended');
}

/**
 * @param {string} text
 * @param {'' | 'good' | 'bad'} [kind]
 */
export function tag(text, kind = '') {
  return h(kind ? `span.tag.${kind}` : 'span.tag', null, text);
}

/**
 * The card to place, with a text.
 * @param {string | null} card
 * @param {...import('../dom.js').Child} words
 */
export function cardToPlace(card, ...words) {
  return h('div.in-hand.beside', null, card ? slot(card) : slot(undefined), h('div.words', null, ...words));
}

/**
 * @param {Scene} scene
 * @param {number} player
 */
export function playerName(scene, player) {
  return player === scene.seat ? 'You' : scene.seats[player].title;
}

/**
 * The other players in turn order after the player.
 * @param {Scene} scene
 */
export function otherPlayers(scene) {
  const count = scene.seats.length;
  return Array.from({ length: count - 1 }, (_, step) => (scene.seat + step + 1) % count);
}

/** How the seats follow each other. */
export const orderOfPlay = () => h('p.muted.order', null, 'Order of play: from left to right, then you');

/**
 * Seats with distinct titles: equal titles get a number, in the order of play after `me`.
 * @param {import('../types.js').Seat[]} seats
 * @param {number} me
 * @returns {import('../types.js').Seat[]}
 */
export function distinctSeats(seats, me) {
  return seats.map((seat) => {
    const turn = (/** @type {import('../types.js').Seat} */ { player }) => (player - me + seats.length) % seats.length;
    const alike = seats.filter((other) => other.player !== me && other.title === seat.title).sort((a, b) => turn(a) - turn(b));
    if (seat.player === me || alike.length < 2) return seat;
    return { ...seat, title: `${seat.title}\u00a0${alike.indexOf(seat) + 1}` };
  });
}
