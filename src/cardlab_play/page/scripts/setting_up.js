/** The form for a new table: options of the game, who sits where, and the button that begins. */

import { Refusal, openTable } from './api.js';
import { fill, h } from './dom.js';

/** @typedef {import('./types.js').GameChoice} GameChoice */

const ALL = 'all'; // the seat that stands for every other

export class SettingUp {
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
    this.apart = false;
    /** @type {Map<string, {agent: string, search: string | null}>} by seat, or ALL */
    this.chosen = new Map();
    this.rivals = h('div.rivals');
    this.trouble = h('p.trouble', { role: 'alert', hidden: true });
  }

  /** @param {HTMLElement} place */
  show(place) {
    const { game } = this;
    const form = h(
      'form.box',
      { 'aria-label': `New table of ${game.title}`, onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); this.begin(); } },
      h('h2', null, game.title),
      h('div.fields', null, game.options.map((option) => this.optionField(option))),
      this.rivals,
      this.trouble,
      h('button.primary.begin', { type: 'submit' }, 'Deal the cards'),
    );
    this.drawRivals();
    fill(place, form);
  }

  /** Players at the table. */
  get players() {
    return this.options.num_players ?? this.game.players.most;
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
            this.drawRivals();
          },
        },
        option.values.map((value, i) => h('option', { selected: value === option.default }, option.words[i])),
      )
    );
    return h('label.field', null, h('span', null, option.title), select);
  }

  drawRivals() {
    const { players } = this;
    if (players === 1) {
      fill(this.rivals, h('h3', null, 'Who plays the same deal'), this.agentFields(ALL, 'Rival'));
      return;
    }
    const others = Array.from({ length: players }, (_, player) => player).filter((player) => player !== this.seat);
    const seats = this.apart ? others.map((player) => this.agentFields(String(player), `Seat ${player + 1}`)) : this.agentFields(ALL, players === 2 ? 'Against' : 'All others');
    fill(this.rivals, h('h3', null, 'At the table'), this.seatField(), seats, players > 2 && this.apartField());
  }

  seatField() {
    const select = /** @type {HTMLSelectElement} */ (
      h(
        'select',
        { onchange: () => { this.seat = select.selectedIndex; this.drawRivals(); } },
        Array.from({ length: this.players }, (_, player) => h('option', { selected: player === this.seat }, player === 0 ? '1 (moves first)' : player + 1)),
      )
    );
    if (this.game.game === 'big2') select.options[0].text = '1'; // the cards decide who opens
    return h('label.field', null, h('span', null, 'Your seat'), select);
  }

  apartField() {
    const box = /** @type {HTMLInputElement} */ (h('input', { type: 'checkbox', checked: this.apart, onchange: () => { this.apart = box.checked; this.drawRivals(); } }));
    return h('label.check', null, box, 'A different agent at each seat');
  }

  /**
   * @param {string} seat
   * @param {string} label
   */
  agentFields(seat, label) {
    const agents = this.game.agents.filter((agent) => this.suits(agent.needs));
    const now = this.chosen.get(seat) ?? this.chosen.get(ALL) ?? { agent: this.game.default_agent, search: null };
    const agent = agents.find((one) => one.agent === now.agent) ?? agents[0];
    const searches = this.game.searches.filter(({ search }) => agent.searches.includes(search));
    const search = searches.some((one) => one.search === now.search) ? now.search : null;
    this.chosen.set(seat, { agent: agent.agent, search });
    const pick = (/** @type {{agent?: string, search?: string | null}} */ part) => {
      this.chosen.set(seat, { agent: agent.agent, search, ...part });
      this.drawRivals();
    };
    const who = h(
      'select',
      { 'data-seat': seat, onchange: (/** @type {any} */ event) => pick({ agent: event.target.value }) },
      agents.map((one) => h('option', { value: one.agent, selected: one === agent }, one.kind === 'trained' ? `${one.title} (trained)` : one.title)),
    );
    const how = h(
      'select',
      { 'aria-label': `Search of ${label.toLowerCase()}`, onchange: (/** @type {any} */ event) => pick({ search: event.target.value || null }) },
      h('option', { value: '' }, 'without search'),
      searches.map((one) => h('option', { value: one.search, selected: one.search === search }, one.title)),
    );
    return h('div.rival', null, h('label.field', null, h('span', null, label), who), searches.length > 0 && how);
  }

  /** @param {Record<string, any>} needs */
  suits(needs) {
    return Object.entries(needs ?? {}).every(([key, value]) => !(key in this.options) || this.options[key] === value);
  }

  wishes() {
    const { game, options, seat, players } = this;
    const all = this.chosen.get(ALL);
    if (players === 1) return { game: game.game, options, opponents: [], par: all };
    const others = Array.from({ length: players }, (_, player) => player).filter((player) => player !== seat);
    const opponents = this.apart && players > 2 ? others.map((player) => this.chosen.get(String(player))) : [all];
    return { game: game.game, options, seat, opponents };
  }

  async begin() {
    this.trouble.hidden = true;
    try {
      location.hash = `#/table/${(await openTable(this.wishes())).id}`;
    } catch (/** @type {any} */ error) {
      this.trouble.textContent = error instanceof Refusal && error.key ? `${error.message} (${error.key})` : error.message;
      this.trouble.hidden = false;
    }
  }
}
