/** Router: `#/` start page, `#/table/ID` table, `#/replay/ID` finished game, `#/deal/ID` shared deal, `#/rules/GAME`, `#/record`,
 * `#/network/ID` what the network sees at a table. */

import { h, fill } from './dom.js';
import { showStart } from './start.js';
import { showTable } from './table.js';
import { showDeal } from './deal.js';
import { showReplay } from './replay.js';
import { showNetwork } from './network.js';
import { showRecord } from './record.js';
import { showRules } from './rules.js';
import { setConnectionListener } from './api.js';
import { setUpThemeButton } from './theme.js';

const main = /** @type {HTMLElement} */ (document.getElementById('main'));
const titleElement = /** @type {HTMLElement} */ (document.getElementById('title'));
const banner = /** @type {HTMLElement} */ (document.getElementById('connection'));

/** @type {AbortController} aborts the requests of the previous view */
let viewController = new AbortController();

const VIEWS = { '': showStart, table: showTable, replay: showReplay, deal: showDeal, rules: showRules, record: showRecord, network: showNetwork };

async function route() {
  viewController.abort();
  viewController = new AbortController();
  const [, name = '', id = ''] = location.hash.split('/');
  const known = Object.hasOwn(VIEWS, name);
  const view = known ? VIEWS[name] : showStart;
  const notice = known ? '' : 'Page not found. This is the start page.';
  titleElement.textContent = '';
  fill(main, h('p.muted', { role: 'status' }, 'Loading …'));
  const signal = viewController.signal;
  try {
    await view(main, { id, signal, notice, setTitle: (title) => setTitle(title) });
  } catch (error) {
    if (signal.aborted) return;
    fill(main, errorPage(error));
  }
  main.focus({ preventScroll: true });
}

/** @param {string} title */
function setTitle(title) {
  titleElement.textContent = title;
  document.title = title ? `${title} · cardlab` : 'cardlab';
}

/** @param {any} error */
function errorPage(error) {
  return h(
    'div.box',
    { role: 'alert' },
    h('h1', null, 'The page failed to load'),
    h('p', null, error.message ?? String(error)),
    h('div.row', null, h('button.primary', { type: 'button', onclick: route }, 'Try again'), h('a', { href: '#/' }, 'Back to the start page')),
  );
}

setConnectionListener((lost) => {
  banner.hidden = !lost;
  banner.textContent = lost ? 'The server is not reachable. Retrying …' : '';
});
setUpThemeButton(/** @type {HTMLButtonElement} */ (document.getElementById('theme')));
window.addEventListener('hashchange', route);
route();
