/** Replay of a finished game with all hands open and a review of the player's moves. */

import { getReplay, getTable } from './api.js';
import { withSuitSymbols } from './cards.js';
import { fill, h } from './dom.js';
import { columnFormatter, formatOutcome, formatPoints, resultFormatter } from './formatting.js';
import { GAMES } from './games/catalogue.js';
import { distinctSeats } from './games/pieces.js';
import { animateCards } from './animation.js';
import { actionList } from './action_list.js';
import { valueChart } from './value_chart.js';
import { eventText, showdownView } from './event_text.js';

/** @typedef {import('./types.js').Frame} Frame */
/** @typedef {import('./types.js').Replay} Replay */
/** @typedef {import('./types.js').Table} Table */

const STEP_MS = 900; // per move during automatic play

/**
 * @param {HTMLElement} main
 * @param {import('./types.js').PageContext} context
 */
export async function showReplay(main, context) {
  const table = await getTable(context.id, context.signal);
  context.setTitle(`${table.title}: replay`);
  fill(main, h('p.muted', { role: 'status' }, 'Reviewing your moves …'));
  const replay = await getReplay(context.id, context.signal);
  if (context.signal.aborted) return;
  new ReplayView(table, replay, context.signal).show(main);
}

class ReplayView {
  /**
   * @param {Table} table
   * @param {Replay} replay
   * @param {AbortSignal} signal
   */
  constructor(table, replay, signal) {
    this.table = table;
    this.replay = replay;
    this.signal = signal;
    this.at = 0;
    this.seats = distinctSeats(table.seats, table.seat);
    this.view = GAMES[table.game]({ choose: () => {}, redraw: () => {} });
    this.board = h('div.board-frame');
    this.promptElement = h('p.prompt', { role: 'status' });
    this.review = h('div.review', { 'aria-live': 'polite' });
    this.slider = /** @type {HTMLInputElement} */ (
      h('input', { type: 'range', min: 0, max: replay.frames.length - 1, value: 0, 'aria-label': 'Move', oninput: () => this.showFrame(Number(this.slider.value)) })
    );
    this.chart = valueChart(replay, (index) => this.showFrame(index));
    this.player = h('button', { type: 'button', onclick: () => this.play() }, 'Play');
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.timer = undefined;
    signal.addEventListener('abort', () => clearInterval(this.timer));
  }

  /** @param {HTMLElement} main */
  show(main) {
    const felt = h('section.felt', { 'aria-label': 'Table' }, this.promptElement, this.board);
    felt.dataset.game = this.table.game;
    const controls = h('div.row.controls', null, this.stepper('‹', -1, 'Previous move'), this.slider, this.stepper('›', 1, 'Next move'), this.player);
    const { result } = this.replay;
    const aside = h(
      'aside.side',
      { 'aria-label': 'Details' },
      h('div.box', null, h('h2', null, result.text), result.par && h('p', null, `${result.par.title} on this deal: ${result.par.payoff === null ? 'still playing' : formatOutcome(this.table.game, result.par.payoff)}`), this.chart.picture, this.dropList()),
      h('div.box', null, h('h2', null, 'This move'), this.review),
      h('div.row', null, h('a.button', { href: `#/table/${this.table.id}` }, 'Back to the result'), h('a.button', { href: '#/' }, 'Another game')),
    );
    document.addEventListener('keydown', (event) => this.key(event), { signal: this.signal });
    fill(main, h('div.table', null, h('div.centre', null, h('h1.visually-hidden', null, `${this.table.title}: replay`), felt, controls), aside));
    this.showFrame(0);
  }

  /**
   * @param {string} symbol
   * @param {number} step
   * @param {string} label
   */
  stepper(symbol, step, label) {
    return h('button', { type: 'button', 'aria-label': label, onclick: () => this.showFrame(this.at + step) }, symbol);
  }

  /**
   * Arrow keys step through the replay, except in input elements.
   * @param {KeyboardEvent} event
   */
  key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const target = /** @type {HTMLElement} */ (event.target);
    if (!step || event.altKey || event.ctrlKey || event.metaKey || target.closest('input, select, textarea')) return;
    event.preventDefault();
    this.showFrame(this.at + step);
  }

  play() {
    if (this.timer !== undefined) {
      this.stop();
      return;
    }
    if (this.at === this.replay.frames.length - 1) this.showFrame(0);
    this.player.textContent = 'Stop';
    this.timer = setInterval(() => (this.at < this.replay.frames.length - 1 ? this.showFrame(this.at + 1) : this.stop()), STEP_MS);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = undefined;
    this.player.textContent = 'Play';
  }

  /** @param {number} index of the frame */
  showFrame(index) {
    this.at = Math.max(0, Math.min(this.replay.frames.length - 1, index));
    const frame = this.replay.frames[this.at];
    this.slider.value = String(this.at);
    this.slider.setAttribute('aria-valuetext', `${this.at} of ${this.replay.frames.length - 1}: ${frame.text}`);
    this.promptElement.textContent = this.eventText(frame);
    animateCards(this.board, () => fill(this.board, this.view.draw(this.sceneOf(frame))));
    fill(this.review, ...reviewContent(frame, this.table.game));
    this.chart.mark(this.at);
  }

  /** @param {Frame} frame */
  sceneOf(frame) {
    const showdown = frame.kind === 'showdown' ? frame : null;
    const before = this.replay.frames.slice(0, this.at + 1).findLast(({ view, kind }) => view && kind !== 'showdown')?.view;
    const view = showdown ? showdownView(before, showdown) : frame.view ?? before;
    return { view, legal: [], seat: this.table.seat, seats: this.seats, probabilities: null, hands: frame.hands, showdown };
  }

  /** @param {Frame} frame */
  eventText(frame) {
    return eventText(frame, this.sceneOf(frame));
  }

  dropList() {
    const { frames, largest_drops } = this.replay;
    const found = largest_drops.map((number) => frames.findIndex((frame) => frame.number === number && frame.review)).filter((index) => index >= 0);
    const format = columnFormatter('', found.map((index) => frames[index].review?.drop ?? 0));
    if (found.length === 0) return h('p.muted', null, 'Your expected result never dropped.');
    return h(
      'div',
      null,
      h('h3', null, 'Largest drops of your expected result'),
      h(
        'ol.drops',
        null,
        found.map((index) => {
          const { text, review } = frames[index];
          return h('li', null, h('button.plain', { type: 'button', onclick: () => this.showFrame(index) }, h('span', null, withSuitSymbols(text)), h('b', null, format(-(review?.drop ?? 0)))));
        }),
      ),
    );
  }
}

/**
 * @param {Frame} frame
 * @param {string} game
 */
function reviewContent({ review, kind }, game) {
  if (!review) return [h('p.muted', null, kind === 'deal' ? 'The cards were dealt.' : 'This was not your decision.')];
  const chosen = review.options.find((option) => option.chosen);
  return [
    h('p', null, 'Expected result ', h('b', null, resultFormatter(game)(review.value)), review.drop > 0 && [', drop of ', h('b', null, formatPoints(review.drop).slice(1)), ' until your next decision']),
    chosen?.action === review.best.action
      ? h('p', null, 'The agent chooses the same action.')
      : h('p', null, 'The agent chooses ', h('b', null, withSuitSymbols(review.best.text)), review.regret > 0 && `, which is ${formatPoints(review.regret).slice(1)} better`),
    actionList(review.options, review.best.action, game),
  ];
}
