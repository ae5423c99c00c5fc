/** A game under way: what happened is shown move by move, then the person chooses, then the server is asked. */

import { enableArrows, keepFocus, keepStop } from './arrows.js';
import { Refusal, getChoices, getHistory, getTable, getTables, playMove, resign } from './api.js';
import { fill, h } from './dom.js';
import { distinctSeats } from './games/pieces.js';
import { sentenceOf, showdownView } from './telling.js';
import { GAMES } from './games/catalogue.js';
import { Pace, glide } from './motion.js';
import { showOutcome } from './outcome.js';
import { Panel } from './panel.js';
import { tell } from './speech.js';
import { Told } from './told.js';

/** @typedef {import('./types.js').Table} Table */
/** @typedef {import('./types.js').GameEvent} GameEvent */
/** @typedef {import('./types.js').Scene} Scene */

const PATIENCE = 700; // ms before a wait is explained
const SHOWN = 40; // moves shown one by one: who is out of a match does not wait for all of its rest

/**
 * @param {HTMLElement} main
 * @param {import('./types.js').Visit} visit
 */
export async function showTable(main, visit) {
  const { id, signal } = visit;
  /** @type {Table} */
  let table;
  try {
    table = await getTable(id, signal);
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 422) throw error;
    return showLost(main, id, error.message, signal);
  }
  const [choices, history] = await Promise.all([getChoices(signal), getHistory(id, signal)]);
  if (signal.aborted) return;
  visit.entitle(table.title);
  const game = choices.games.find((/** @type {any} */ one) => one.game === table.game);
  new Sitting(table, game, signal).sit(main, history.events);
}

/**
 * A table that cannot go on, because one of its agents is gone.
 * @param {HTMLElement} main
 * @param {string} id
 * @param {string} why
 * @param {AbortSignal} signal
 */
async function showLost(main, id, why, signal) {
  const { tables } = await getTables(signal);
  const listed = tables.find((/** @type {any} */ one) => one.id === id);
  const leave = async () => {
    await resign({ ...listed }, signal);
    window.dispatchEvent(new HashChangeEvent('hashchange')); // look at it again: it is over
  };
  const words = h('p', null, why);
  fill(
    main,
    h(
      'section.box.narrow',
      { role: 'alert' },
      h('h1', null, 'This game cannot go on'),
      words,
      h('p.quiet', null, 'Given up, it is played on at random and counts nowhere.'),
      h(
        'div.row',
        null,
        listed && h('button.primary', { type: 'button', onclick: () => leave().catch((error) => (words.textContent = error.message)) }, 'Give up'),
        h('a.button', { href: '#/' }, 'To the start'),
      ),
    ),
  );
}

class Sitting {
  /**
   * @param {Table} table
   * @param {import('./types.js').GameChoice} game
   * @param {AbortSignal} signal
   */
  constructor(table, game, signal) {
    this.table = table;
    this.signal = signal;
    this.busy = false;
    this.pace = new Pace();
    this.seats = distinctSeats(table.seats, table.seat);
    this.view = GAMES[table.game]({ choose: (action) => this.choose(action), redraw: () => this.redraw() });
    /** @type {Scene} */
    this.scene = this.sceneOf(table.view);
    this.board = h('div.board-of');
    this.prompt = h('p.prompt', { role: 'status' });
    this.foot = h('div.foot');
    this.trouble = h('p.trouble', { role: 'alert', hidden: true });
    this.told = new Told();
    this.panel = new Panel(game, signal, (shares) => {
      this.scene = { ...this.scene, shares };
      this.redraw();
    });
  }

  /**
   * @param {HTMLElement} main
   * @param {GameEvent[]} past
   */
  sit(main, past) {
    const felt = h('section.felt', { 'aria-label': 'Table', tabindex: '-1' }, this.prompt, this.board, this.foot);
    felt.dataset.game = this.table.game;
    felt.addEventListener('pointerdown', () => this.pace.hurry());
    this.felt = felt;
    const leave = this.button('Give up', () => this.giveUp());
    leave.className = 'plain';
    leave.hidden = this.table.status === 'over';
    this.leave = leave;
    fill(
      main,
      h(
        'div.table',
        null,
        h('div.centre', null, h('h1.spoken', null, this.table.title), this.trouble, felt),
        h('aside.side', { 'aria-label': 'Beside the table' }, h('div.box', null, h('h2', null, 'What happened'), this.told.root), this.panel.root, leave),
      ),
    );
    document.addEventListener('keydown', (event) => this.key(event), { signal: this.signal });
    for (const event of past) this.note(event);
    enableArrows(felt);
    this.settle();
  }

