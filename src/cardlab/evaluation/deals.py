"""Which deals belong to which purpose, and the deals themselves.

Deal number d of a seed is the same for all agents.
"""

from collections.abc import Iterable
from enum import IntEnum
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from cardlab.games.cards.deck import Cards
from cardlab.games.protocol import Game, States

PROMOTION_SEED = 30_000_001
"""Default of `arena.seed` of promotions, as EVALUATION_SEED is of all else."""

DEALS, AGENTS = 0, 1
"""First number of the spawn key, of two or more numbers, of each kind of stream of a seed."""
_BLOCK = 256  # deals drawn from one stream; another number changes the deals of a seed


class Purpose(IntEnum):
    """What is played on deals of its own, so that no figure is chosen and reported on the same deals."""

    SWEEP = 1  # the scores of a sweep's trials
    CONFIRMATION = 2  # the best trial, trained again with fresh seeds
    EXPLOIT_CHOICE = 3  # which response plays against the policy; the figure is of `arena.seed`
    CALIBRATION = 4  # values of a policy against what its games paid
    CURVE = 1_000_003  # points of a learning curve
    PROMOTION_CHOICE = 50_000_000  # which seed of a group challenges the champion


_ADDED = (Purpose.CURVE, Purpose.PROMOTION_CHOICE)  # whose deals are those of `arena.seed` plus their number


def purpose_seed(seed: int, purpose: Purpose) -> int:
    """The seed of the deals of `purpose` in an arena with this `seed`."""
    if purpose in _ADDED:
        return seed + purpose
    return int(np.random.SeedSequence(seed, spawn_key=(purpose,)).generate_state(1, np.uint64)[0] >> np.uint64(11))


def pair_seed(seed: int, names: Iterable[str]) -> int:
    """The seed of the deals of a promotion: it depends on the two agents, not on their order."""
    text = "\0".join(sorted(names))
    return seed + int.from_bytes(sha256(text.encode()).digest()[:5], "big")


def deal_block(game: Game, seed: int, first: int, last: int, decks: Cards | None = None) -> States:
    """[last - first] the deals of `seed` from number `first` on, in the order of `decks` [D, C] if given."""
    blocks: list[NDArray[np.void]] = []
    for block in range(first // _BLOCK, -(-last // _BLOCK)):
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(DEALS, block)))
        if decks is None:
            blocks.append(game.deal(_BLOCK, rng))
        else:
            given = decks[block * _BLOCK : (block + 1) * _BLOCK]
            blocks.append(game.deal(len(given), rng, given))
    start = first % _BLOCK
    return States(np.concatenate(blocks)[start : start + last - first])
