"""What a position is worth where a search looks no further: playouts by a kernel or by agents, or a policy's value."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cardlab.agents.search.decisions import joined
from cardlab.games.agent_protocol import Agent, Policy
from cardlab.games.loop import play, play_out
from cardlab.games.protocol import Floats, Game, Players, States
from cardlab.games.rows import put, take


class Leaf(Protocol):
    """Estimates what is paid in the end."""

    def __call__(self, states: States, players: Players, rng: np.random.Generator) -> Floats:
        """[G, P] payoffs, in all; `players` [G] are those who search. `states` [G] may be changed."""
        ...


@dataclass(frozen=True)
class KernelPlayouts:
    """Playouts in one kernel, by its own policy."""

    kernel: Callable[[States, np.random.Generator], Floats]

    def __call__(self, states: States, players: Players, rng: np.random.Generator) -> Floats:
        """[G, P] payoffs of one playout each."""
        return self.kernel(states, rng)


@dataclass(frozen=True)
class Playouts:
    """Playouts through the loop, by `agents`: one for all, or the searching player's and all others'."""

    game: Game
    agents: Sequence[Agent]

    def __call__(self, states: States, players: Players, rng: np.random.Generator) -> Floats:
        """[G, P] payoffs of one playout each."""
        play_out(self.game, states, self.agents, rng, seats=seats_of(players, self.game))
        return self.game.payoffs(states)


def seats_of(players: Players, game: Game) -> NDArray[np.int8]:
    """[G, P] which of two agents plays on at each seat: 0 for those who search, 1 for all others."""
    return (np.arange(game.spec.num_players) != players[:, None]).astype(np.int8)


@dataclass(frozen=True)
class PolicyValues:
    """So many decisions are played by `agents` (as in Playouts); then `policy` says what it expects.

    It is asked as the player who is to move. With one or two players that is enough: the other's prospects are the
    opposite. With more, the game is first played on until the searching player is to move, and what that player
    expects is shared out among the others (all such games are zero-sum).
    """

    game: Game
    policy: Policy
    agents: Sequence[Agent]
    depth: int = 0

    def __call__(self, states: States, players: Players, rng: np.random.Generator) -> Floats:
        """[G, P] payoffs so far and expected."""
        if self.depth:
            seats = seats_of(players, self.game)
            for _ in islice(play(self.game, states, self.agents, rng, seats=seats), self.depth):
                pass
        if self.game.spec.num_players > 2:
            self._play_to(states, players, rng)
        return self._values(states)

    def _play_to(self, states: States, players: Players, rng: np.random.Generator) -> None:
        """Play on until `players` are to move, or the game is over."""
        while True:
            movers = self.game.current_player(states)
            waiting = np.flatnonzero((movers >= 0) & (movers != players))
            if waiting.size == 0:
                return
            part = take(states, waiting)
            next(play(self.game, part, self.agents, rng, seats=seats_of(players[waiting], self.game)))
            put(states, waiting, part)

    def _values(self, states: States) -> Floats:
        payoffs = self.game.payoffs(states)
        movers = self.game.current_player(states)
        rows = np.flatnonzero(movers >= 0)
        if rows.size:
            here, owners = take(states, rows), movers[rows]
            expected = self.policy.evaluate(self.game.information(here, owners), owners)[1]
            others = self.game.spec.num_players - 1
            if others:
                payoffs[rows] -= expected[:, None] / others
            payoffs[rows, owners] += expected + (expected / others if others else 0)
        return payoffs


@dataclass
class LeafBatches:
    """Asks a leaf for many decisions at once where that cannot change what it says.

    A leaf that draws no random numbers is asked for all decisions together; one that draws is asked decision by
    decision, with the decision's own stream. Which it is shows when it is asked.
    """

    leaf: Leaf
    draws: bool = field(default=False, init=False)

    def __call__(
        self, parts: Sequence[States], players: Sequence[int], streams: Sequence[np.random.Generator]
    ) -> list[NDArray[np.float64]]:
        """[parts] payoffs [G, P] of each part, whose searching player and stream are given; parts may be changed."""
        if len(parts) > 1 and not self.draws:
            sizes = [len(part) for part in parts]
            stream = np.random.default_rng(0)
            before = stream.bit_generator.state
            owners = np.repeat(np.array(players, dtype=np.int8), sizes)
            payoffs = self.leaf(joined(list(parts)), owners, stream).astype(np.float64)
            if stream.bit_generator.state == before:
                return np.split(payoffs, np.cumsum(sizes)[:-1])
            self.draws = True
        return [
            self.leaf(part, np.full(len(part), player, dtype=np.int8), stream).astype(np.float64)
            for part, player, stream in zip(parts, players, streams, strict=True)
        ]
