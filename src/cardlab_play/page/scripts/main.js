/** Which view stands on the page: `#/` the start, `#/table/ID` a table, `#/replay/ID` a finished game,
 * `#/deal/ID` a deal that somebody shared. */

import { h, fill } from './dom.js';
import { showStart } from './start.js';
import { showTable } from './table.js';
import { showDeal } from './deal.js';
import { showReplay } from './replay.js';
import { watchConnection } from './api.js';
import { offerThemes } from './theme.js';

const main = /** @type {HTMLElement} */ (document.getElementById('main'));
const place = /** @type {HTMLElement} */ (document.getElementById('place'));
const banner = /** @type {HTMLElement} */ (document.getElementById('connection'));

/** @type {AbortController} ends what the view that is left has begun */
let leaving = new AbortController();

const VIEWS = { '': showStart, table: showTable, replay: showReplay, deal: showDeal };

async function route() {
  leaving.abort();
  leaving = new AbortController();
  const [, name = '', id = ''] = location.hash.split('/');
  const known = Object.hasOwn(VIEWS, name);
  const view = known ? VIEWS[name] : showStart;
  const notice = known ? '' : 'There is no such page: this is the start.';
  place.textContent = '';
  fill(main, h('p.quiet', { role: 'status' }, 'One moment …'));
  const signal = leaving.signal;
  try {
    await view(main, { id, signal, notice, entitle: (title) => entitle(title) });
  } catch (error) {
    if (signal.aborted) return;
    fill(main, failure(error));
  }
  main.focus({ preventScroll: true });
}

/** @param {string} title */
function entitle(title) {
  place.textContent = title;
  document.title = title ? `${title} · cardlab` : 'cardlab';
}

/** @param {any} error */
function failure(error) {
  return h(
    'div.box',
    { role: 'alert' },
    h('h1', null, 'This cannot be shown'),
    h('p', null, error.message ?? String(error)),
    h('div.row', null, h('button.primary', { type: 'button', onclick: route }, 'Try again'), h('a', { href: '#/' }, 'To the start')),
  );
}

watchConnection((lost) => {
  banner.hidden = !lost;
  banner.textContent = lost ? 'The server cannot be reached. Trying again …' : '';
});
offerThemes(/** @type {HTMLButtonElement} */ (document.getElementById('theme')));
window.addEventListener('hashchange', route);
route();
