/** Page of a table: shows the events move by move, takes the player's action and sends it. */

import { enableArrowKeys, redrawWithFocus, updateTabStop } from './arrow_keys.js';
import { ApiError, getGames, getHistory, getTable, playMove, resign, undo } from './api.js';
import { fill, h } from './dom.js';
import { distinctSeats } from './games/pieces.js';
import { eventText, lastRound, showdownView } from './event_text.js';
import { makeGame } from './games/catalogue.js';
import { MoveDelay, animateCards } from './animation.js';
import { showResult } from './result.js';
import { rulesButton } from './rules.js';
import { AdvicePanel } from './advice_panel.js';
import { announce } from './announcements.js';
import { EventLog } from './event_log.js';
import { Hint } from './hint.js';
import { showUnplayable } from './unplayable.js';

/** @typedef {import('./types.js').Table} Table */
/** @typedef {import('./types.js').GameEvent} GameEvent */
/** @typedef {import('./types.js').Scene} Scene */

const WAIT_MESSAGE_MS = 700; // before a message about the wait
const MAX_ANIMATED_MOVES = 40; // only the last moves are animated: an eliminated player does not wait for all

/**
 * @param {HTMLElement} main
 * @param {import('./types.js').PageContext} context
 */
export async function showTable(main, context) {
  const { id, signal } = context;
  /** @type {Table} */
  let table;
  try {
    table = await getTable(id, signal);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 422) throw error;
    return showUnplayable(main, id, error.message, signal);
  }
  const [gameList, history] = await Promise.all([getGames(signal), getHistory(id, signal)]);
  if (signal.aborted) return;
  context.setTitle(table.title);
  document.getElementById('title')?.append(rulesButton(table.game, signal));
  const game = gameList.games.find((/** @type {any} */ entry) => entry.game === table.game);
  new TableView(table, game, signal).mount(main, history.events);
}

class TableView {
  /**
   * @param {Table} table
   * @param {import('./types.js').GameChoice} game
   * @param {AbortSignal} signal
   */
  constructor(table, game, signal) {
    this.table = table;
    this.signal = signal;
    this.busy = false;
    this.delay = new MoveDelay();
    this.seats = distinctSeats(table.seats, table.seat);
    this.view = makeGame(table.game, { choose: (action) => this.choose(action), redraw: () => this.redraw() });
    this.out = /** @type {GameEvent | null} */ (null); // the round in which the player went out
    this.scene = /** @type {Scene} */ (this.sceneOf(table.view));
    this.board = h('div.board-frame');
    this.prompt = h('p.prompt', { role: 'status' });
    this.footer = h('div.footer');
    this.errorLine = h('p.error', { role: 'alert', hidden: true });
    this.eventLog = new EventLog();
    this.hint = new Hint(signal, (error) => this.showError(error));
    this.undoButton = /** @type {HTMLButtonElement} */ (this.button('Undo', () => this.undo()));
    this.hintButton = this.button('Hint', () => this.busy || this.hint.ask(table.id));
    this.head = h('div.head', null, this.undoButton, h('div', null, this.prompt, this.hint.line), this.hintButton);
    this.outcome = h('div.outcome-frame', { hidden: true });
    this.playing = h(
      'div.playing',
      null,
      table.deal.counts && h('p.muted', null, 'This game counts: advice, hints and undo are for practice games.'),
      h('div.row', null, h('a.button', { href: `#/network/${table.id}` }, 'What the network sees'), this.button('Resign', () => this.resign())),
    );
    this.panel = new AdvicePanel(game, signal, (advised) => {
      this.scene = { ...this.scene, advised };
      this.redraw();
    });
  }

  /**
   * @param {HTMLElement} main
   * @param {GameEvent[]} past
   */
  mount(main, past) {
    const felt = h('section.felt', { 'aria-label': 'Table', tabindex: '-1' }, this.head, this.board, this.footer);
    felt.dataset.game = this.table.game;
    felt.addEventListener('pointerdown', () => this.delay.skip());
    this.felt = felt;
    fill(
      main,
      h(
        'div.table',
        null,
        h('div.centre', null, h('h1.visually-hidden', null, this.table.title), this.errorLine, felt),
        h('aside.side', { 'aria-label': 'Details' }, this.outcome, h('div.box', null, h('h2', null, 'Events'), this.eventLog.root), this.playing, this.panel.root),
      ),
    );
    document.addEventListener('keydown', (event) => this.key(event), { signal: this.signal });
    for (const event of past) this.logEvent(event);
    enableArrowKeys(felt);
    this.showCurrent();
  }

  /** Show the current state and enable the legal actions. */
  showCurrent() {
    const { table } = this;
    const over = table.status === 'over';
    this.scene = { ...this.sceneOf(table.view), legal: table.legal };
    const [before, last] = table.events.slice(-2);
    if (over && last?.kind === 'showdown' && before.view) this.scene = this.showdownScene(before.view, last); // the last play stays visible
    this.redraw();
    this.head.hidden = over && !this.prompt.textContent;
    for (const button of [this.undoButton, this.hintButton]) button.hidden = over || table.deal.counts;
    this.undoButton.disabled = !table.events.some((event) => event.player === table.seat); // they begin with the player's last move
    this.hint.clear();
    this.playing.hidden = over;
    this.outcome.hidden = !over;
    if (over) {
      showResult(this.outcome, table, this.signal);
      this.outcome.scrollIntoView({ block: 'nearest' });
      if (table.result) announce(table.result.text);
    }
    this.panel.update(table);
  }

