/** A finished game, move by move, with all hands open and the moves where the person's value dropped most. */

import { getReplay, getTable } from './api.js';
import { withSigns } from './cards.js';
import { fill, h } from './dom.js';
import { columnOf, outcomeOf, points, resultsOf } from './figures.js';
import { GAMES } from './games/catalogue.js';
import { distinctSeats } from './games/pieces.js';
import { glide } from './motion.js';
import { optionsOf } from './options.js';
import { courseOf } from './course.js';
import { sentenceOf, showdownView } from './telling.js';

/** @typedef {import('./types.js').Frame} Frame */
/** @typedef {import('./types.js').Replay} Replay */
/** @typedef {import('./types.js').Table} Table */

const STEP = 900; // ms for each move when it plays by itself

/**
 * @param {HTMLElement} main
 * @param {import('./types.js').Visit} visit
 */
export async function showReplay(main, visit) {
  const table = await getTable(visit.id, visit.signal);
  visit.entitle(`${table.title}: looking back`);
  fill(main, h('p.quiet', { role: 'status' }, 'The agent judges your moves …'));
  const replay = await getReplay(visit.id, visit.signal);
  if (visit.signal.aborted) return;
  new LookBack(table, replay, visit.signal).show(main);
}

class LookBack {
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
    this.board = h('div.board-of');
    this.words = h('p.prompt', { role: 'status' });
    this.judged = h('div.judged', { 'aria-live': 'polite' });
    this.slider = /** @type {HTMLInputElement} */ (
      h('input', { type: 'range', min: 0, max: replay.frames.length - 1, value: 0, 'aria-label': 'Move', oninput: () => this.go(Number(this.slider.value)) })
    );
    this.course = courseOf(replay, (index) => this.go(index));
    this.player = h('button', { type: 'button', onclick: () => this.play() }, 'Play');
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.timer = undefined;
    signal.addEventListener('abort', () => clearInterval(this.timer));
  }

  /** @param {HTMLElement} main */
  show(main) {
    const felt = h('section.felt', { 'aria-label': 'Table' }, this.words, this.board);
    felt.dataset.game = this.table.game;
    const controls = h('div.row.controls', null, this.stepper('‹', -1, 'One move back'), this.slider, this.stepper('›', 1, 'One move on'), this.player);
    const { result } = this.replay;
    const aside = h(
      'aside.side',
      { 'aria-label': 'Beside the table' },
      h('div.box', null, h('h2', null, result.text), result.par && h('p', null, `${result.par.title} on the same deal: ${result.par.payoff === null ? 'still playing' : outcomeOf(this.table.game, result.par.payoff)}`), this.course.picture, this.worst()),
      h('div.box', null, h('h2', null, 'This move'), this.judged),
      h('div.row', null, h('a.button', { href: `#/table/${this.table.id}` }, 'To the result'), h('a.button', { href: '#/' }, 'Another game')),
    );
    document.addEventListener('keydown', (event) => this.key(event), { signal: this.signal });
    fill(main, h('div.table', null, h('div.centre', null, h('h1.spoken', null, `${this.table.title}: looking back`), felt, controls), aside));
    this.go(0);
  }

  /**
   * @param {string} sign
   * @param {number} step
   * @param {string} label
   */
  stepper(sign, step, label) {
    return h('button', { type: 'button', 'aria-label': label, onclick: () => this.go(this.at + step) }, sign);
  }

  /**
   * Arrow keys step from anywhere on the page but where they mean something of their own.
   * @param {KeyboardEvent} event
   */
  key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const target = /** @type {HTMLElement} */ (event.target);
    if (!step || event.altKey || event.ctrlKey || event.metaKey || target.closest('input, select, textarea')) return;
    event.preventDefault();
    this.go(this.at + step);
  }

  play() {
    if (this.timer !== undefined) {
      this.stop();
      return;
    }
    if (this.at === this.replay.frames.length - 1) this.go(0);
    this.player.textContent = 'Stop';
    this.timer = setInterval(() => (this.at < this.replay.frames.length - 1 ? this.go(this.at + 1) : this.stop()), STEP);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = undefined;
    this.player.textContent = 'Play';
  }

  /** @param {number} index of the frame */
  go(index) {
    this.at = Math.max(0, Math.min(this.replay.frames.length - 1, index));
    const frame = this.replay.frames[this.at];
    this.slider.value = String(this.at);
    this.slider.setAttribute('aria-valuetext', `${this.at} of ${this.replay.frames.length - 1}: ${frame.text}`);
    this.words.textContent = this.sentence(frame);
    glide(this.board, () => fill(this.board, this.view.draw(this.sceneOf(frame))));
    fill(this.judged, ...judgementOf(frame, this.table.game));
    this.course.mark(this.at);
  }

  /** @param {Frame} frame */
  sceneOf(frame) {
    const showdown = frame.kind === 'showdown' ? frame : null;
    const before = this.replay.frames.slice(0, this.at + 1).findLast(({ view, kind }) => view && kind !== 'showdown')?.view;
    const view = showdown ? showdownView(before, showdown) : frame.view ?? before;
    return { view, legal: [], seat: this.table.seat, seats: this.seats, shares: null, hands: frame.hands, showdown };
  }

  /** @param {Frame} frame */
  sentence(frame) {
    return sentenceOf(frame, this.sceneOf(frame));
  }

  worst() {
    const { frames, worst } = this.replay;
    const found = worst.map((number) => frames.findIndex((frame) => frame.number === number && frame.judged)).filter((index) => index >= 0);
    const written = columnOf('', found.map((index) => frames[index].judged?.dropped ?? 0));
    if (found.length === 0) return h('p.quiet', null, 'Your value never dropped.');
    return h(
      'div',
      null,
      h('h3', null, 'Where your value dropped most'),
      h(
        'ol.worst',
        null,
        found.map((index) => {
          const { text, judged } = frames[index];
          return h('li', null, h('button.plain', { type: 'button', onclick: () => this.go(index) }, h('span', null, withSigns(text)), h('b', null, written(-(judged?.dropped ?? 0)))));
        }),
      ),
    );
  }
}

/**
 * @param {Frame} frame
 * @param {string} game
 */
function judgementOf({ judged, kind }, game) {
  if (!judged) return [h('p.quiet', null, kind === 'deal' ? 'The cards have been dealt.' : 'Not a decision of yours.')];
  const chosen = judged.options.find((option) => option.chosen);
  return [
    h('p', null, 'You could expect ', h('b', null, resultsOf(game)(judged.value)), judged.dropped > 0 && [', it fell by ', h('b', null, points(judged.dropped).slice(1)), ' until your next decision']),
    chosen?.action === judged.best.action
      ? h('p', null, 'The agent would have done the same.')
      : h('p', null, 'The agent would have chosen ', h('b', null, withSigns(judged.best.text)), judged.cost > 0 && `, worth ${points(judged.cost).slice(1)} more`),
    optionsOf(judged.options, judged.best.action, game),
  ];
}
