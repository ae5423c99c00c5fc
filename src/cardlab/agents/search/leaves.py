"""Leaf evaluators of searches: playouts by a kernel or by agents, or the value of a policy."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cardlab.games.agent_protocol import Agent, Policy
from cardlab.games.loop import play, play_out
from cardlab.games.protocol import Floats, Game, Players, States
from cardlab.games.record_arrays import join, put, take


class LeafEvaluator(Protocol):
    """Estimates the final payoffs of positions."""

    def __call__(self, states: States, players: Players, rng: np.random.Generator) -> Floats:
        """[G, P] total payoffs; `players` [G] are the searching players. `states` [G] may be changed."""
        ...


@dataclass(frozen=True)
class KernelPlayouts:
    """Playouts in one kernel, by the policy of the kernel."""

    kernel: Callable[[States, np.random.Generator], Floats]

    def __call__(self, states: States, players: Players, rng: np.random.Generator) -> Floats:
        """[G, P] payoffs of one playout each."""
        return self.kernel(states, rng)


@dataclass(frozen=True)
class AgentPlayouts:
    """Playouts by one agent."""

    game: Game
    agent: Agent

    def __call__(self, states: States, players: Players, rng: np.random.Generator) -> Floats:
        """[G, P] payoffs of one playout each."""
        play_out(self.game, states, [self.agent], rng)
        return self.game.payoffs(states)


@dataclass(frozen=True)
class PolicyValues:
    """Plays `depth` decisions by `agent`, then takes the value of `policy`.

    The value is that of the player to move. With two players the opponent's value is its negative. With more, play
    continues until the searching player is to move, and the negative of the value is split equally among the others
    (all such games are zero-sum).
    """

    game: Game
    policy: Policy
    agent: Agent
    depth: int = 0

    def __call__(self, states: States, players: Players, rng: np.random.Generator) -> Floats:
        """[G, P] payoffs so far plus expected ones."""
        for _ in islice(play(self.game, states, [self.agent], rng), self.depth):
            pass
        if self.game.spec.num_players > 2:
            self._play_to(states, players, rng)
        return self._values(states)

    def _play_to(self, states: States, players: Players, rng: np.random.Generator) -> None:
        """Play until `players` are to move, or the game is over."""
        while True:
            movers = self.game.current_player(states)
            waiting = np.flatnonzero((movers >= 0) & (movers != players))
            if waiting.size == 0:
                return
            part = take(states, waiting)
            next(play(self.game, part, [self.agent], rng))
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
class BatchedLeaf:
    """Evaluates the leaves of many decisions in one call where this cannot change the result.

    A leaf evaluator that draws no random numbers gets all decisions together. One that draws gets them one by one,
    each with its own stream. The first call finds out which kind it is.
    """

    leaf: LeafEvaluator
    draws: bool = field(default=False, init=False)

    def __call__(
        self, parts: Sequence[States], players: Sequence[int], streams: Sequence[np.random.Generator]
    ) -> list[NDArray[np.float64]]:
        """[parts] payoffs [G, P], given the searching player and stream of each part; parts may be changed."""
        if len(parts) > 1 and not self.draws:
            sizes = [len(part) for part in parts]
            stream = np.random.default_rng(0)
            before = stream.bit_generator.state
            owners = np.repeat(np.array(players, dtype=np.int8), sizes)
            payoffs = self.leaf(join(parts), owners, stream).astype(np.float64)
            if stream.bit_generator.state == before:
                return np.split(payoffs, np.cumsum(sizes)[:-1])
            self.draws = True
        return [
            self.leaf(part, np.full(len(part), player, dtype=np.int8), stream).astype(np.float64)
            for part, player, stream in zip(parts, players, streams, strict=True)
        ]