  /** @param {any} view */
  sceneOf(view) {
    return { view, legal: [], seat: this.table.seat, seats: this.seats, advised: null, hands: null, showdown: null, out: this.out };
  }

  /** @param {string} [origin] the seat where new cards start */
  redraw(origin) {
    const text = this.view.prompt(this.scene);
    if (this.prompt.textContent !== text) this.prompt.textContent = text;
    const draw = () => fill(this.board, this.view.draw(this.scene));
    const root = this.felt ?? this.board;
    animateCards(root, () => redrawWithFocus(root, draw), origin);
    if (this.felt) updateTabStop(this.felt);
  }

  /** @param {number} action */
  choose(action) {
    if (this.busy || !this.table.legal.some((move) => move.action === action)) return;
    this.act(() => playMove(this.table, action, this.signal));
  }

  async resign() {
    if (this.busy || !window.confirm('Resign? The rest of the game is played at random for you.')) return;
    await this.act(() => resign(this.table, this.signal));
  }

  /** @param {() => Promise<Table>} send */
  async act(send) {
    this.busy = true;
    this.errorLine.hidden = true;
    const before = this.scene;
    this.felt?.setAttribute('aria-busy', 'true');
    const waiting = setTimeout(() => (this.prompt.textContent = 'Waiting for the agents …'), WAIT_MESSAGE_MS);
    this.panel.clear();
    this.hint.clear();
    try {
      const table = await send().finally(() => clearTimeout(waiting));
      this.scene = { ...before, legal: [], advised: null };
      await this.show(table.events, table.status === 'over');
      this.table = table;
      this.errorLine.hidden = !table.stale;
      if (table.stale) this.errorLine.textContent = 'Your move was not played: the table has changed, perhaps in another tab. This is the current state.';
      if (!this.signal.aborted) this.showCurrent();
      if (table.status === 'over') await this.logHistory().catch(() => {}); // with the cards that lay face down
    } catch (/** @type {any} */ error) {
      if (this.signal.aborted) return;
      this.showError(error);
      this.scene = before;
      this.redraw();
    } finally {
      this.busy = false;
      this.felt?.removeAttribute('aria-busy');
    }
  }

  async undo() {
    if (this.busy) return;
    this.busy = true;
    this.errorLine.hidden = true;
    this.panel.clear();
    try {
      this.table = await undo(this.table, this.signal);
      await this.logHistory();
      this.showCurrent();
      announce('Your last move is taken back.');
    } catch (error) {
      this.showError(error);
    } finally {
      this.busy = false;
    }
  }

  async logHistory() {
    const { events } = await getHistory(this.table.id, this.signal);
    this.eventLog.clear();
    this.out = null;
    for (const event of events) this.logEvent(event);
  }

  /** @param {any} error */
  showError(error) {
    if (this.signal.aborted) return;
    this.errorLine.textContent = error.message;
    this.errorLine.hidden = false;
  }

  /**
   * @param {GameEvent[]} events
   * @param {boolean} over whether the game has ended
   */
  async show(events, over) {
    this.delay.start(Math.min(events.length, MAX_ANIMATED_MOVES));
    for (const [index, event] of events.entries()) {
      if (this.signal.aborted) return;
      this.logEvent(event);
      const animated = events.length - index <= MAX_ANIMATED_MOVES;
      if (event.kind === 'showdown' && event.hands[this.table.seat]) {
        announce(this.eventText(event));
        if (!over || index + 1 < events.length) await this.showdown(event);
      } else if (animated) {
        announce(this.eventText(event));
        await this.step(event, index + 1 < events.length);
      }
    }
  }

  /**
   * @param {GameEvent} event
   * @param {boolean} more whether more events follow
   */
  async step(event, more) {
    if (!event.view) return; // the next event has the view
    this.scene = this.sceneOf(event.view);
    this.redraw(event.player === null ? undefined : String(event.player));
    if (more && event.player !== this.table.seat) await this.delay.pause();
  }

  /**
   * @param {any} view before the showdown
   * @param {GameEvent} event
   */
  showdownScene(view, event) {
    return { ...this.sceneOf(showdownView(view, event)), showdown: event };
  }

  /**
   * Show all hands of the finished round until the player continues.
   * @param {GameEvent} event
   */
  async showdown(event) {
    this.scene = this.showdownScene(this.scene.view, event);
    this.redraw();
    await new Promise((done) => {
      const continueButton = this.button('Continue', () => done(null));
      continueButton.classList.add('primary');
      continueButton.dataset.key = 'continue';
      fill(this.footer, h('div.actions', null, continueButton));
      continueButton.focus({ preventScroll: true });
      this.signal.addEventListener('abort', done);
    });
    fill(this.footer);
    this.felt?.focus({ preventScroll: true });
  }

  /** @param {GameEvent} event */
  eventText(event) {
    return eventText(event, this.scene);
  }

  /** @param {GameEvent} event */
  logEvent(event) {
    this.eventLog.add(this.eventText(event));
    this.out ??= lastRound([event], this.table.seat);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key !== 'Escape') return;
    this.delay.skip();
    if (this.view.escape?.()) this.redraw();
  }

  /**
   * @param {string} text
   * @param {() => void} onclick
   */
  button(text, onclick) {
    return h('button', { type: 'button', onclick }, text);
  }
}
