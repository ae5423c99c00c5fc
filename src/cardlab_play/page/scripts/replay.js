/** Replay of a finished game with all hands open and a review of the player's moves. */

import { getReplay, getTable } from './api.js';
import { withSuitSymbols } from './cards.js';
import { fill, h } from './dom.js';
import { countsWins, formatAdvantage, lossColumn } from './formatting.js';
import { makeGame } from './games/catalogue.js';
import { distinctSeats } from './games/pieces.js';
import { animateCards } from './animation.js';
import { actionList, listNote, recommendation } from './action_list.js';
import { parText } from './result.js';
import { valueChart } from './value_chart.js';
import { eventText, lastRound, showdownView } from './event_text.js';

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
    this.view = makeGame(table.game, { choose: () => {}, redraw: () => {} });
    this.board = h('div.board-frame');
    this.promptElement = h('p.prompt', { role: 'status' });
    this.caption = h('p.muted.prompt');
    this.review = h('div.review', { 'aria-live': 'polite' });
    this.slider = /** @type {HTMLInputElement} */ (
      h('input', { type: 'range', min: 0, max: replay.frames.length - 1, value: 0, 'aria-label': 'Move', oninput: () => this.showFrame(Number(this.slider.value)) })
    );
    this.chart = valueChart(replay, (index) => this.showFrame(index));
    /** @type {Map<number, HTMLElement>} the buttons of the costliest moves, by the frame before the move */
    this.costly = new Map();
    this.player = h('button', { type: 'button', onclick: () => this.play() }, 'Play');
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.timer = undefined;
    signal.addEventListener('abort', () => clearInterval(this.timer));
  }

  /** @param {HTMLElement} main */
  show(main) {
    const felt = h('section.felt.replay', { 'aria-label': 'Table' }, h('div', null, this.promptElement, this.caption), this.board);
    felt.dataset.game = this.table.game;
    const controls = h('div.row.controls', null, this.stepper('‹', -1, 'Previous move'), this.slider, this.stepper('›', 1, 'Next move'), this.player);
    const links = h('div.row', null, h('a.button', { href: `#/table/${this.table.id}` }, 'Back to the result'), h('a.button', { href: '#/' }, 'Another game'));
    const { result } = this.replay;
    const aside = h(
      'aside.side',
      { 'aria-label': 'Details' },
      h('div.box', null, h('h2', null, result.text), result.par && h('p', null, result.par.payoff === null ? `${result.par.title} is still playing this deal.` : parText(this.table, result.par.title, result.par.payoff)), this.chart.picture, this.costlyList()),
      h('div.box', null, h('h2', null, 'The move played here'), this.review),
    );
    document.addEventListener('keydown', (event) => this.key(event), { signal: this.signal });
    fill(main, h('div.table', null, h('div.centre', null, h('h1.visually-hidden', null, `${this.table.title}: replay`), felt, controls, links), aside));
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
    const { frames, result } = this.replay;
    const next = frames[this.at + 1];
    const scene = this.scene();
    const text = next || scene.showdown ? eventText(next ?? scene.showdown, scene) : result.text;
    this.slider.value = String(this.at);
    this.slider.setAttribute('aria-valuetext', `${this.at} of ${frames.length - 1}: ${text}`);
    this.promptElement.textContent = text;
    this.caption.textContent = !next ? 'The end' : scene.showdown ? 'All hands are open' : 'The table before this move';
    animateCards(this.board, () => {
      fill(this.board, this.view.draw(scene));
      for (const button of this.board.querySelectorAll('button')) button.disabled = true; // it marks the move that was played
    });
    fill(this.review, ...reviewContent(next, this.replay));
    this.chart.mark(this.at);
    for (const [at, button] of this.costly) button.setAttribute('aria-current', String(at === this.at));
  }

  /** The table after the frame, which is the one before the next move. @returns {import('./types.js').Scene} */
  scene() {
    const { frames } = this.replay;
    const [before, frame, next] = [frames[this.at - 1], frames[this.at], frames[this.at + 1]];
    const rest = { seat: this.table.seat, seats: this.seats, advised: null, hands: frame.hands, out: lastRound(frames.slice(0, this.at + 1), this.table.seat) };
    if (next?.kind === 'showdown') return { ...rest, view: showdownView(frame.view, next), legal: [], showdown: next };
    if (!next && frame.kind === 'showdown') return { ...rest, view: showdownView(before.view, frame), legal: [], showdown: frame };
    return { ...rest, view: frame.view, legal: next?.move ? [next.move] : [], showdown: null };
  }

  costlyList() {
    const { frames, costly_moves, game, result } = this.replay;
    const found = costly_moves.map((number) => frames.findIndex((frame) => frame.number === number && frame.review)).filter((index) => index >= 0);
    const lost = lossColumn(game, result.payoffs.length, found.map((index) => frames[index].review?.cost ?? 0));
    if (found.length === 0) return h('p.muted', null, 'No move of yours was clearly worse than the agent’s choice.');
    return h(
      'div',
      null,
      h('h3', null, `Your costliest moves, in ${countsWins(game) ? 'chance to win' : 'points'}`),
      h(
        'ol.costly-moves',
        null,
        found.map((index) => {
          const { text, review } = frames[index];
          const button = h('button.plain', { type: 'button', onclick: () => this.showFrame(index - 1) }, h('span', null, withSuitSymbols(text)), h('b', null, lost(review?.cost ?? 0)));
          this.costly.set(index - 1, button);
          return h('li', null, button);
        }),
      ),
    );
  }
}

/**
 * @param {Frame | undefined} frame of the move
 * @param {Replay} replay
 */
function reviewContent(frame, { agent, deals, game, played_by, result }) {
  if (!frame) return [h('p.muted', null, 'The game is over.')];
  const { review } = frame;
  if (!review) return [h('p.muted', null, 'This was not your decision.')];
  const { best, cost, margin, verdict, options, costly } = review;
  if (!best || !verdict) return [h('p', null, 'You had no choice.')];
  const players = result.payoffs.length;
  const choice = { game, players, agent: agent.title, best: best.action, verdict };
  const chosen = options.find((option) => option.chosen)?.action;
  return [
    recommendation(verdict, best.text, choice, options.length),
    chosen !== best.action && chosen !== verdict.action && h('p', null, `Your move ${formatAdvantage(game, players, -cost, margin)} ${agent.title}’s choice${costly ? '' : ', but the difference may be luck'}.`),
    actionList(options, choice),
    listNote(deals, played_by, players, agent.title),
  ];
}
