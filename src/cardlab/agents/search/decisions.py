"""What a search is asked and what it answers, one decision at a time; and where its chance comes from.

The chance of a search is a function of its seed, of what the player knows and of the number of the batch, and of
nothing else: the same position is thought about in the same way in every game, process, thread and batch.
"""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cardlab.games.protocol import Game, InfoStates, Players, States
from cardlab.games.rows import join, take

DEALS, LEAVES = 0, 1  # last number of the spawn key of each kind of stream


@dataclass(frozen=True)
class Decision:
    """One decision to think about."""

    info_state: InfoStates  # [1]
    player: int
    legal: NDArray[np.intp]  # [k] the legal actions, ascending
    entropy: int  # of all streams of this decision

    def stream(self, phase: int, batch: int, kind: int) -> np.random.Generator:
        """The generator of one batch."""
        return np.random.default_rng(np.random.SeedSequence(self.entropy, spawn_key=(phase, batch, kind)))


def make_decisions(game: Game, info_states: InfoStates, players: Players, seed: int) -> list[Decision]:
    """[N] the decisions of `players` [N]."""
    legal = game.legal_actions(info_states)
    decisions: list[Decision] = []
    for row, player in enumerate(players.tolist()):
        info_state = InfoStates(info_states[row : row + 1])
        digest = blake2b(info_state.tobytes(), digest_size=16, key=b"%d %d" % (seed, player)).digest()
        entropy = int.from_bytes(digest, "little")
        decisions.append(Decision(info_state, player, np.flatnonzero(legal[row]), entropy))
    return decisions


class Determinizer(Protocol):
    """Full states that a player may be in."""

    def __call__(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> States:
        """[G] states consistent with what `players` [G] know."""
        ...


def sample_deals(determinize: Determinizer, decision: Decision, num_deals: int, rng: np.random.Generator) -> States:
    """[num_deals] states that `decision` may be made in."""
    copies = take(decision.info_state, np.zeros(num_deals, dtype=np.intp))
    return determinize(copies, np.full(num_deals, decision.player, dtype=np.int8), rng)


def crossed(deals: States, actions: NDArray[np.intp]) -> tuple[States, NDArray[np.int16]]:
    """States [D · k] and actions [D · k]: each of `deals` [D] with each of `actions` [k], deal by deal."""
    rows = np.repeat(np.arange(len(deals)), len(actions))
    return take(deals, rows), np.tile(actions.astype(np.int16), len(deals))


@dataclass(frozen=True)
class Effort:
    """How much was searched: enough to do the same search again, whatever the clock said."""

    size: int  # deals (Monte Carlo), decks (expectimax) or descents (tree) of one batch
    batches: tuple[int, ...]  # done in each phase


@dataclass(frozen=True)
class Finding:
    """What a search thinks of one decision."""

    scores: NDArray[np.float64]  # [A] the action with the highest is played; minus infinity where illegal
    values: NDArray[np.float64]  # [A] expected payoff of the player; minus infinity where illegal or not tried
    simulations: int  # leaves that were looked at
    effort: Effort


def joined(states: list[States]) -> States:
    """All of `states`, one behind the other."""
    return states[0] if len(states) == 1 else join(states)
