"""Seatings of a match: each deal is played in every seating, so that the luck of cards and seats cancels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from os import PathLike, fspath

import numpy as np
from numpy.typing import NDArray

from cardlab.agents.specs import is_learning, is_searching, is_timed
from cardlab.core.messages import InvalidOption
from cardlab.evaluation.intervals import Bounds
from cardlab.games.agent_protocol import Agent, check_callable
from cardlab.games.make_game import check_game, without_training_options
from cardlab.games.protocol import Game

MAX_PERMUTED_PLAYERS = 4  # with more players only rotations are played

SEARCH_PARALLEL_GAMES = 32  # parallel games of searching agents; small, since progress and Ctrl-C act per chunk

Entry = Agent | str
"""An agent, or the text that names one (a scripted agent, a search, or a trained policy's folder)."""

Given = Entry | PathLike[str]
"""An entry as callers write it."""


@dataclass(frozen=True)
class Lineup:
    """The entries of one match in groups: all copies of one agent are one group."""

    names: tuple[str, ...]  # [P]
    groups: tuple[int, ...]  # [P] the group of each entry; entry 0 is in group 0
    agents: tuple[Entry, ...]  # [groups]
    seatings: NDArray[np.int8]  # [S, P] the group at each seat
    payoff_range: Bounds  # of a player in one game

    @property
    def difference_range(self) -> Bounds:
        """The bounds of a difference between two payoffs."""
        width = self.payoff_range[1] - self.payoff_range[0]
        return -width, width

    @property
    def num_seatings(self) -> int:
        """S: games played on each deal."""
        return len(self.seatings)

    def seated_names(self, seating: int) -> tuple[str, ...]:
        """[P] the name of the agent at each seat of a seating."""
        return tuple(self.names[self.groups.index(group)] for group in self.seatings[seating].tolist())

    @property
    def parallel_games(self) -> int | None:
        """Number of parallel games for agents that search; None for others."""
        return min(filter(None, map(_parallel_games, self.agents)), default=None)

    @property
    def learns(self) -> bool:
        """Whether an agent learns while it plays."""
        return any(
            is_learning(entry) if isinstance(entry, str) else getattr(entry, "learning", False) for entry in self.agents
        )

    def weights(self) -> NDArray[np.float64]:
        """[groups, S, P] the share of each seat of each seating in a group's mean over one deal."""
        at_seat = self.seatings[None] == np.arange(len(self.agents), dtype=np.int8)[:, None, None]
        return at_seat / at_seat.sum(axis=(1, 2), keepdims=True)


def _parallel_games(entry: Entry) -> int | None:
    """Parallel games of one entry: 1 for timed searches, which search one decision at a time."""
    if isinstance(entry, str):
        searching, timed = is_searching(entry), is_timed(entry)
    else:
        searching, timed = getattr(entry, "searching", False), getattr(entry, "timed", False)
    return 1 if timed else SEARCH_PARALLEL_GAMES if searching else None


def _entry_name(entry: Entry) -> str:
    """The text of an entry, or the name of its agent's class."""
    return entry if isinstance(entry, str) else type(entry).__name__


def make_lineup(game: Game, entries: Sequence[Given] | Mapping[str, Given]) -> Lineup:
    """The lineup of `entries`, or of entries by name; InvalidOption unless there is one per player of the game.

    Entries are copies of one agent when they are the same text or the same object. Copies are not permuted among
    themselves. If all entries are copies, the first is its own group, so that its mean shows the luck of seats.
    """
    check_game(game)
    num_players = game.spec.num_players
    listed = list(entries.values()) if isinstance(entries, Mapping) else entries
    given = [fspath(entry) if isinstance(entry, PathLike) else entry for entry in listed]
    if isinstance(listed, str) or len(given) != num_players:
        names = [*entries] if isinstance(entries, Mapping) else [*map(_entry_name, given)]
        shown = listed if isinstance(listed, str) else names
        raise InvalidOption("agents", shown, f"a list of {num_players} for {game.spec.name}, one per player")
    for entry in given:
        if not isinstance(entry, str):
            _check_agent(game, entry)
    agents: list[Entry] = []
    groups = [_group(agents, entry) for entry in given]
    if num_players > 1 and len(agents) == 1:
        agents = [given[0], given[0]]
        groups = [0] + [1] * (num_players - 1)
    names = tuple(entries) if isinstance(entries, Mapping) else tuple(map(_entry_name, given))
    payoffs = without_training_options(game).spec.payoff_range  # matches are played without them
    return Lineup(names, tuple(groups), tuple(agents), distinct_seatings(groups), payoffs)


def _check_agent(game: Game, agent: Agent) -> None:
    """Raise InvalidOption for what has no `act`, and for an agent of another game."""
    name = _entry_name(agent)
    check_callable(f"{name}.act", getattr(agent, "act", None), ("info_states", "players", "rng"))
    own = getattr(getattr(agent, "game", None), "spec", game.spec).name
    if own != game.spec.name:
        raise InvalidOption("agents", name, f"agents of {game.spec.name}; this one plays {own}")


def _group(agents: list[Entry], entry: Entry) -> int:
    """Index of `entry` in `agents`; appended if new."""
    for index, agent in enumerate(agents):
        if agent is entry or (isinstance(agent, str) and agent == entry):
            return index
    agents.append(entry)
    return len(agents) - 1


def distinct_seatings(groups: Sequence[int]) -> NDArray[np.int8]:
    """[S, P] the groups at each seat: every distinct order of up to 4 players, the distinct rotations of more."""
    if len(groups) <= MAX_PERMUTED_PLAYERS:
        orders = sorted(set(permutations(groups)))
    else:
        orders = list(dict.fromkeys(tuple(np.roll(groups, shift).tolist()) for shift in range(len(groups))))
    return np.array(orders, dtype=np.int8)
