/** What the agent would do in the person's place: fetched on demand, and again at each decision while it is open. */

import { Refusal, getAdvice } from './api.js';
import { beliefOf } from './belief.js';
import { fill, h } from './dom.js';
import { bar, percent, plusMinus, resultsOf } from './figures.js';
import { inputOf } from './input.js';
import { optionsOf, sourceOf } from './options.js';

/** @typedef {import('./types.js').Table} Table */
/** @typedef {import('./types.js').Advice} Advice */

export class Panel {
  /**
   * @param {import('./types.js').GameChoice} game
   * @param {AbortSignal} signal
   * @param {(shares: Map<number, number> | null) => void} light tells the table how likely each action is
   */
  constructor(game, signal, light) {
    this.signal = signal;
    this.light = light;
    /** @type {Table | null} */
    this.table = null;
    this.asked = 0;
    this.refused = false; // the agent that is chosen cannot advise: no use in asking it again
    this.body = h('div.advice', { 'aria-live': 'off' });
    this.judge = agentSelect(game, () => {
      this.refused = false;
      this.ask();
    });
    this.details = /** @type {HTMLDetailsElement} */ (
      h('details', { ontoggle: () => this.ask() }, h('summary', null, 'What would the agent do?'), this.judge.root, this.body)
    );
    this.root = h('section.box.panel', { 'aria-label': 'Advice' }, this.details);
    this.judge.offer();
  }

  /** @param {Table} table as it is now, with the person to move or over */
  follow(table) {
    this.table = table;
    this.root.hidden = table.status === 'over';
    this.ask();
  }

  /** While others move there is nothing to advise. */
  rest() {
    this.asked += 1;
    this.table = null;
    this.body.classList.toggle('old', !this.refused);
  }

  async ask() {
    const { table } = this;
    this.asked += 1;
    const ticket = this.asked;
    if (!this.details.open) this.light(null);
    if (!this.details.open || !table || table.status === 'over' || this.refused) return;
    this.body.classList.add('old');
    if (this.body.childElementCount === 0) fill(this.body, h('p.quiet', { role: 'status' }, 'The agent thinks …'));
    try {
      const advice = await getAdvice(table.id, this.judge.chosen(), this.signal);
      if (ticket !== this.asked) return;
      const open = new Set([...this.body.querySelectorAll('details[open]')].map((part) => part.className));
      fill(this.body, ...adviceOf(advice, table));
      for (const part of this.body.querySelectorAll('details')) part.open = open.has(part.className);
      this.light(new Map(advice.options.filter(({ probability }) => probability !== null).map((option) => [option.action, option.probability ?? 0])));
    } catch (/** @type {any} */ error) {
      if (this.signal.aborted || ticket !== this.asked) return;
      this.refused = error instanceof Refusal && error.status === 422;
      this.light(null);
      fill(this.body, h('p.trouble', { role: 'alert' }, error.message));
    }
    this.body.classList.remove('old');
  }
}

/**
 * Who is asked, alone or inside a search.
 * @param {import('./types.js').GameChoice} game
 * @param {() => void} onchange
 */
function agentSelect(game, onchange) {
  const option = (/** @type {string} */ value, /** @type {string} */ title, selected = false) => h('option', { value, selected }, title);
  const agents = /** @type {HTMLSelectElement} */ (
    h('select', { onchange: () => offer() }, game.agents.map(({ agent, title }) => option(agent, title, agent === game.advisor)))
  );
  const how = /** @type {HTMLSelectElement} */ (h('select', { 'aria-label': 'Search of the agent', onchange }));
  const offer = () => {
    const { searches } = game.agents[agents.selectedIndex];
    const offered = game.searches.filter(({ search }) => searches.includes(search));
    fill(how, option('', 'without search'), ...offered.map(({ search, title }) => option(search, title, search === how.value)));
    how.hidden = offered.length === 0;
    onchange();
  };
  const root = h('div.rival', null, h('label.field', null, h('span', null, 'Agent'), agents), how);
  return { root, offer, chosen: () => ({ agent: agents.value, search: how.value || null }) };
}

/**
 * @param {Advice} advice
 * @param {Table} table
 */
function adviceOf(advice, table) {
  const source = advice.deals > 0 ? `if it plays on for all: ${advice.deals} games from what you know` : '';
  return [
    h('div.chance', null, advice.win !== null && [h('span', null, 'Chance to win'), bar(advice.win, 'win'), h('b', null, percent(advice.win))]),
    h('p', null, 'Expected result ', h('b', null, resultsOf(table.game)(advice.value)), plusMinus(advice.margin), h('span.quiet', null, ` ${source}`)),
    h('h3', null, 'Options'),
    optionsOf(advice.options, advice.action, table.game, sourceOf(advice)),
    beliefOf(advice, table),
    inputOf(advice.input),
  ];
}
