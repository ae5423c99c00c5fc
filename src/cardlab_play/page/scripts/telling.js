/** What happened, in words and as a table, where the server's own are for machines. */

import { cardSign, withSigns } from './cards.js';
import { nameOf } from './games/pieces.js';

/** @typedef {import('./types.js').GameEvent} GameEvent */
/** @typedef {import('./types.js').Scene} Scene */

/**
 * @param {GameEvent} event
 * @param {Scene} scene
 */
export function sentenceOf(event, scene) {
  if (event.kind === 'deal') return event.forced ? forced(event, scene) : 'The cards are dealt.';
  if (event.kind === 'showdown') return `Round ${event.round} is shown: ${losers(event, scene)}`;
  if (event.player === null) return withSigns(event.text);
  return `${nameOf(scene, event.player)}: ${withSigns(event.text)}`;
}

/**
 * What the rules have played for somebody.
 * @param {GameEvent} event
 * @param {Scene} scene
 */
function forced({ forced: { player, cards } }, scene) {
  const card = cards.map(cardSign).join(' ');
  return player === scene.seat ? `The cards are dealt. Your ${card} was played for you: it opens.` : `The cards are dealt. The ${card} of ${nameOf(scene, player)} was played: it opens.`;
}

/**
 * @param {GameEvent} event
 * @param {Scene} scene
 */
function losers(event, scene) {
  const words = event.lost
    .map((/** @type {number} */ lost, /** @type {number} */ player) => {
      const name = nameOf(scene, player);
      return lost > 0 && `${name} ${name === 'You' ? 'lose' : 'loses'} ${lost === 1 ? 'a life' : `${lost} lives`}`;
    })
    .filter(Boolean);
  return words.length > 0 ? words.join(', ') : 'nobody loses a life';
}

/**
 * The table of a round that has ended, all hands open: as it was before, for the next round may be dealt already.
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
