/** View of Poker Squares: the grid, the line scores and the card to place. */

import { h, screenReaderText } from '../dom.js';
import { cardName, cardSymbol } from '../cards.js';
import { formatCount } from '../formatting.js';
import { cardButton, cardToPlace, slot } from './pieces.js';

/** @typedef {import('../types.js').Scene} Scene */

const SIDE = 5;

/**
 * @param {import('../types.js').GameHost} host
 * @returns {import('../types.js').GameView}
 */
export function makePokerSquares(host) {
  return {
    prompt: ({ view, legal }) => (legal.length > 0 ? `Place the ${cardSymbol(view.card)}` : ''),
    draw: (scene) =>
      h('div.poker-squares', null, turnedUp(scene.view), h('div.squares', { role: 'group', 'aria-label': 'Grid' }, grid(scene, host)), points(scene.view)),
  };
}

/** @param {any} view */
function turnedUp(view) {
  if (!view.card) return null;
  return cardToPlace(
    view.card,
    h('strong', null, 'Place this card'),
    h('span.muted', null, `card ${view.turn + 1} of ${SIDE * SIDE}`),
    h('span.total', null, formatCount(view.total, 'point')),
  );
}

/** @param {any} view */
function points({ points: all }) {
  const list = all.map((/** @type {{name: string, score: number}} */ { name, score }) => `${name} ${score}`.replaceAll(' ', '\u00a0'));
  return h('p.muted.cost.beside', null, 'Points of a row or column:', h('br'), list.join(', '));
}

/**
 * @param {Scene} scene
 * @param {import('../types.js').GameHost} host
 */
function grid(scene, host) {
  const { view } = scene;
  const head = (/** @type {number | string} */ number) => h('span.muted.number-head', { 'aria-hidden': 'true' }, number);
  const cells = ['', 1, 2, 3, 4, 5, ''].map(head);
  for (let row = 0; row < SIDE; row += 1) {
    cells.push(head(row + 1));
    for (let column = 0; column < SIDE; column += 1) cells.push(cellOf(scene, host, SIDE * row + column));
    cells.push(line(view.lines[row], `Row ${row + 1}`));
  }
  cells.push(head(''));
  for (let column = 0; column < SIDE; column += 1) cells.push(line(view.lines[SIDE + column], `Column ${column + 1}`));
  cells.push(h('div.line.sum', { 'aria-hidden': 'true' }, h('b', null, view.total)));
  return cells;
}

/**
 * @param {Scene} scene
 * @param {import('../types.js').GameHost} host
 * @param {number} cell
 */
function cellOf(scene, host, cell) {
  const card = scene.view.grid[cell] ?? undefined;
  const move = scene.legal.find((legal) => legal.cell === cell);
  if (!move) return slot(card);
  const where = `row ${Math.floor(cell / SIDE) + 1}, column ${(cell % SIDE) + 1}`;
  return cardButton(undefined, {
    label: `Place the ${cardName(scene.view.card)} at ${where}`,
    key: `cell ${cell}`,
    advised: scene.advised === move.action,
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
  return h(kind, null, screenReaderText(`${place}: ${made.name ?? 'empty'}, `), h('b', null, made.score), h('span', { 'aria-hidden': 'true' }, name));
}
