"""Which deals belong to which purpose, the deals themselves, and the options of the group `arena`.

Deal number d of a seed is the same for all agents.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import IntEnum
from hashlib import sha256
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cardlab.core.child_processes import usable_cores
from cardlab.core.messages import InvalidOption
from cardlab.core.options import Number, Text, Whole, option, options
from cardlab.evaluation.seating import Lineup
from cardlab.games.cards.deck import Cards
from cardlab.games.protocol import Game, States

EVALUATION_SEED = 20_000_001
"""Default of `arena.seed`, far from the small seeds of training: evaluations, comparisons, tournaments, snapshots."""
PROMOTION_SEED = 30_000_001
"""The same for promotions."""

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
    """[last - first] the deals of `seed` from number `first` on, in the order of `decks` [D, 52] if given."""
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


DEFAULT_REFERENCES = ("random",)
MIN_DEALS = 2  # an interval needs a variance
MAX_DEALS = 10**9  # years of play: more is a typing error
LONG_MATCH = 5000  # deals of all matches, from which starting processes costs less than it saves


@options("arena")
class ArenaOptions:
    """Duplicate matches: the same deals at every seating."""

    deals: Whole = option(
        2000, "deals of each match, at every seating; with `until`: the maximum", ge=MIN_DEALS, le=MAX_DEALS
    )
    pairing_deals: Whole = option(
        200, "deals of each match between snapshots and of the cross tables of the pipeline", ge=MIN_DEALS, le=MAX_DEALS
    )
    references: tuple[Text, ...] = option(
        (), "agents to play against, e.g. [random,greedy]; empty: those of the experiment, or random"
    )
    seed: Whole = option(EVALUATION_SEED, "seed of the deals, far from the seeds of training and tuning", ge=0)
    processes: Whole | None = option(
        None, "worker processes; null: one per core in long matches; figures do not depend on the number", ge=1, le=256
    )
    launcher: Literal["processes", "ray"] = option(
        "processes", "what starts the workers: processes, or ray (all cores of its cluster)"
    )
    chunk: Whole | None = option(
        None, "deals that advance together; null: about 2,048 parallel games; another value draws another sample", ge=1
    )
    until: Number | None = option(
        None, "half-width of the 95 % interval, in points, at which a match stops; null: never", gt=0
    )
    records: Text | None = option(
        None, "folder for a record of every game, with the values of searching agents; null: none", min_length=1
    )

    def for_pairings(self) -> "ArenaOptions":
        """These options with `pairing_deals` deals, all of them played, without records."""
        return replace(self, deals=self.pairing_deals, until=None, records=None)

    def workers_of(self, lineups: Sequence[Lineup]) -> int:
        """Processes to use for matches of these lineups: where agents search, few deals are long too.

        InvalidOption for more than one where an agent learns: each process would have a policy of its own.
        """
        if any(lineup.learns for lineup in lineups):
            if self.launcher == "ray" or self.processes not in (None, 1):
                raise InvalidOption("arena.processes", self.processes, "1 where an agent learns, without Ray")
            return 1
        if self.processes is not None:
            return self.processes
        long = self.deals * len(lineups) >= LONG_MATCH or any(lineup.parallel_games for lineup in lineups)
        return usable_cores() if long else 1
