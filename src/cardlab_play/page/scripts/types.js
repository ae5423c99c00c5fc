/**
 * What the server says, as docs/play.md describes it; nothing here is run.
 *
 * @typedef {{key: string, title: string, values: any[], words: string[], default: any}} GameOption
 * @typedef {{agent: string, title: string, kind: 'scripted' | 'trained', needs: Record<string, any>, searches: string[]}} AgentChoice
 * @typedef {{search: string, title: string}} SearchChoice
 * @typedef {{
 *   game: string, title: string, players: {least: number, most: number}, options: GameOption[], agents: AgentChoice[],
 *   searches: SearchChoice[], default_agent: string, advisor: string, unit: string,
 * }} GameChoice
 *
 * @typedef {{player: number, title: string, agent: string | null, search: string | null}} Seat
 * @typedef {{action: number, text: string} & Record<string, any>} LegalMove
 * @typedef {{number: number, player: number | null, kind: string, text: string, view: any} & Record<string, any>} GameEvent
 * @typedef {{
 *   payoff: number, payoffs: number[], won: boolean | null, text: string, given_up: boolean,
 *   par: {title: string, payoff: number | null} | null,
 * }} Result
 * @typedef {{
 *   id: string, game: string, title: string, options: Record<string, any>, seat: number, seats: Seat[], number: number,
 *   status: 'your_turn' | 'over', view: any, legal: LegalMove[], events: GameEvent[],
 *   deal: {id: string, kind: 'fresh' | 'daily' | 'shared', counts: boolean}, result: Result | null,
 *   stale?: boolean,
 * }} Table
 *
 * @typedef {{action: number, text: string, probability: number | null, value: number | null, margin: number | null, chosen?: boolean}} AdvisedOption
 * @typedef {{
 *   agent: {agent: string, search: string | null, title: string}, number: number, action: number, text: string,
 *   value: number, margin: number | null, win: number | null, deals: number,
 *   values_from: 'agent' | 'playouts', playouts: number | null, simulations: number | null, options: AdvisedOption[],
 *   belief: {from: 'uniform' | 'network', cards: {card: string, chances: number[], elsewhere: number}[]},
 *   input: {name: string, shape: number[], values: number[]}[],
 * }} Advice
 *
 * @typedef {{value: number, dropped: number, cost: number, best: {action: number, text: string}, options: AdvisedOption[]}} Judgement
 * @typedef {GameEvent & {hands: string[][] | null, judged: Judgement | null}} Frame
 * @typedef {{id: string, game: string, seat: number, agent: {title: string}, result: Result, frames: Frame[], worst: number[]}} Replay
 *
 * What a game's view draws from. `shares` are the advised probabilities of actions, `hands` what all hold, where known.
 * @typedef {{
 *   view: any, legal: LegalMove[], seat: number, seats: Seat[], shares: Map<number, number> | null,
 *   hands: string[][] | null, showdown: GameEvent | null,
 * }} Scene
 *
 * What a game's view may ask of the page.
 * @typedef {{choose: (action: number) => void, redraw: () => void}} Host
 *
 * @typedef {{draw: (scene: Scene) => HTMLElement, prompt: (scene: Scene) => string, escape?: () => boolean}} GameView
 *
 * What the page gives to a view of its own.
 * @typedef {{id: string, signal: AbortSignal, entitle: (title: string) => void, notice?: string}} Visit
 */

export {};
