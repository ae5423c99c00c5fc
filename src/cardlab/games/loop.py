"""The one loop that plays games, used by collection, search, evaluation, the web table and tests.

`play` is a generator that advances every game by one decision per step. Between steps the caller owns the states and
may read them, deal finished rows again, or stop.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cardlab.games.agent_protocol import Agent
from cardlab.games.array_checks import unchecked
from cardlab.games.legality import Legality, legality
from cardlab.games.protocol import Actions, Bools, Game, InfoStates, Players, States
from cardlab.games.record_arrays import put, take


class IllegalAction(RuntimeError):
    """An agent returned an illegal action, or not one for each game."""


@dataclass(frozen=True, slots=True)
class Moves:
    """One step: one decision in each game that has a current player."""

    rows: NDArray[np.intp]  # [N] indices of these games, ascending
    players: Players  # [N] who decided
    info_states: InfoStates  # [N] what the players knew before the move
    actions: Actions  # [N] the actions played
    queried: Bools  # [N] False for forced moves, which are played without querying the agent
    agents: NDArray[np.int8]  # [N] index of the agent of each player
    over: Bools  # [N] whether this move ended the game


def play(
    game: Game,
    states: States,
    agents: Sequence[Agent],
    rng: np.random.Generator,
    *,
    seats: NDArray[np.int8] | None = None,
    ask_forced: bool = False,
) -> Iterator[Moves]:
    """Play `states` [G] in place, one decision per game and step, until no game has a current player.

    `seats` [G, P] is the index of the agent at each seat and may change between steps. Without it agent p plays
    seat p, and a single agent plays every seat. Forced moves are played without querying the agent unless
    `ask_forced`. Agents are queried in their order, so one `rng` gives one result. Raises IllegalAction.
    """
    game = unchecked(game)
    while True:
        players = game.current_player(states)
        rows = np.flatnonzero(players >= 0)
        if rows.size == 0:
            return
        all_running = rows.size == len(states)
        running = states if all_running else take(states, rows)
        current_players = players if all_running else players[rows]
        info_states = game.information(running, current_players)
        legal = legality(game, info_states)
        forced = legal.forced_moves()
        queried = np.ones(rows.size, dtype=np.bool_) if ask_forced else forced < 0
        agent_indices = _agent_indices(agents, seats, rows, current_players)
        actions = np.where(queried, np.int16(0), forced)
        _query_agents(agents, agent_indices, queried, info_states, current_players, rng, actions)
        _check_legality(game, info_states, legal, actions, agents, agent_indices)
        if all_running:
            game.apply(states, actions)
            over = game.is_over(states)
        else:
            game.apply(running, actions)
            put(states, rows, running)
            over = game.is_over(running)
        yield Moves(rows, current_players, info_states, actions, queried, agent_indices, over)


def play_out(
    game: Game,
    states: States,
    agents: Sequence[Agent],
    rng: np.random.Generator,
    *,
    seats: NDArray[np.int8] | None = None,
) -> None:
    """Play `states` [G] in place to the end (or until UNRESOLVED)."""
    for _ in play(game, states, agents, rng, seats=seats):
        pass


def _agent_indices(
    agents: Sequence[Agent], seats: NDArray[np.int8] | None, rows: NDArray[np.intp], current_players: Players
) -> NDArray[np.int8]:
    if len(agents) == 1:
        return np.zeros(rows.size, dtype=np.int8)
    return current_players if seats is None else seats[rows, current_players]


def _query_agents(
    agents: Sequence[Agent],
    agent_indices: NDArray[np.int8],
    queried: Bools,
    info_states: InfoStates,
    current_players: Players,
    rng: np.random.Generator,
    actions: Actions,
) -> None:
    """Fill `actions` in the `queried` rows, agent by agent."""
    for index, agent in enumerate(agents):
        selected = queried if len(agents) == 1 else queried & (agent_indices == index)
        indices = np.flatnonzero(selected)
        if indices.size == selected.size:
            actions[:] = _actions(agent, info_states, current_players, rng)
        elif indices.size:
            actions[indices] = _actions(agent, take(info_states, indices), current_players[indices], rng)


def _actions(agent: Agent, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
    given = np.asarray(agent.act(info_states, players, rng))
    name = f"{type(agent).__name__}.act"
    if given.shape != players.shape:
        raise IllegalAction(f"{name} returned shape {given.shape}: must be one action for each of {players.size} games")
    if given.dtype.kind not in "iu":
        raise IllegalAction(f"{name} returned {given.dtype}: must be whole numbers")
    actions = given.astype(np.int16, copy=False)
    if actions is not given and (actions != given).any():
        raise IllegalAction(f"{name} returned {given[actions != given][0]}: is no action")
    return actions


def _check_legality(
    game: Game,
    info_states: InfoStates,
    legal: Legality,
    actions: Actions,
    agents: Sequence[Agent],
    agent_indices: NDArray[np.int8],
) -> None:
    legal_rows = legal.are_legal(actions)
    if not legal_rows.all():
        row = int(np.flatnonzero(~legal_rows)[0])
        allowed = np.flatnonzero(game.legal_actions(InfoStates(info_states[row : row + 1]))[0]).tolist()
        action = f"action {int(actions[row])} of {type(agents[int(agent_indices[row])]).__name__}"
        raise IllegalAction(f"{game.spec.name}: {action} is not legal here; legal: {allowed}")
