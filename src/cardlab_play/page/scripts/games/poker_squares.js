/** Poker Squares: the grid, what its rows and columns score, and the card to place. */

import { h, spoken } from '../dom.js';
import { cardName, cardSign } from '../cards.js';
import { choice, inHand, slot } from './pieces.js';

/** @typedef {import('../types.js').Scene} Scene */

const SIDE = 5;

/**
 * @param {import('../types.js').Host} host
 * @returns {import('../types.js').GameView}
 */
export function makePokerSquares(host) {
  return {
    prompt: ({ view, legal }) => (legal.length > 0 ? `Place the ${cardSign(view.card)}` : ''),
    draw: (scene) =>
      h('div.poker-squares', null, turnedUp(scene.view), h('div.squares', { role: 'group', 'aria-label': 'Grid' }, grid(scene, host))),
  };
}

/** @param {any} view */
function turnedUp(view) {
  return inHand(
    view.card,
    h('strong', null, view.card ? 'Place this card' : 'The grid is full'),
    h('span.quiet', null, `${view.left} still to come`),
    h('span.total', null, spoken('Total '), view.total),
  );
}

/**
 * @param {Scene} scene
 * @param {import('../types.js').Host} host
 */
function grid(scene, host) {
  const { view } = scene;
  const cells = [];
  for (let row = 0; row < SIDE; row += 1) {
    for (let column = 0; column < SIDE; column += 1) cells.push(cellOf(scene, host, SIDE * row + column));
    cells.push(line(view.lines[row], `Row ${row + 1}`));
  }
  for (let column = 0; column < SIDE; column += 1) cells.push(line(view.lines[SIDE + column], `Column ${column + 1}`));
  cells.push(h('div.line.sum', { 'aria-hidden': 'true' }, h('b', null, view.total)));
  return cells;
}

/**
 * @param {Scene} scene
 * @param {import('../types.js').Host} host
 * @param {number} cell
 */
function cellOf(scene, host, cell) {
  const card = scene.view.grid[cell] ?? undefined;
  const move = scene.legal.find((legal) => legal.cell === cell);
  if (!move) return slot(card);
  const where = `row ${Math.floor(cell / SIDE) + 1}, column ${(cell % SIDE) + 1}`;
  return choice(undefined, {
    label: `Place the ${cardName(scene.view.card)} at ${where}`,
    key: `cell ${cell}`,
    share: scene.shares?.get(move.action),
    onclick: () => host.choose(move.action),
  });
}

/**
 * @param {{name: string | null, score: number, cards: number}} made
 * @param {string} place
 */
function line(made, place) {
  const kind = made.score > 0 ? 'div.line.scores' : 'div.line';
  const name = made.score > 0 ? made.name : '';
  return h(kind, null, spoken(`${place}: ${made.name ?? 'empty'}, `), h('b', null, made.score), h('span', { 'aria-hidden': 'true' }, name));
}
