/** The view of each game, by the name that the server gives it. */

import { makeBig2 } from './big2.js';
import { makeFiveO } from './five_o.js';
import { makeOpenFace } from './open_face.js';
import { makePokerSquares } from './poker_squares.js';
import { makeThirtyOne } from './thirty_one.js';

/** @type {Record<string, (host: import('../types.js').Host) => import('../types.js').GameView>} */
export const GAMES = {
  big2: makeBig2,
  five_o: makeFiveO,
  open_face: makeOpenFace,
  poker_squares: makePokerSquares,
  thirty_one: makeThirtyOne,
};

/** The cards on the tile of each game, and its idea in a few words. */
export const TILES = {
  big2: { cards: ['2s', 'Ah', '3d'], idea: 'Shed thirteen cards before three others do' },
  five_o: { cards: ['9h', '9d', '9c'], idea: 'Five poker hands against five' },
  open_face: { cards: ['Qs', 'Qh', 'As'], idea: 'Three rows, royalties and the risk of a foul' },
  poker_squares: { cards: ['7c', 'Tc', 'Kc'], idea: 'A grid of 25 cards, ten poker hands, alone' },
  thirty_one: { cards: ['Ad', 'Kd', 'Td'], idea: 'Three cards, three lives: come close to 31' },
};
