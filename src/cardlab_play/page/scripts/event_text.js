/** Texts of events for players, and the table view of a showdown. */

import { cardSymbol, withSuitSymbols } from './cards.js';
import { playerName } from './games/pieces.js';

/** @typedef {import('./types.js').GameEvent} GameEvent */
/** @typedef {import('./types.js').Scene} Scene */

/**
 * @param {GameEvent} event
 * @param {Scene} scene
 */
export function eventText(event, scene) {
  if (event.kind === 'deal') return event.forced ? forcedMoveText(event, scene) : 'The cards are dealt.';
  if (event.kind === 'showdown') return `Round ${event.round} ends, ${losersText(event, scene)}`;
  if (event.player === null) return withSuitSymbols(event.text);
  return `${playerName(scene, event.player)}: ${withSuitSymbols(event.text)}`;
}

/**
 * Text of a deal with a forced opening move.
 * @param {GameEvent} event
 * @param {Scene} scene
 */
function forcedMoveText({ forced: { player, cards } }, scene) {
  const card = cards.map(cardSymbol).join(' ');
  return player === scene.seat ? `The cards are dealt. Your ${card} was played: it opens the game.` : `The cards are dealt. The ${card} of ${playerName(scene, player)} was played: it opens the game.`;
}

/**
 * Why players lose lives, and who does.
 * @param {GameEvent} event
 * @param {Scene} scene
 */
function losersText(event, scene) {
  const held = event.scores.filter((/** @type {number | null} */ score) => score !== null);
  const reason = Math.max(...held) === 31 ? `${playerName(scene, event.scores.indexOf(31))} with 31 points` : `lowest hand ${Math.min(...held)} points`;
  const text = event.lost
    .map((/** @type {number} */ lost, /** @type {number} */ player) => {
      const name = playerName(scene, player);
      return lost > 0 && `${name} ${name === 'You' ? 'lose' : 'loses'} ${lost === 1 ? 'a life' : `${lost} lives, having called`}`;
    })
    .filter(Boolean);
  return `${reason}: ${text.length > 0 ? text.join(', ') : 'no player loses a life'}`;
}

/**
 * The view before the end of a round, with all hands open.
 * @param {any} before
 * @param {GameEvent} event
 */
export function showdownView(before, event) {
  const players = before.players.map((/** @type {any} */ player, /** @type {number} */ i) => ({
    ...player,
    hand: event.hands[i],
    score: event.scores[i],
    lives: event.lives[i],
  }));
  return { ...before, players, drawn: null, drawn_by: null, turn: null };
}
