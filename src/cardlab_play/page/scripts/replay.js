/** Replay of a finished game with all hands open and a review of the player's moves. */

import { getReplay, getTable } from './api.js';
import { withSuitSymbols } from './cards.js';
import { fill, h } from './dom.js';
import { columnFormatter, formatDifference, resultFormatter, resultUnit } from './formatting.js';
import { GAMES } from './games/catalogue.js';
import { distinctSeats } from './games/pieces.js';
import { animateCards } from './animation.js';
import { actionList, verdictText } from './action_list.js';
import { parText } from './result.js';
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
      h('div.box', null, h('h2', null, result.text), result.par && h('p', null, result.par.payoff === null ? `${result.par.title} is still playing this deal.` : parText(this.table, result.par.title, result.par.payoff)), this.chart.picture, this.costlyList()),
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
    fill(this.review, ...reviewContent(frame, this.replay));
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

  costlyList() {
    const { frames, costly_moves } = this.replay;
    const found = costly_moves.map((number) => frames.findIndex((frame) => frame.number === number && frame.review)).filter((index) => index >= 0);
    const format = columnFormatter('', found.map((index) => frames[index].review?.cost ?? 0));
    if (found.length === 0) return h('p.muted', null, 'No move of yours was clearly worse than the move of the agent.');
    return h(
      'div',
      null,
      h('h3', null, 'Your costliest moves'),
      h(
        'ol.costly-moves',
        null,
        found.map((index) => {
          const { text, review } = frames[index];
          return h('li', null, h('button.plain', { type: 'button', onclick: () => this.showFrame(index) }, h('span', null, withSuitSymbols(text)), h('b', null, format(-(review?.cost ?? 0)))));
        }),
      ),
    );
  }
}

/**
 * @param {Frame} frame
 * @param {Replay} replay
 */
function reviewContent({ review, kind }, { agent, deals, game, played_by, result }) {
  if (!review) return [h('p.muted', null, kind === 'deal' ? 'The cards were dealt.' : 'This was not your decision.')];
  const { best, cost, verdict } = review;
  const value = h('p', null, 'Expected result ', h('b', null, resultFormatter(game)(review.value)), resultUnit(game, result.payoffs.length));
  if (!best || !verdict) return [value, h('p', null, 'You had no choice.')];
  const compared = `${formatDifference(cost, review.margin)} ${cost < 0 ? 'worse' : 'better'} than your move on the same ${deals} deals${review.costly ? '' : ', which may be chance'}`;
  return [
    value,
    review.options.some((option) => option.chosen && option.action === best.action)
      ? h('p', null, `${agent.title} plays the same. `, verdictText(verdict, deals, review.options.length))
      : h('p', null, `${agent.title} plays `, h('b', null, withSuitSymbols(best.text)), `: ${compared}.`),
    actionList(review.options, best.action, game),
    h('p.muted', null, `Mean results with 95 % intervals, played out by ${played_by} in every seat.`),
  ];
}
