"""One game of a match: its record, and the record move by move as text, with the estimates of its agents."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Protocol, runtime_checkable

import numpy as np

from cardlab.agents.registry import load_agent
from cardlab.core.options import check_choice, check_whole
from cardlab.core.parts import check_targets
from cardlab.evaluation.game_record import EffortCounts, GameRecord, RecordError, dealt_state
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.seating import Entry, make_lineup
from cardlab.evaluation.workers import ChunkPlayer, make_jobs
from cardlab.games.agent_protocol import ActionValues, Agent, Policy
from cardlab.games.make_game import without_training_options
from cardlab.games.protocol import Floats, Game, GameSpec, InfoStates, Players

_MAX_OPTIONS = 5  # that are shown beside the chosen one


@runtime_checkable
class RepeatsSearch(Protocol):
    """An agent that can repeat a search."""

    def repeat_search(self, info_states: InfoStates, players: Players, effort: EffortCounts) -> tuple[int, Floats]:
        """Action and action values [A] of a search of one decision [1] with this effort."""
        ...


@dataclass(frozen=True)
class ActionView:
    """One legal action with the estimates of the agent."""

    action: int
    text: str
    chosen: bool
    probability: float | None
    value: float | None


@dataclass(frozen=True)
class ReplayStep:
    """One decision of a replayed game."""

    number: int  # from 1
    player: int
    view: str  # the InfoState as text
    options: tuple[ActionView, ...]
    value: float | None  # of the state
    repeated_action: int | None  # the action of a repeated search
    features: Floats  # [F] the player's observation


def run_replay(
    game: Game,
    agents: Sequence[str],
    options: ArenaOptions,
    *,
    deal: int = 0,
    seating: int = 0,
    inputs: Sequence[str] = (),
) -> tuple[GameRecord, Iterator[str]]:
    """Play game `seating` of deal number `deal` of a match; returns its record and its text lines.

    `inputs` names the blocks of the observation to show; "all" shows every block.
    """
    record = record_game(game, agents, options, deal=deal, seating=seating)
    return record, replay_lines(game, record, load_seats(game, record), inputs)


def record_game(
    game: Game, entries: Sequence[Entry], options: ArenaOptions, *, deal: int = 0, seating: int = 0
) -> GameRecord:
    """Game `seating` of deal number `deal` of the match that `play_match` plays with these options.

    The random stream of agents belongs to the chunk, so the whole chunk is played. InvalidOption for a deal or seating
    outside of the match.
    """
    game = without_training_options(game)
    lineup = make_lineup(game, entries)
    check_whole("deal", deal, 0, options.deals - 1)
    check_whole("seating", seating, 0, lineup.num_seatings - 1)
    job = next(job for job in make_jobs([lineup], [0], options) if job.first <= deal < job.last)
    player = ChunkPlayer(game, [lineup])
    records = player.records(job, 0, player.deal(job, 0))
    return records[(deal - job.first) * lineup.num_seatings + seating]


def load_seats(game: Game, record: GameRecord) -> list[Agent]:
    """The agents that `record` names, by seat; copies are loaded once."""
    check_targets(list(record.agents), "record")
    loaded = {name: load_agent(game, name) for name in dict.fromkeys(record.agents)}
    return [loaded[name] for name in record.agents]


def replay(game: Game, record: GameRecord, agents: Sequence[Entry | None] = ()) -> Iterator[ReplayStep]:
    """The moves of `record` with the estimates of `agents` (by seat). RecordError for an illegal action."""
    loaded_agents = [load_agent(game, agent) if isinstance(agent, str) else agent for agent in agents]
    state = dealt_state(game, record)
    for number, action in enumerate(record.actions, start=1):
        players = game.current_player(state)
        player = int(players[0])
        if player < 0:
            raise RecordError(f"record: has action {number} after the end of the game")
        info_states = game.information(state, players)
        legal = np.flatnonzero(game.legal_actions(info_states)[0]).tolist()
        if action not in legal:
            raise RecordError(f"record: action {number} is {action}, which is not legal; legal: {legal}")
        agent = loaded_agents[player] if player < len(loaded_agents) else None
        effort = record.efforts[number - 1] if number <= len(record.efforts) else None
        yield _move(game, (number, action), info_states, players, agent, effort)
        game.apply(state, np.array([action], dtype=np.int16))


def _move(
    game: Game,
    decided: tuple[int, int],
    info_states: InfoStates,
    players: Players,
    agent: Agent | None,
    effort: EffortCounts | None,
) -> ReplayStep:
    """The step with number and action `decided`."""
    number, action = decided
    info_state = InfoStates(info_states[0])
    repeated_action = None
    if effort is not None and isinstance(agent, RepeatsSearch):
        probabilities, value = None, None
        repeated_action, values = agent.repeat_search(info_states, players, effort)
    else:
        probabilities, values, value = _estimates(agent, info_states, players)
    options = tuple(
        ActionView(
            option,
            game.action_text(info_state, option),
            option == action,
            None if probabilities is None else float(probabilities[option]),
            None if values is None or not isfinite(values[option]) else float(values[option]),
        )
        for option in np.flatnonzero(game.legal_actions(info_states)[0]).tolist()
    )
    features = game.observe(info_states, players)[0]
    return ReplayStep(number, int(players[0]), game.render(info_state), options, value, repeated_action, features)


def _estimates(
    agent: Agent | None, info_states: InfoStates, players: Players
) -> tuple[Floats | None, Floats | None, float | None]:
    """Probabilities [A], action values [A] and state value; None for what the agent does not estimate."""
    probabilities, values, value = None, None, None
    if isinstance(agent, Policy):
        log_probabilities, situation = agent.evaluate(info_states, players)
        probabilities, value = np.exp(log_probabilities[0]), float(situation[0])
    if isinstance(agent, ActionValues):
        values = agent.action_values(info_states, players)[0]
    return probabilities, values, value


def replay_lines(
    game: Game, record: GameRecord, agents: Sequence[Entry | None] = (), inputs: Sequence[str] = ()
) -> Iterator[str]:
    """The text lines of a replay: every decision, then the payoffs."""
    yield f"{record.game}: {', '.join(f'player {seat} is {name}' for seat, name in enumerate(record.agents))}"
    for move in replay(game, record, agents):
        name = record.agents[move.player] if move.player < len(record.agents) else "unknown"
        forced = ", forced" if len(move.options) == 1 else ""
        value = "" if move.value is None else f", value {move.value:+.3f}"
        yield ""
        yield f"{move.number}. player {move.player} ({name}){value}{forced}"
        yield from (f"    {line}" for line in move.view.splitlines())
        if move.repeated_action is not None:
            kept = any(option.chosen and option.action == move.repeated_action for option in move.options)
            yield f"    repeated search: {'the same move' if kept else f'action {move.repeated_action}'}"
        yield from _option_lines(move.options)
        yield from _input_lines(game.spec, move.features, inputs)
    yield ""
    yield _outcome(game, record)


def _option_lines(options: tuple[ActionView, ...]) -> Iterator[str]:
    """The options, of many the best ones alone, by the agent's values or else its probabilities."""
    best = sorted(options, key=lambda option: (-(option.value or 0), -(option.probability or 0)))[:_MAX_OPTIONS]
    known = any(option.value is not None or option.probability is not None for option in options)
    shown = [option for option in options if option.chosen or option in best or not known]
    widest = max(len(option.text) for option in shown)
    for option in shown:
        mark = "→" if option.chosen else " "
        chance = "" if option.probability is None else f"   {100 * option.probability:5.1f} %"
        value = "" if option.value is None else f"   {option.value:+.3f}"
        yield f"  {mark} {option.text:<{widest}}{chance}{value}".rstrip()
    if len(shown) < len(options):
        yield f"    and {len(options) - len(shown)} more"


def _input_lines(spec: GameSpec, features: Floats, names: Sequence[str]) -> Iterator[str]:
    """The observation by block, one line per row."""
    for name in names:
        check_choice("inputs", name, ["all", *(block.name for block in spec.blocks)])
    for block in spec.blocks:
        if block.name not in names and "all" not in names:
            continue
        yield f"    input {block.name} {list(block.shape)}"
        rows = features[block.start : block.stop].reshape(-1, block.shape[-1] if block.shape else 1)
        yield from ("      " + " ".join(f"{number:g}" for number in row.round(3).tolist()) for row in rows)


def _outcome(game: Game, record: GameRecord) -> str:
    state = dealt_state(game, record)
    for action in record.actions:
        game.apply(state, np.array([action], dtype=np.int16))
    paid = ", ".join(f"player {seat} {points:+.3f}" for seat, points in enumerate(game.payoffs(state)[0].tolist()))
    return f"paid: {paid}" if game.is_over(state)[0] else f"not over after {len(record.actions)} actions; paid: {paid}"
