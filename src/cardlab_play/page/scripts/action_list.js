/** Table of the legal moves: how often the agent plays each, and its mean result when played out. The best first. */

import { withSuitSymbols } from './cards.js';
import { h } from './dom.js';
import { formatAdvantage, formatPercent, resultColumn, resultHead } from './formatting.js';

/** @typedef {import('./types.js').ActionAnalysis} ActionAnalysis */
/** @typedef {import('./types.js').Verdict} Verdict */
/** @typedef {{game: string, players: number, agent: string, best: number, verdict: Verdict}} Choice the agent's title and move */

const INITIAL_ROWS = 8; // shown before the player expands the list

/**
 * @param {ActionAnalysis[]} options
 * @param {Choice} choice
 */
export function actionList(options, choice) {
  const { game, players, agent } = choice;
  const format = resultColumn(game, players, options.flatMap(({ value, search_value }) => [value, search_value]));
  const marks = new Map(options.map((option) => [option, marksOf(option, choice)]));
  const likely = options.some(({ probability }) => probability !== null);
  const searched = options.some(({ visits }) => visits);
  const rows = [...options].sort(compare).map((option, place) => {
    const kind = option.action === choice.verdict.recommended.action ? 'tr.best' : 'tr';
    return h(
      option.chosen ? `${kind}.chosen` : kind,
      { hidden: place >= INITIAL_ROWS && marks.get(option)?.length === 0 },
      h('th.what', { scope: 'row' }, withSuitSymbols(option.text), marks.get(option)?.map((mark) => h('span.mark', null, mark))),
      likely && h('td.number', null, formatPercent(option.probability)),
      searched && h('td.number', null, option.search_value === null ? '–' : `${format(option.search_value)}, ${option.visits} ×`),
      h('td.number.estimate', null, option.value === null ? '–' : format(option.value, option.margin)),
    );
  });
  const heads = [likely && `how\u00a0often ${agent} plays it`, searched && `${agent}’s estimate, times tried`, resultHead(game)];
  const list = h('table.options', null, h('thead', null, h('tr', null, h('th', { scope: 'col' }, 'move'), heads.map((head) => head && h('th.number', { scope: 'col' }, head)))), h('tbody', null, rows));
  const more = rows.filter((row) => row.hidden);
  if (more.length === 0) return list;
  const moreButton = h('button', { type: 'button', onclick: () => { for (const row of more) row.hidden = false; moreButton.remove(); } }, `Show all ${rows.length} moves`);
  return h('div', null, list, moreButton);
}

/**
 * Order: by result, then by probability and visits.
 * @param {ActionAnalysis} a
 * @param {ActionAnalysis} b
 */
function compare(a, b) {
  const [first, second] = [a, b].map(({ value }) => value ?? -Infinity);
  if (first !== second) return first < second ? 1 : -1;
  return (b.probability ?? 0) - (a.probability ?? 0) || (b.visits ?? 0) - (a.visits ?? 0);
}

/**
 * @param {ActionAnalysis} option
 * @param {Choice} choice
 * @returns {string[]}
 */
function marksOf({ action, chosen }, { agent, best, verdict }) {
  /** @type {[boolean | undefined, string][]} */
  const marks = [[chosen, 'your move'], [action === best, `${agent}’s choice`], [action === verdict.action, 'best result']];
  return marks.filter(([holds]) => holds).map(([, mark]) => mark);
}

/**
 * The recommended move with the reason.
 * @param {Verdict} verdict
 * @param {string} text of the agent's move
 * @param {Choice} choice
 * @param {number} count of options
 */
export function recommendation({ agrees, action, text: best, difference, margin, recommended }, text, { agent, game, players }, count) {
  const move = h('b', null, withSuitSymbols(recommended.text));
  if (count === 1) return h('p', null, 'Your only move: ', move, '.');
  const better = formatAdvantage(game, players, difference, margin);
  if (agrees) return h('p', null, 'Recommended: ', move, `. ${agent} plays it, and no other move has a better result.`);
  if (recommended.action === action) return h('p', null, 'Recommended: ', move, `. It ${better} `, h('b', null, withSuitSymbols(text)), `, which ${agent} would play.`);
  return h('p', null, 'Recommended: ', move, `, as ${agent} would play. Played out, `, h('b', null, withSuitSymbols(best)), ` ${better} this move, but with ${count} moves that may be luck.`);
}

/**
 * What the results in the list are.
 * @param {number} deals
 * @param {string} by who played them out
 * @param {number} players
 */
export function listNote(deals, by, players) {
  const [where, cards] = players === 1 ? ['', 'cards to come'] : [' in every seat', 'hidden cards'];
  return h('p.muted', null, `Each move was played out ${deals} times by ${by}${where}, with other ${cards} each time, but the same ones for all moves. ± is what luck leaves open (95\u00a0% interval).`);
}
