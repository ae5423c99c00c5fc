"""A game move by move, in readable text, with what its agents thought."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from cardlab.agents.registry import load_agent
from cardlab.core.options import check_choice
from cardlab.evaluation.game_record import Record, RecordError, Thought, dealt_state
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.recording import record_game
from cardlab.evaluation.seating import Entry
from cardlab.games.agent_protocol import ActionValues, Agent, Policy
from cardlab.games.protocol import Floats, Game, GameSpec, InfoStates, Players


@runtime_checkable
class Rethinks(Protocol):
    """An agent that can do a search again."""

    def repeat_search(
        self, info_states: InfoStates, players: Players, size: int, batches: tuple[int, ...]
    ) -> tuple[int, Floats]:
        """The action, and the values of actions [A], that a search of one decision [1] with this effort comes to."""
        ...


@dataclass(frozen=True)
class Option:
    """One legal action, and what the agent made of it."""

    action: int
    text: str
    chosen: bool
    probability: float | None
    value: float | None


@dataclass(frozen=True)
class Move:
    """One decision of a replayed game."""

    number: int  # from 1
    player: int
    view: str  # the table as the player sees it
    options: tuple[Option, ...]
    value: float | None  # of the situation
    again: int | None  # what a searching agent plays when it thinks as much again
    features: Floats  # [F] the player's observation


def run_replay(
    game: Game,
    agents: Sequence[str],
    options: ArenaOptions,
    *,
    deal: int = 0,
    seating: int = 0,
    inputs: Sequence[str] = (),
) -> tuple[Record, Iterator[str]]:
    """Game `seating` of deal number `deal` of a match: its record, and its lines as they are replayed.

    `inputs` names the blocks of the observation to show, "all" for every one.
    """
    record = record_game(game, agents, options, deal=deal, seating=seating)
    return record, replay_lines(game, record, load_seats(game, record), inputs)


def load_seats(game: Game, record: Record) -> list[Agent]:
    """The agents that `record` names, by seat; copies are loaded once."""
    loaded = {name: load_agent(game, name) for name in dict.fromkeys(record.agents)}
    return [loaded[name] for name in record.agents]


def replay(game: Game, record: Record, agents: Sequence[Entry | None] = ()) -> Iterator[Move]:
    """The moves of `record`; `agents`, by seat, are asked what they think. RecordError for an illegal action."""
    thinkers = [load_agent(game, agent) if isinstance(agent, str) else agent for agent in agents]
    state = dealt_state(game, record)
    for number, action in enumerate(record.actions, start=1):
        players = game.current_player(state)
        player = int(players[0])
        if player < 0:
            raise RecordError(f"record: goes on after the game is over (action {number})")
        info_states = game.information(state, players)
        legal = np.flatnonzero(game.legal_actions(info_states)[0]).tolist()
        if action not in legal:
            raise RecordError(f"record: action {number} is {action}, which is not legal; legal: {legal}")
        thinker = thinkers[player] if player < len(thinkers) else None
        effort = record.efforts[number - 1] if number <= len(record.efforts) else None
        yield _move(game, (number, action), info_states, players, thinker, effort)
        game.apply(state, np.array([action], dtype=np.int16))


def _move(
    game: Game,
    decided: tuple[int, int],
    info_states: InfoStates,
    players: Players,
    agent: Agent | None,
    effort: Thought | None,
) -> Move:
    """The move with the number and the action `decided`."""
    number, action = decided
    info_state = InfoStates(info_states[0])
    legal = np.flatnonzero(game.legal_actions(info_states)[0]).tolist()
    again = None
    if effort is not None and isinstance(agent, Rethinks):
        probabilities, value = None, None
        again, values = agent.repeat_search(info_states, players, *effort)
    else:
        probabilities, values, value = _thoughts(agent, info_states, players)
    options = tuple(
        Option(
            option,
            game.action_text(info_state, option),
            option == action,
            None if probabilities is None else float(probabilities[option]),
            None if values is None else float(values[option]),
        )
        for option in legal
    )
    features = game.observe(info_states, players)[0]
    return Move(number, int(players[0]), game.render(info_state), options, value, again, features)


def _thoughts(
    agent: Agent | None, info_states: InfoStates, players: Players
) -> tuple[Floats | None, Floats | None, float | None]:
    """Probabilities [A], values of actions [A] and the value of the situation, each None where the agent has none."""
    probabilities, values, value = None, None, None
    if isinstance(agent, Policy):
        log_probabilities, situation = agent.evaluate(info_states, players)
        probabilities, value = np.exp(log_probabilities[0]), float(situation[0])
    if isinstance(agent, ActionValues):
        values = agent.action_values(info_states, players)[0]
    return probabilities, values, value


def replay_lines(
    game: Game, record: Record, agents: Sequence[Entry | None] = (), inputs: Sequence[str] = ()
) -> Iterator[str]:
    """The lines of text of a replay: every decision, then what everybody was paid."""
    yield f"{record.game}: {', '.join(f'player {seat} is {name}' for seat, name in enumerate(record.agents))}"
    for move in replay(game, record, agents):
        name = record.agents[move.player] if move.player < len(record.agents) else "somebody"
        forced = ", no choice" if len(move.options) == 1 else ""
        value = "" if move.value is None else f", sees {move.value:+.3f} to come"
        yield ""
        yield f"{move.number}. player {move.player} ({name}){value}{forced}"
        yield from (f"    {line}" for line in move.view.splitlines())
        if move.again is not None:
            kept = any(option.chosen and option.action == move.again for option in move.options)
            yield f"    thought as much again: {'the same move' if kept else f'now action {move.again}'}"
        yield from _option_lines(move.options)
        yield from _input_lines(game.spec, move.features, inputs)
    yield ""
    yield _outcome(game, record)


def _option_lines(options: tuple[Option, ...]) -> Iterator[str]:
    widest = max(len(option.text) for option in options)
    for option in options:
        mark = "→" if option.chosen else " "
        chance = "" if option.probability is None else f"   {100 * option.probability:5.1f} %"
        value = "" if option.value is None else f"   {option.value:+.3f}"
        yield f"  {mark} {option.text:<{widest}}{chance}{value}".rstrip()


def _input_lines(spec: GameSpec, features: Floats, names: Sequence[str]) -> Iterator[str]:
    """The observation by block, one line for each of its rows."""
    for name in names:
        check_choice("inputs", name, ["all", *(block.name for block in spec.blocks)])
    for block in spec.blocks:
        if block.name not in names and "all" not in names:
            continue
        yield f"    input {block.name} {list(block.shape)}"
        rows = features[block.start : block.stop].reshape(-1, block.shape[-1] if block.shape else 1)
        yield from ("      " + " ".join(f"{number:g}" for number in row.round(3).tolist()) for row in rows)


def _outcome(game: Game, record: Record) -> str:
    state = dealt_state(game, record)
    for action in record.actions:
        game.apply(state, np.array([action], dtype=np.int16))
    paid = ", ".join(f"player {seat} {points:+.3f}" for seat, points in enumerate(game.payoffs(state)[0].tolist()))
    return f"paid: {paid}" if game.is_over(state)[0] else f"not over after {len(record.actions)} actions; paid: {paid}"