  /** Show the table as it is, and let the person choose. */
  settle() {
    const { table } = this;
    this.scene = { ...this.sceneOf(table.view), legal: table.legal };
    this.redraw();
    const over = table.status === 'over';
    if (this.leave) this.leave.hidden = over;
    if (over) {
      showOutcome(this.foot, table, this.signal);
      this.prompt.textContent = '';
      if (table.result) tell(table.result.text);
    }
    this.panel.follow(table);
  }

  /** @param {any} view */
  sceneOf(view) {
    return { view, legal: [], seat: this.table.seat, seats: this.seats, shares: null, hands: null, showdown: null };
  }

  /** @param {string} [origin] the seat that new cards come from */
  redraw(origin) {
    const words = this.view.prompt(this.scene);
    if (this.prompt.textContent !== words) this.prompt.textContent = words;
    const draw = () => fill(this.board, this.view.draw(this.scene));
    const root = this.felt ?? this.board;
    glide(root, () => keepFocus(root, draw), origin);
    if (this.felt) keepStop(this.felt);
  }

  /** @param {number} action */
  choose(action) {
    if (this.busy || !this.table.legal.some((move) => move.action === action)) return;
    this.act(() => playMove(this.table, action, this.signal));
  }

  async giveUp() {
    if (this.busy || !window.confirm('Give up? The rest is played at random for you.')) return;
    await this.act(() => resign(this.table, this.signal));
  }

  /** @param {() => Promise<Table>} ask */
  async act(ask) {
    this.busy = true;
    this.trouble.hidden = true;
    const before = this.scene;
    this.felt?.setAttribute('aria-busy', 'true');
    const waiting = setTimeout(() => (this.prompt.textContent = 'One moment, the agents think …'), PATIENCE);
    this.panel.rest();
    try {
      const table = await ask().finally(() => clearTimeout(waiting));
      this.scene = { ...before, legal: [], shares: null };
      await this.show(table.events);
      this.table = table;
      this.trouble.hidden = !table.stale;
      if (table.stale) this.trouble.textContent = 'That was not done: the game had moved on meanwhile, perhaps in another tab. This is how it stands now.';
      if (!this.signal.aborted) this.settle();
    } catch (/** @type {any} */ error) {
      if (this.signal.aborted) return;
      this.trouble.textContent = error.message;
      this.trouble.hidden = false;
      this.scene = before;
      this.redraw();
    } finally {
      this.busy = false;
      this.felt?.removeAttribute('aria-busy');
    }
  }

  /** @param {GameEvent[]} events */
  async show(events) {
    this.pace.start(Math.min(events.length, SHOWN));
    for (const [index, event] of events.entries()) {
      if (this.signal.aborted) return;
      this.note(event);
      const late = events.length - index <= SHOWN;
      if (event.kind === 'showdown' && event.hands[this.table.seat]) {
        tell(this.sentence(event));
        await this.showdown(event);
      } else if (late) {
        tell(this.sentence(event));
        await this.step(event, index + 1 < events.length);
      }
    }
  }

  /**
   * @param {GameEvent} event
   * @param {boolean} more whether others follow
   */
  async step(event, more) {
    if (!event.view) return; // what follows shows the table
    this.scene = this.sceneOf(event.view);
    this.redraw(event.player === null ? undefined : String(event.player));
    if (more && event.player !== this.table.seat) await this.pace.pause();
  }

  /**
   * All hands of the round that has ended, until the person goes on.
   * @param {GameEvent} event
   */
  async showdown(event) {
    this.scene = { ...this.sceneOf(showdownView(this.scene.view, event)), showdown: event };
    this.redraw();
    await new Promise((done) => {
      const on = this.button('Go on', () => done(null));
      on.classList.add('primary');
      on.dataset.key = 'go on';
      fill(this.foot, h('div.actions', null, on));
      on.focus({ preventScroll: true });
      this.signal.addEventListener('abort', done);
    });
    fill(this.foot);
    this.felt?.focus({ preventScroll: true });
  }

  /** @param {GameEvent} event */
  sentence(event) {
    return sentenceOf(event, this.scene);
  }

  /** @param {GameEvent} event */
  note(event) {
    this.told.add(this.sentence(event));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key !== 'Escape') return;
    this.pace.hurry();
    if (this.view.escape?.()) this.redraw();
  }

  /**
   * @param {string} words
   * @param {() => void} onclick
   */
  button(words, onclick) {
    return h('button', { type: 'button', onclick }, words);
  }
}
