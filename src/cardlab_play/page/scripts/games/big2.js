/** View of Big 2: select cards and play a legal combination. */

import { h } from '../dom.js';
import { cardName, cardSymbol, drawCard } from '../cards.js';
import { formatCount } from '../formatting.js';
import { cardButton, markAdvised, orderOfPlay, otherPlayers, playerName, slot, tag } from './pieces.js';

/** @typedef {import('../types.js').Scene} Scene */
/** @typedef {import('../types.js').GameHost} GameHost */
/** @typedef {import('../types.js').LegalMove} LegalMove */

/**
 * @param {GameHost} host
 * @returns {import('../types.js').GameView}
 */
export function makeBig2(host) {
  /** @type {Set<string>} */
  let selected = new Set();
  return {
    prompt: (scene) => (selected.size > 0 && scene.legal.length > 0 ? selectionPrompt(scene.legal, selected) : prompt(scene)),
    escape: () => {
      const had = selected.size > 0;
      selected = new Set();
      return had;
    },
    draw: (scene) => {
      selected = new Set([...selected].filter((card) => scene.legal.length > 0 && scene.view.hand.includes(card)));
      const toggle = (/** @type {string} */ card) => {
        selected = toggled(selected, card, scene.legal);
        host.redraw();
      };
      return h(
        'div.big2',
        null,
        h('div.seats', null, otherPlayers(scene).map((player) => seatOf(scene, player))),
        orderOfPlay(),
        trick(scene),
        myHand(scene, selected, toggle),
        penalty(scene),
        buttons(scene, host, selected, () => {
          selected = new Set();
          host.redraw();
        }),
      );
    },
  };
}

/** What the look of the other cards means. @param {LegalMove[]} legal @param {Set<string>} selected */
function selectionPrompt(legal, selected) {
  const fits = legal.some((move) => holds(move, selected) && move.cards.length > selected.size);
  return fits ? 'Dashed cards go with it, grey ones do not' : 'No other card goes with it';
}

/** @param {Scene} scene */
function prompt({ view, legal, seats }) {
  if (legal.length === 0) return '';
  if (!view.to_beat) return 'You lead: play any combination';
  if (legal.length === 1) return 'You can only pass';
  return `Beat the ${view.to_beat.kind} of ${seats[view.to_beat.player].title}, or pass`;
}

/**
 * Toggle `card` in the selection. Without a legal play for the whole selection, only `card` stays selected.
 * @param {Set<string>} selected
 * @param {string} card
 * @param {LegalMove[]} legal
 */
function toggled(selected, card, legal) {
  const wanted = new Set(selected);
  if (wanted.delete(card)) return wanted;
  wanted.add(card);
  return legal.some((move) => holds(move, wanted)) ? wanted : new Set([card]);
}

/**
 * @param {LegalMove} move
 * @param {Set<string>} cards
 */
function holds(move, cards) {
  return [...cards].every((card) => move.cards.includes(card));
}

/**
 * What the cards in hand would cost now.
 * @param {Scene} scene
 */
function penalty({ view, seat }) {
  const points = view.penalties[seat];
  if (view.counts.includes(0)) return view.counts[seat] > 0 && h('p.muted.cost', null, `${formatCount(view.counts[seat], 'card')} left: ${pointsText(view, seat)}`);
  return h('p.muted.cost', null, `${formatCount(view.counts[seat], 'card')} left: −${formatCount(points, 'point')} if another player goes out now`);
}

/**
 * @param {Scene} scene
 * @param {number} player
 */
function seatOf(scene, player) {
  const { view } = scene;
  const count = view.counts[player];
  const hand = scene.hands?.[player] ?? view.hands?.[player];
  const over = view.counts.includes(0);
  const last = view.trick.findLast((/** @type {any} */ play) => play.player === player);
  const status = view.turn === player ? 'to move' : last?.kind === 'pass' && !over ? 'passed' : '';
  return h(
    view.turn === player ? 'div.seat.moves' : 'div.seat',
    { 'data-seat': player, role: 'group', 'aria-label': playerName(scene, player) },
    h('div.name', null, playerName(scene, player)),
    hand
      ? h('div.fan.open', null, hand.map((/** @type {string} */ card) => h(`span.chip.suit-${card[1]}`, { 'data-card': card }, cardSymbol(card))))
      : h('div.fan', { 'aria-hidden': 'true' }, Array.from({ length: count }, () => drawCard(null, { decorative: true }))),
    tag(count === 0 ? 'won' : formatCount(count, 'card'), count <= 3 ? 'good' : ''),
    h('span.muted', null, over ? pointsText(view, player) : status),
  );
}

