/** A line that says that the server is dealing. */

import { h } from './dom.js';

const FIRST_MOVES_MS = 1500; // after it the agents, which load and may move first, are named as the reason

/** The line. Its owner removes it if the deal fails; else the page of the table replaces it. */
export function waitLine() {
  const line = h('p.wait', { role: 'status' }, 'Dealing the cards …');
  setTimeout(() => (line.textContent = 'Dealing the cards: the agents get ready and may move first …'), FIRST_MOVES_MS);
  return line;
}
