/** Advice of an agent: loaded when the panel is open, and again at each decision. */

import { ApiError, getAdvice } from './api.js';
import { beliefTable } from './belief.js';
import { withSuitSymbols } from './cards.js';
import { fill, h } from './dom.js';
import { bar, formatCount, formatEstimate, formatPercent, resultUnit } from './formatting.js';
import { observationView } from './observation.js';
import { actionList, verdictText } from './action_list.js';

/** @typedef {import('./types.js').Table} Table */
/** @typedef {import('./types.js').Advice} Advice */

export class AdvicePanel {
  /**
   * @param {import('./types.js').GameChoice} game
   * @param {AbortSignal} signal
   * @param {(probabilities: Map<number, number> | null) => void} onProbabilities called with the agent's policy by action
   */
  constructor(game, signal, onProbabilities) {
    this.signal = signal;
    this.onProbabilities = onProbabilities;
    /** @type {Table | null} */
    this.table = null;
    this.requestId = 0;
    this.rejected = false; // the selected agent cannot advise: do not repeat the request
    this.body = h('div.advice', { 'aria-live': 'off' });
    this.agentSelect = agentSelect(game, () => {
      this.rejected = false;
      this.refresh();
    });
    this.details = /** @type {HTMLDetailsElement} */ (
      h('details', { ontoggle: () => this.refresh() }, h('summary', null, 'What would the agent do?'), this.agentSelect.root, this.body)
    );
    this.root = h('section.box.panel', { 'aria-label': 'Advice' }, this.details);
    this.agentSelect.refresh();
  }

  /** @param {Table} table */
  update(table) {
    this.table = table;
    this.root.hidden = table.status === 'over' || table.deal.counts;
    this.refresh();
  }

  /** Mark the advice as outdated while other players move. */
  clear() {
    this.requestId += 1;
    this.table = null;
    this.body.classList.toggle('outdated', !this.rejected);
  }

  async refresh() {
    const { table } = this;
    this.requestId += 1;
    const requestId = this.requestId;
    if (!this.details.open) this.onProbabilities(null);
    if (!this.details.open || !table || this.root.hidden || this.rejected) return;
    this.body.classList.add('outdated');
    if (this.body.childElementCount === 0) fill(this.body, h('p.muted', { role: 'status' }, 'Computing advice …'));
    try {
      const advice = await getAdvice(table.id, this.agentSelect.chosen(), this.signal);
      if (requestId !== this.requestId) return;
      const open = new Set([...this.body.querySelectorAll('details[open]')].map((part) => part.className));
      fill(this.body, ...adviceContent(advice, table));
      for (const part of this.body.querySelectorAll('details')) part.open = open.has(part.className);
      this.onProbabilities(new Map(advice.options.filter(({ probability }) => probability !== null).map((option) => [option.action, option.probability ?? 0])));
    } catch (/** @type {any} */ error) {
      if (this.signal.aborted || requestId !== this.requestId) return;
      this.rejected = error instanceof ApiError && error.status === 422;
      this.onProbabilities(null);
      fill(this.body, h('p.error', { role: 'alert' }, error.message));
    }
    this.body.classList.remove('outdated');
  }
}

/**
 * Selects the agent and its search.
 * @param {import('./types.js').GameChoice} game
 * @param {() => void} onchange
 */
function agentSelect(game, onchange) {
  const option = (/** @type {string} */ value, /** @type {string} */ title, selected = false) => h('option', { value, selected }, title);
  const agents = /** @type {HTMLSelectElement} */ (
    h('select', { onchange: () => refresh() }, game.agents.map(({ agent, title }) => option(agent, title, agent === game.advisor)))
  );
  const searchSelect = /** @type {HTMLSelectElement} */ (h('select', { 'aria-label': 'Search of the agent', onchange }));
  const refresh = () => {
    const { searches } = game.agents[agents.selectedIndex];
    const offered = game.searches.filter(({ search }) => searches.includes(search));
    fill(searchSelect, option('', 'without search'), ...offered.map(({ search, title }) => option(search, title, search === searchSelect.value)));
    searchSelect.hidden = offered.length === 0;
    onchange();
  };
  const root = h('div.opponent', null, h('label.field', null, h('span', null, 'Agent'), agents), searchSelect);
  return { root, refresh, chosen: () => ({ agent: agents.value, search: searchSelect.value || null }) };
}

/**
 * @param {Advice} advice
 * @param {Table} table
 */
function adviceContent(advice, table) {
  const { agent, deals, played_by, simulations } = advice;
  return [
    h('p', null, `${agent.title} plays `, h('b', null, withSuitSymbols(advice.text)), '. ', verdictText(advice.verdict, deals, advice.options.length)),
    h('div.win-probability', null, advice.win_probability !== null && [h('span', null, 'Win probability'), bar(advice.win_probability, 'win'), h('b', null, formatPercent(advice.win_probability))]),
    h('p', null, 'Expected result ', h('b', null, formatEstimate(table.game, advice.value, advice.margin)), resultUnit(table.game, table.seats.length)),
    h('h3', null, 'Actions'),
    actionList(advice.options, advice.action, table.game),
    h('p.muted', null, `Below each option: its mean result with the 95 % interval on the same ${deals} deals of the hidden cards, played out by ${played_by} in every seat.`, simulations > 0 && ` The search made ${formatCount(simulations ?? 0, 'simulation')}.`),
    beliefTable(advice, table),
    observationView(advice.observation),
  ];
}
