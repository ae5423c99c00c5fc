/** Rules of a game: a page of its own, and a dialog at the table. */

import { getRules } from './api.js';
import { withSuitSymbols } from './cards.js';
import { fill, h } from './dom.js';

/** @typedef {{title: string, paragraphs: string[], head: string[], rows: (string | number)[][]}} Section */

/**
 * @param {HTMLElement} main
 * @param {import('./types.js').PageContext} context
 */
export async function showRules(main, context) {
  const { title, sections } = await getRules(context.id, context.signal);
  if (context.signal.aborted) return;
  context.setTitle(`Rules of ${title}`);
  fill(main, h('article.box.narrow.rules', null, h('h1', null, `Rules of ${title}`), sections.map(section), h('a.button', { href: '#/' }, 'Back to the start page')));
}

/**
 * A button that opens the rules above the table.
 * @param {string} game
 * @param {AbortSignal} signal
 */
export function rulesButton(game, signal) {
  const open = async () => {
    const title = h('h1', { id: 'rules-title' }, 'Rules and scoring');
    const content = h('div.rules', { tabindex: '0', role: 'region', 'aria-labelledby': 'rules-title' }, h('p.muted', { role: 'status' }, 'Loading …'));
    const close = h('button.primary', { type: 'button', onclick: () => dialog.close() }, 'Back to the game');
    const dialog = /** @type {HTMLDialogElement} */ (h('dialog.rules-dialog', { 'aria-labelledby': 'rules-title', onclose: () => dialog.remove() }, title, content, close));
    signal.addEventListener('abort', () => dialog.close());
    document.body.append(dialog);
    dialog.showModal();
    close.focus();
    try {
      fill(content, (await getRules(game, signal)).sections.map(section));
    } catch (/** @type {any} */ error) {
      fill(content, h('p.error', { role: 'alert' }, error.message));
    }
  };
  return h('button', { type: 'button', onclick: open }, 'Rules');
}

/** @param {Section} section */
function section({ title, paragraphs, head, rows }) {
  return h(
    'section',
    null,
    h('h2', null, title),
    paragraphs.map((text) => h('p', null, withSuitSymbols(text))),
    rows.length > 0 &&
      h(
        'table',
        null,
        h('thead', null, h('tr', null, head.map((name, i) => h(i > 0 && isNumeric(rows, i) ? 'th.number' : 'th', { scope: 'col' }, name)))),
        h('tbody', null, rows.map((row) => h('tr', null, row.map((cell, i) => h(i > 0 && isNumeric(rows, i) ? 'td.number' : 'td', null, cell))))),
      ),
  );
}

/**
 * @param {(string | number)[][]} rows
 * @param {number} column
 */
function isNumeric(rows, column) {
  return rows.some((row) => typeof row[column] === 'number');
}
