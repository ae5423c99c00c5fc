/**
 * Types of the server's messages (docs/play.md) and of the page. No code.
 *
 * @typedef {{key: string, title: string, values: any[], labels: string[], default: any}} GameOption
 * @typedef {{agent: string, title: string, kind: 'scripted' | 'trained', required_options: Record<string, any>, searches: string[], strength: string | null}} AgentEntry
 * @typedef {{title: string, agent: string, search: string | null}} Level
 * @typedef {{search: string, title: string}} SearchChoice
 * @typedef {{
 *   game: string, title: string, players: {min: number, max: number}, options: GameOption[], agents: AgentEntry[],
 *   searches: SearchChoice[], default_agent: string, advisor: string, unit: string, levels: Level[],
 * }} GameChoice
 *
 * @typedef {{player: number, title: string, agent: string | null, search: string | null}} Seat
 * @typedef {{action: number, text: string} & Record<string, any>} LegalMove
 * @typedef {{number: number, player: number | null, kind: string, text: string, view: any} & Record<string, any>} GameEvent
 * @typedef {{
 *   payoff: number, payoffs: number[], won: boolean | null, text: string, resigned: boolean,
 *   par: {title: string, agent: string, search: string | null, payoff: number | null} | null,
 * }} Result
 * @typedef {{
 *   id: string, game: string, title: string, options: Record<string, any>, seat: number, seats: Seat[], number: number,
 *   status: 'your_turn' | 'over', view: any, legal: LegalMove[], events: GameEvent[],
 *   deal: {id: string, kind: 'fresh' | 'daily' | 'shared', counts: boolean}, result: Result | null,
 *   stale?: boolean,
 * }} Table
 *
 * @typedef {{
 *   action: number, text: string, probability: number | null, search_value: number | null, visits: number | null,
 *   value: number | null, margin: number | null, chosen?: boolean,
 * }} ActionAnalysis
 * @typedef {{
 *   agrees: boolean | null, action: number, text: string, difference: number, margin: number,
 *   recommended: {action: number, text: string},
 * }} Verdict
 * @typedef {{
 *   agent: {agent: string, search: string | null, title: string}, number: number, action: number, text: string,
 *   value: number, margin: number | null, win_probability: number | null, deals: number, played_by: string,
 *   verdict: Verdict, simulations: number | null, options: ActionAnalysis[],
 *   belief: {source: 'uniform' | 'network', cards: {card: string, probabilities: number[], elsewhere: number}[]},
 *   observation: {name: string, shape: number[], values: number[]}[],
 * }} Advice
 *
 * @typedef {{
 *   value: number, drop: number, cost: number, margin: number, costly: boolean, best: {action: number, text: string} | null,
 *   verdict: Verdict | null, options: ActionAnalysis[],
 * }} MoveReview
 * @typedef {GameEvent & {hands: string[][] | null, move: LegalMove | null, review: MoveReview | null}} Frame
 * @typedef {{
 *   id: string, game: string, seat: number, agent: {title: string}, played_by: string, deals: number, result: Result,
 *   frames: Frame[], costly_moves: number[],
 * }} Replay
 *
 * Input of a game view. `advised`: the recommended action, marked. `hands`: all hands, where known.
 * `out`: the round in which the player went out.
 * @typedef {{
 *   view: any, legal: LegalMove[], seat: number, seats: Seat[], advised: number | null,
 *   hands: string[][] | null, showdown: GameEvent | null, out: GameEvent | null,
 * }} Scene
 *
 * Callbacks of a game view.
 * @typedef {{choose: (action: number) => void, redraw: () => void}} GameHost
 *
 * @typedef {{draw: (scene: Scene) => HTMLElement, prompt: (scene: Scene) => string, escape?: () => boolean}} GameView
 *
 * Input of a page.
 * @typedef {{id: string, signal: AbortSignal, setTitle: (title: string) => void, notice?: string}} PageContext
 */

export {};
