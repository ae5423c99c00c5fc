/** View of each game by name. */

import { makeBig2 } from './big2.js';
import { makeFiveO } from './five_o.js';
import { makeOpenFace } from './open_face.js';
import { makePokerSquares } from './poker_squares.js';
import { makeText } from './text.js';
import { makeThirtyOne } from './thirty_one.js';

/** @type {Record<string, (host: import('../types.js').GameHost) => import('../types.js').GameView>} */
const GAMES = {
  big2: makeBig2,
  five_o: makeFiveO,
  open_face: makeOpenFace,
  poker_squares: makePokerSquares,
  thirty_one: makeThirtyOne,
};

/**
 * The view of a game: its own, or its text.
 * @param {string} game
 * @param {import('../types.js').GameHost} host
 */
export const makeGame = (game, host) => (GAMES[game] ?? makeText)(host);

/** @type {Record<string, {cards: string[], summary: string}>} */
const TILES = {
  big2: { cards: ['2s', 'Ah', '3d'], summary: 'Be the first of four players to play all thirteen cards' },
  five_o: { cards: ['9h', '9d', '9c'], summary: 'Five poker hands against five' },
  open_face: { cards: ['Qs', 'Qh', 'As'], summary: 'Three rows, royalties and the risk of a foul' },
  poker_squares: { cards: ['7c', 'Tc', 'Kc'], summary: 'One player, a grid of 25 cards, ten poker hands' },
  thirty_one: { cards: ['Ad', 'Kd', 'Td'], summary: 'Three cards, three lives: get close to 31' },
};

/** Cards and summary on the tile of a game. @param {string} game */
export const tileOf = (game) => TILES[game] ?? { cards: [], summary: 'A game of your project' };
