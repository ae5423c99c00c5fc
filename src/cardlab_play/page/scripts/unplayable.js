/** Page of a table whose agents fail to load: the reason, and a button to resign. */

import { getTables, resign } from './api.js';
import { fill, h } from './dom.js';

/**
 * @param {HTMLElement} main
 * @param {string} id
 * @param {string} reason
 * @param {AbortSignal} signal
 */
export async function showUnplayable(main, id, reason, signal) {
  const { tables } = await getTables(signal);
  const listed = tables.find((/** @type {any} */ entry) => entry.id === id);
  const resignGame = async () => {
    await resign({ ...listed }, signal);
    window.dispatchEvent(new HashChangeEvent('hashchange')); // reload: the game is over
  };
  const text = h('p', null, reason);
  fill(
    main,
    h(
      'section.box.narrow',
      { role: 'alert' },
      h('h1', null, 'This game cannot continue'),
      text,
      h('p.muted', null, 'If you resign, the game is finished at random and does not count.'),
      h(
        'div.row',
        null,
        listed && h('button.primary', { type: 'button', onclick: () => resignGame().catch((error) => (text.textContent = error.message)) }, 'Resign'),
        h('a.button', { href: '#/' }, 'Back to the start page'),
      ),
    ),
  );
}
