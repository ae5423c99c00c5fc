/**
 * SVG drawings of the 52 cards and the back.
 *
 * A face is 100 × 140 units. Rank and suit are in the top strip, which stays visible when cards overlap. Suits differ in
 * shape and in colours that are safe for colour blindness. Colours come from the style sheet.
 */

import { svg } from './dom.js';

const WIDTH = 100;
const HEIGHT = 140;

/** Outlines of the suits in a box of 100 × 100. */
const SUITS = {
  c: 'M50 3a21 21 0 0 1 17 33 22 22 0 1 1-12 35c1 12 5 21 13 26H32c8-5 12-14 13-26a22 22 0 1 1-12-35A21 21 0 0 1 50 3Z',
  d: 'M50 2c9 18 22 34 37 48-15 14-28 30-37 48-9-18-22-34-37-48C28 36 41 20 50 2Z',
  h: 'M50 95C22 70 5 52 5 31 5 16 16 6 29 6c10 0 17 6 21 15 4-9 11-15 21-15 13 0 24 10 24 25 0 21-17 39-45 64Z',
  s: 'M50 3c14 24 44 38 44 62 0 12-9 20-20 20-8 0-14-4-18-10 1 11 5 17 12 22H32c7-5 11-11 12-22-4 6-10 10-18 10C15 85 6 77 6 65 6 41 36 27 50 3Z',
};

/** Strokes of the ranks in a box 26 wide (10: 40) and 38 high. */
const RANKS = {
  A: 'M1 38 13 0l12 38M5 26h16',
  K: 'M2 0v38M24 0 2 23M9 16l16 22',
  Q: 'M13 0C4 0 0 8 0 19s4 19 13 19 13-8 13-19S22 0 13 0ZM16 27l10 12',
  J: 'M20 0v27c0 15-18 15-20 2M11 0h9',
  T: 'M0 8 8 0v38M30 0c-7 0-10 8-10 19s3 19 10 19 10-8 10-19S37 0 30 0Z',
  9: 'M6 38 22 19M13 1a11 11.5 0 1 0 0 23 11 11.5 0 1 0 0-23Z',
  8: 'M13 0a9 9 0 1 0 0 18 9 9 0 1 0 0-18ZM13 18a11 10 0 1 0 0 20 11 10 0 1 0 0-20Z',
  7: 'M1 0h24L9 38',
  6: 'M20 0 4 19M13 14a11 11.5 0 1 0 0 23 11 11.5 0 1 0 0-23Z',
  5: 'M23 0H5L3 16c9-5 23-2 23 9 0 15-20 17-26 7',
  4: 'M19 38V0L0 27h26',
  3: 'M2 0h21L11 14c19-1 19 24 1 24-6 0-10-2-12-7',
  2: 'M1 9C2-3 25-3 25 10 25 20 6 28 0 38h26',
};

/** Headgear of the court cards: crown, tiara, cap. */
const HEADS = {
  K: ['M0 6 10 16 20 0 30 16 40 6 36 28H4Z', 'M4 31h32v5H4Z'],
  Q: ['M2 12 11 20 20 6 29 20 38 12 34 28H6ZM2 6a3 3 0 1 0 .1 0ZM20-1a3 3 0 1 0 .1 0ZM38 6a3 3 0 1 0 .1 0Z', 'M6 31h28v5H6Z'],
  J: ['M4 28C4 14 14 8 24 10L38-2C39 8 36 18 34 28Z', 'M2 31h36v5H2Z'],
};

const RANK_NAMES = {
  A: 'ace', K: 'king', Q: 'queen', J: 'jack', T: '10', 9: '9', 8: '8', 7: '7', 6: '6', 5: '5', 4: '4', 3: '3', 2: '2',
};
const SUIT_NAMES = { c: 'clubs', d: 'diamonds', h: 'hearts', s: 'spades' };
export const SUIT_SYMBOLS = { c: '♣', d: '♦', h: '♥', s: '♠' };

/**
 * Name for screen readers: `As` is "ace of spades".
 * @param {string | null} card
 */
export function cardName(card) {
  return card ? `${RANK_NAMES[card[0]]} of ${SUIT_NAMES[card[1]]}` : 'hidden card';
}

/**
 * Short text: `Td` is "10♦".
 * @param {string} card
 */
export function cardSymbol(card) {
  return (card[0] === 'T' ? '10' : card[0]) + SUIT_SYMBOLS[card[1]];
}

/**
 * A text of the server with its cards as symbols; numbers stay beside their words.
 * @param {string} text
 */
export function withSuitSymbols(text) {
  return text.replace(/\b([2-9TJQKA])([cdhs])\b/g, (card) => cardSymbol(card)).replace(/(row|column) /g, '$1\u00a0');
}

/**
 * A card, face down if `card` is null.
 * @param {string | null} card rank and suit as in `Td`
 * @param {{decorative?: boolean}} [options] decorative: hidden from screen readers
 * @returns {SVGElement}
 */
export function drawCard(card, { decorative = false } = {}) {
  const kind = card ? `card suit-${card[1]}` : 'card back';
  const label = decorative ? { 'aria-hidden': 'true' } : { role: 'img', 'aria-label': cardName(card) };
  return svg(
    'svg',
    { class: kind, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, 'data-card': card, focusable: 'false', ...label },
    svg('rect', { class: 'paper', x: 1, y: 1, width: WIDTH - 2, height: HEIGHT - 2, rx: 9 }),
    ...(card ? face(card[0], card[1]) : lattice()),
  );
}

/**
 * @param {string} rank
 * @param {string} suit
 */
function face(rank, suit) {
  const corner = [
    svg('path', { class: 'rank', d: RANKS[rank], transform: rank === 'T' ? 'translate(10 14) scale(.95 1)' : 'translate(11 14)' }),
    pip(suit, rank === 'T' ? 62 : 56, 15, 0.33),
  ];
  if (!(rank in HEADS)) return [...corner, pip(suit, 20, 70, 0.6)];
  const [top, band] = HEADS[rank];
  const place = 'translate(28 61) scale(1.1)';
  return [
    ...corner,
    svg('path', { class: 'pip', d: top, transform: place }),
    svg('path', { class: 'gold', d: band, transform: place }),
    pip(suit, 34, 104, 0.32),
  ];
}

/**
 * @param {string} suit
 * @param {number} x
 * @param {number} y
 * @param {number} scale
 */
function pip(suit, x, y, scale) {
  return svg('path', { class: 'pip', d: SUITS[suit], transform: `translate(${x} ${y}) scale(${scale})` });
}

/** The back: a frame and a lattice of diamonds. */
function lattice() {
  let diamonds = '';
  for (let row = 0; row < 9; row += 1) {
    for (let column = 0; column < 6; column += 1) {
      diamonds += `M${17.5 + 13 * column} ${11.5 + 13 * row}l5 6.5-5 6.5-5-6.5Z`;
    }
  }
  return [
    svg('rect', { class: 'frame', x: 7, y: 7, width: WIDTH - 14, height: HEIGHT - 14, rx: 5 }),
    svg('path', { class: 'lattice', d: diamonds }),
  ];
}
