/** Advice of an agent: loaded when the panel is open, and again at each decision. */

import { ApiError, getAdvice } from './api.js';
import { beliefTable } from './belief.js';
import { fill, h } from './dom.js';
import { bar, countsWins, formatEstimate, formatPercent } from './formatting.js';
import { actionList, listNote, recommendation } from './action_list.js';

/** @typedef {import('./types.js').Table} Table */
/** @typedef {import('./types.js').Advice} Advice */

export class AdvicePanel {
  /**
   * @param {import('./types.js').GameChoice} game
   * @param {AbortSignal} signal
   * @param {(action: number | null) => void} onAdvice called with the recommended action
   */
  constructor(game, signal, onAdvice) {
    this.signal = signal;
    this.onAdvice = onAdvice;
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
      h('details', { ontoggle: () => this.refresh() }, h('summary', null, 'Compare your moves'), this.agentSelect.root, this.body)
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
    if (!this.details.open) this.onAdvice(null);
    if (!this.details.open || !table || this.root.hidden || this.rejected) return;
    this.body.classList.add('outdated');
    if (this.body.childElementCount === 0) fill(this.body, h('p.muted', { role: 'status' }, 'Playing out each of your moves …'));
    try {
      const advice = await getAdvice(table.id, this.agentSelect.chosen(), this.signal);
      if (requestId !== this.requestId) return;
      const open = new Set([...this.body.querySelectorAll('details[open]')].map((part) => part.className));
      fill(this.body, ...adviceContent(advice, table));
      for (const part of this.body.querySelectorAll('details')) part.open = open.has(part.className);
      this.onAdvice(advice.verdict.recommended.action);
    } catch (/** @type {any} */ error) {
      if (this.signal.aborted || requestId !== this.requestId) return;
      this.rejected = error instanceof ApiError && error.status === 422;
      this.onAdvice(null);
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
  const searchSelect = /** @type {HTMLSelectElement} */ (h('select', { 'aria-label': 'Thinking ahead', onchange }));
  const refresh = () => {
    const { searches } = game.agents[agents.selectedIndex];
    const offered = game.searches.filter(({ search }) => searches.includes(search));
    fill(searchSelect, option('', 'plays at once'), ...offered.map(({ search, title }) => option(search, `thinks ahead: ${title}`, search === searchSelect.value)));
    searchSelect.hidden = offered.length === 0;
    onchange();
  };
  const root = h('div.opponent', null, h('label.field', null, h('span', null, 'Adviser'), agents), searchSelect);
  return { root, refresh, chosen: () => ({ agent: agents.value, search: searchSelect.value || null }) };
}

/**
 * @param {Advice} advice
 * @param {Table} table
 */
function adviceContent(advice, table) {
  const { agent, deals, played_by, options, verdict } = advice;
  const players = table.seats.length;
  const choice = { game: table.game, players, agent: agent.title, best: advice.action, verdict };
  const even = players > 1 ? ' points (0: as good as the others)' : ' points';
  return [
    recommendation(verdict, advice.text, choice, options.length),
    advice.win_probability !== null && h('div.win-probability', null, h('span', null, 'Chance to win with it'), bar(advice.win_probability, 'win'), h('b', null, formatPercent(advice.win_probability))),
    !countsWins(table.game) && h('p', null, 'Average result with it ', h('b', null, formatEstimate(table.game, advice.value, advice.margin)), even),
    options.length > 1 && actionList(options, choice),
    options.length > 1 && listNote(deals, played_by, players),
    beliefTable(advice, table),
  ];
}
