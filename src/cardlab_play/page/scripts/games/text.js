/** View of a game without a view of its own: its text, and a button for each action. */

import { h } from '../dom.js';
import { withSuitSymbols } from '../cards.js';
import { markAdvised, playerName } from './pieces.js';

/** @typedef {import('../types.js').Scene} Scene */

/**
 * @param {import('../types.js').GameHost} host
 * @returns {import('../types.js').GameView}
 */
export function makeText(host) {
  return {
    prompt: ({ legal }) => (legal.length > 0 ? 'Your move' : ''),
    draw: (scene) =>
      h(
        'div.text-game',
        null,
        scene.view.revealed.length > 0
          ? scene.view.revealed.map((/** @type {string} */ text, /** @type {number} */ player) => h('section', { 'aria-label': playerName(scene, player) }, h('div.name', null, playerName(scene, player)), h('pre', null, withSuitSymbols(text))))
          : h('pre', null, withSuitSymbols(scene.view.text)),
        h('div.actions', null, scene.legal.map((move) => actionButton(scene, move, host))),
      ),
  };
}

/**
 * @param {Scene} scene
 * @param {import('../types.js').LegalMove} move
 * @param {import('../types.js').GameHost} host
 */
function actionButton(scene, { action, text }, host) {
  const button = h('button', { type: 'button', 'data-key': `action ${action}`, onclick: () => host.choose(action) }, withSuitSymbols(text));
  markAdvised(button, scene.advised === action);
  return button;
}
