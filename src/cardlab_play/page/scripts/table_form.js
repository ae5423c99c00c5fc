/** Form for a new table: game options, seat, opponents by level or by name, and practice. */

import { ApiError, openTable } from './api.js';
import { fill, h } from './dom.js';
import { waitLine } from './wait_line.js';

/** @typedef {import('./types.js').GameChoice} GameChoice */

const ALL = 'all'; // key for all other seats

export class TableForm {
  /**
   * @param {GameChoice} game
   * @param {{table: string | null} | null} daily
   */
  constructor(game, daily) {
    this.game = game;
    this.daily = daily;
    /** @type {Record<string, any>} */
    this.options = Object.fromEntries(game.options.map((option) => [option.key, option.default]));
    this.seat = 0;
    this.different = false;
    this.byName = false; // whether the agent is chosen by its name instead of a level
    this.practice = h('input', { type: 'checkbox' });
    /** @type {Map<string, {agent: string, search: string | null}>} by seat or ALL */
    this.chosen = new Map();
    this.opponents = h('div.opponents');
    this.errorLine = h('p.error', { role: 'alert', hidden: true });
  }

  /** @param {HTMLElement} place */
  show(place) {
    const { game } = this;
    const form = h(
      'form.box',
      { 'aria-label': `New table of ${game.title}`, onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); this.submit(); } },
      h('div.heading', null, h('h2', null, game.title), h('a.button', { href: `#/rules/${game.game}` }, 'Rules and scoring')),
      h('div.fields', null, game.options.map((option) => this.optionField(option))),
      this.opponents,
      h('label.check', null, this.practice, 'Practice: with undo, hints and advice; the result does not count'),
      this.errorLine,
      h('button.primary.begin', { type: 'submit' }, 'Deal the cards'),
    );
    this.drawOpponents();
    fill(place, form);
  }

  /** Number of players. */
  get players() {
    return this.options.num_players ?? this.game.players.max;
  }

  /** @param {import('./types.js').GameOption} option */
  optionField(option) {
    const select = /** @type {HTMLSelectElement} */ (
      h(
        'select',
        {
          'data-option': option.key,
          onchange: () => {
            this.options[option.key] = option.values[select.selectedIndex];
            this.seat = Math.min(this.seat, this.players - 1);
            this.drawOpponents();
          },
        },
        option.values.map((value, i) => h('option', { selected: value === option.default }, option.labels[i])),
      )
    );
    return h('label.field', null, h('span', null, option.title), select);
  }

  drawOpponents() {
    const { players } = this;
    if (players === 1) {
      fill(this.opponents, h('h3', null, 'Par: the agent that plays the same deal'), this.levelFields('Agent'));
      return;
    }
    const otherPlayers = Array.from({ length: players }, (_, player) => player).filter((player) => player !== this.seat);
    const seats = this.different ? otherPlayers.map((player) => this.agentFields(String(player), `Seat ${player + 1}`)) : this.levelFields(players === 2 ? 'Opponent' : 'All opponents');
    fill(this.opponents, h('h3', null, 'Opponents'), this.seatField(), seats, players > 2 && this.differentField());
  }

  seatField() {
    const select = /** @type {HTMLSelectElement} */ (
      h(
        'select',
        { onchange: () => { this.seat = select.selectedIndex; this.drawOpponents(); } },
        Array.from({ length: this.players }, (_, player) => h('option', { selected: player === this.seat }, player === 0 ? '1 (moves first)' : player + 1)),
      )
    );
    if (this.game.game === 'big2') select.options[0].text = '1'; // the cards decide who opens
    return h('label.field', null, h('span', null, 'Your seat'), select);
  }

  differentField() {
    const box = /** @type {HTMLInputElement} */ (h('input', { type: 'checkbox', checked: this.different, onchange: () => { this.different = box.checked; this.drawOpponents(); } }));
    return h('label.check', null, box, 'A different agent at each seat');
  }

  /** The agents for the chosen options of the game. */
  get agents() {
    return this.game.agents.filter((agent) => this.matchesOptions(agent.required_options));
  }

  /** @param {string} label */
  levelFields(label) {
    const levels = this.game.levels.filter(({ agent }) => this.agents.some((entry) => entry.agent === agent));
    const current = this.chosen.get(ALL) ?? { agent: this.game.default_agent, search: null };
    const found = levels.findIndex(({ agent, search }) => agent === current.agent && search === current.search);
    this.byName ||= found < 0 && this.agents.some(({ agent }) => agent === current.agent); // play.advisor may be no level
    const index = found < 0 ? levels.findLastIndex(({ search }) => !search) : found; // an agent that the options exclude
    if (!this.byName) this.chosen.set(ALL, levels[index]);
    const select = /** @type {HTMLSelectElement} */ (
      h(
        'select',
        {
          onchange: () => {
            const level = levels[select.selectedIndex];
            this.byName = !level;
            if (level) this.chosen.set(ALL, level);
            this.drawOpponents();
          },
        },
        levels.map(({ title, agent }, i) => h('option', { selected: i === index && !this.byName }, levelText(title, this.game.agents.find((entry) => entry.agent === agent)?.title ?? agent))),
        h('option', { selected: this.byName }, 'Choose an agent by name'),
      )
    );
    const level = h('label.field', null, h('span', null, label), select);
    if (this.byName) return [level, this.agentFields(ALL, 'Agent')];
    return h('div.opponent', null, level, strengthLine(this.agents, levels[index]));
  }

  /**
   * @param {string} seat
   * @param {string} label
   */
  agentFields(seat, label) {
    const { agents } = this;
    const current = this.chosen.get(seat) ?? this.chosen.get(ALL) ?? { agent: this.game.default_agent, search: null };
    const agent = agents.find((entry) => entry.agent === current.agent) ?? agents[0];
    const searches = this.game.searches.filter(({ search }) => agent.searches.includes(search));
    const search = searches.some((entry) => entry.search === current.search) ? current.search : null;
    this.chosen.set(seat, { agent: agent.agent, search });
    const pick = (/** @type {{agent?: string, search?: string | null}} */ part) => {
      this.chosen.set(seat, { agent: agent.agent, search, ...part });
      this.drawOpponents();
    };
    const agentSelect = h(
      'select',
      { 'data-seat': seat, onchange: (/** @type {any} */ event) => pick({ agent: event.target.value }) },
      agents.map((entry) => h('option', { value: entry.agent, selected: entry === agent }, entry.kind === 'trained' ? `${entry.title} (trained)` : entry.title)),
    );
    const searchSelect = h(
      'select',
      { 'aria-label': `Thinking ahead of ${label.toLowerCase()}`, onchange: (/** @type {any} */ event) => pick({ search: event.target.value || null }) },
      h('option', { value: '' }, 'plays at once'),
      searches.map((entry) => h('option', { value: entry.search, selected: entry.search === search }, `thinks ahead: ${entry.title}`)),
    );
    return h('div.opponent', null, h('label.field', null, h('span', null, label), agentSelect), searches.length > 0 && searchSelect, strengthLine(agents, { agent: agent.agent, search }));
  }

  /** @param {Record<string, any>} required */
  matchesOptions(required) {
    return Object.entries(required ?? {}).every(([key, value]) => !(key in this.options) || this.options[key] === value);
  }

  tableRequest() {
    const { game, options, seat, players } = this;
    const { agent, search } = this.chosen.get(ALL) ?? { agent: game.default_agent, search: null };
    const all = { agent, search };
    const practice = /** @type {HTMLInputElement} */ (this.practice).checked;
    if (players === 1) return { game: game.game, options, opponents: [], par: all, practice };
    const otherPlayers = Array.from({ length: players }, (_, player) => player).filter((player) => player !== seat);
    const opponents = this.different && players > 2 ? otherPlayers.map((player) => this.chosen.get(String(player))) : [all];
    return { game: game.game, options, seat, opponents, practice };
  }

  async submit() {
    this.errorLine.hidden = true;
    const wait = waitLine();
    this.errorLine.after(wait);
    try {
      location.hash = `#/table/${(await openTable(this.tableRequest())).id}`;
    } catch (/** @type {any} */ error) {
      this.errorLine.textContent = error instanceof ApiError && error.key ? `${error.message} (${error.key})` : error.message;
      this.errorLine.hidden = false;
      wait.remove();
    }
  }
}

/**
 * `Medium: Planner`, but `Champion` alone.
 * @param {string} level
 * @param {string} agent its title
 */
function levelText(level, agent) {
  return level.startsWith(agent) ? level : `${level}: ${agent}`;
}

/**
 * How strong the chosen agent is.
 * @param {import('./types.js').AgentEntry[]} agents
 * @param {{agent: string, search: string | null}} chosen
 */
function strengthLine(agents, { agent, search }) {
  const strength = agents.find((entry) => entry.agent === agent)?.strength;
  if (!strength) return null;
  return h('p.muted', null, search ? `Playing at once: ${strength.charAt(0).toLowerCase()}${strength.slice(1)}.` : `${strength}.`);
}