/** The points of a player at the end. @param {any} view @param {number} player */
function pointsText({ counts, penalties }, player) {
  const sum = penalties.reduce((/** @type {number} */ total, /** @type {number} */ points) => total + points, 0);
  return counts[player] === 0 ? `+${formatCount(sum, 'point')}` : `−${formatCount(penalties[player], 'point')}`;
}

/** @param {Scene} scene */
function trick(scene) {
  const { view } = scene;
  const over = view.counts.includes(0);
  if (!view.to_beat && !over) {
    const leader = view.turn === null ? '' : playerName(scene, view.turn);
    return h('div.trick', { role: 'group', 'aria-label': 'Last play' }, h('p.muted.cost', null, leader === 'You' ? 'Nothing to beat: play a single, a pair, three or four of a kind, two pair or a five-card hand' : `${leader} leads`));
  }
  const plays = view.trick.filter((/** @type {any} */ play) => play.kind !== 'pass').slice(-2);
  return h(
    'div.trick',
    { role: 'group', 'aria-label': 'Last play' },
    plays.map((/** @type {any} */ play, /** @type {number} */ i) =>
      h(
        i === plays.length - 1 ? 'div.play' : 'div.play.beaten',
        null,
        h('div.held', null, play.cards.map((/** @type {string} */ card) => slot(card))),
        h('span.muted', null, playText(scene, play, i === plays.length - 1 ? (over ? 'goes out' : 'to beat') : 'beaten')),
      ),
    ),
  );
}

/** @param {Scene} scene @param {any} play @param {string} state */
function playText(scene, { kind, player }, state) {
  const name = playerName(scene, player);
  if (state === 'goes out') return `${kind}: ${name === 'You' ? 'you go' : `${name} goes`} out`;
  return `${state}: ${name === 'You' ? `your ${kind}` : `${kind} of ${name}`}`;
}

/**
 * @param {Scene} scene
 * @param {Set<string>} selected
 * @param {(card: string) => void} toggle
 */
function myHand(scene, selected, toggle) {
  const { view, legal, seat } = scene;
  const usable = new Set(legal.flatMap((move) => move.cards));
  const fitting = new Set(legal.filter((move) => holds(move, selected)).flatMap((move) => move.cards));
  return h(
    view.turn === seat ? 'section.mine.moves' : 'section.mine',
    { 'aria-label': `Your hand, ${view.hand.length} cards`, 'data-seat': seat },
    view.hand.map((/** @type {string} */ card) => {
      if (!usable.has(card)) return h('div.slot.filled.idle', null, drawCard(card));
      const button = cardButton(card, { label: cardName(card), key: `card ${card}`, pressed: selected.has(card), onclick: () => toggle(card) });
      button.classList.toggle('chosen', selected.has(card));
      button.classList.toggle('other-play', !fitting.has(card)); // clicking it starts a new selection
      button.classList.toggle('fits-play', selected.size > 0 && fitting.has(card) && !selected.has(card));
      return button;
    }),
  );
}

/**
 * @param {Scene} scene
 * @param {GameHost} host
 * @param {Set<string>} selected
 * @param {() => void} clear
 */
function buttons(scene, host, selected, clear) {
  const { legal } = scene;
  if (legal.length === 0) return h('div.actions');
  const play = legal.find((move) => move.cards.length > 0 && move.cards.length === selected.size && holds(move, selected));
  const pass = legal.find((move) => move.cards.length === 0);
  const words = play ? `Play ${play.kind} ${play.cards.map(cardSymbol).join(' ')}` : 'Play';
  const passing = pass && h('button', { type: 'button', 'data-key': 'pass', onclick: () => host.choose(pass.action) }, 'Pass');
  if (passing && pass) markAdvised(passing, scene.advised === pass.action);
  return h(
    'div.actions',
    null,
    !(pass && legal.length === 1) && h('button.primary', { type: 'button', 'data-key': 'play', disabled: !play, onclick: () => play && host.choose(play.action) }, words),
    passing,
    selected.size > 0 && h('button', { type: 'button', 'data-key': 'clear', onclick: clear }, 'Clear'),
  );
}
