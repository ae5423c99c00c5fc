"""The one loop that plays games. Collection, search, arena, serving and the tests all consume it.

It is a generator that moves every table by one decision per step. Between steps the caller owns the states and may
deal finished rows anew, look at them, or stop.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cardlab.games.agent_protocol import Agent
from cardlab.games.arrays import unchecked
from cardlab.games.legality import Legality, legality
from cardlab.games.protocol import Actions, Bools, Game, InfoStates, Players, States
from cardlab.games.rows import put, take


class IllegalAction(RuntimeError):
    """An agent returned an action that the rules forbid: a fault of the agent."""


@dataclass(frozen=True, slots=True)
class Moves:
    """One step: the decision made at each table where somebody had one."""

    rows: NDArray[np.intp]  # [N] the tables that moved, ascending
    players: Players  # [N] who decided
    info_states: InfoStates  # [N] what they knew, before the move
    actions: Actions  # [N] what they did
    asked: Bools  # [N] False where the single legal action was played without asking
    agents: NDArray[np.int8]  # [N] index of the agent that sits there
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
    """Play `states` [G] in place, one decision per table and step, until nobody is to move anywhere.

    `seats` [G, P] gives the agent (an index) at each seat and may be changed between steps; without it agent p sits
    at seat p, or a single agent everywhere. A single legal action is played unasked unless `ask_forced`. Agents are
    asked in their order, so one `rng` gives one result. Raises IllegalAction for what the rules forbid.
    """
    game = unchecked(game)
    while True:
        players = game.current_player(states)
        rows = np.flatnonzero(players >= 0)
        if rows.size == 0:
            return
        everywhere = rows.size == len(states)
        here = states if everywhere else take(states, rows)
        movers = players if everywhere else players[rows]
        info_states = game.information(here, movers)
        legal = legality(game, info_states)
        sole = legal.sole()
        asked = np.ones(rows.size, dtype=np.bool_) if ask_forced else sole < 0
        sitting = _sitting(agents, seats, rows, movers)
        actions = np.where(asked, np.int16(0), sole)
        _ask(agents, sitting, asked, info_states, movers, rng, actions)
        _check(game, info_states, legal, actions)
        if everywhere:
            game.apply(states, actions)
            over = game.is_over(states)
        else:
            game.apply(here, actions)
            put(states, rows, here)
            over = game.is_over(here)
        yield Moves(rows, movers, info_states, actions, asked, sitting, over)


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


def _sitting(
    agents: Sequence[Agent], seats: NDArray[np.int8] | None, rows: NDArray[np.intp], movers: Players
) -> NDArray[np.int8]:
    if len(agents) == 1:
        return np.zeros(rows.size, dtype=np.int8)
    return movers if seats is None else seats[rows, movers]


def _ask(
    agents: Sequence[Agent],
    sitting: NDArray[np.int8],
    asked: Bools,
    info_states: InfoStates,
    movers: Players,
    rng: np.random.Generator,
    actions: Actions,
) -> None:
    """Fill `actions` where somebody is asked, agent by agent."""
    for index, agent in enumerate(agents):
        mine = asked if len(agents) == 1 else asked & (sitting == index)
        picked = np.flatnonzero(mine)
        if picked.size == mine.size:
            actions[:] = agent.act(info_states, movers, rng)
        elif picked.size:
            actions[picked] = agent.act(take(info_states, picked), movers[picked], rng)


def _check(game: Game, info_states: InfoStates, legal: Legality, actions: Actions) -> None:
    fits = legal.allows(actions)
    if not fits.all():
        row = int(np.flatnonzero(~fits)[0])
        allowed = np.flatnonzero(game.legal_actions(InfoStates(info_states[row : row + 1]))[0]).tolist()
        raise IllegalAction(f"{game.spec.name}: action {int(actions[row])} is not legal here; legal: {allowed}")
