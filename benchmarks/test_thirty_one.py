"""Thirty-One on one core: decisions of random legal play through the public loop, and observations.

All in seconds of processor time of the one thread, which other work on the machine disturbs least.
"""

from itertools import islice
from time import process_time

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from cardlab.agents.exploration import RandomAgent
from cardlab.games.loop import play
from cardlab.games.protocol import InfoStates, States
from cardlab.games.thirty_one.game import ThirtyOne

pytestmark = pytest.mark.benchmark(timer=process_time)

NUM_TABLES = 1024
NUM_STEPS = 40  # of all tables in one timing
DECISIONS_PER_SECOND = 3_000_000  # two players
OBSERVATIONS_PER_SECOND = 500_000


class Tables:
    """Tables of random play that never stop: a finished match is dealt anew at once."""

    def __init__(self, game: ThirtyOne) -> None:
        self.game, self.rng = game, np.random.default_rng(0)
        self.states = game.deal(NUM_TABLES, self.rng)
        self.moves = play(game, self.states, [RandomAgent(game)], self.rng)
        self.finished, self.paid = 0, 0.0

    def advance(self) -> None:
        """Make NUM_STEPS decisions at every table."""
        for moves in islice(self.moves, NUM_STEPS):
            done = np.flatnonzero(moves.over)
            if done.size:
                self.finished += done.size
                self.paid += float(self.game.payoffs(States(self.states[done]))[:, 0].sum())
                self.states[done] = self.game.deal(done.size, self.rng)


def positions(game: ThirtyOne) -> InfoStates:
    """InfoStates of random play: those of the tables at which a player decides."""
    rng = np.random.default_rng(1)
    states = game.deal(NUM_TABLES, rng)
    for step, moves in enumerate(play(game, states, [RandomAgent(game)], rng), 1):
        if step == 7:
            return InfoStates(moves.info_states.copy())
    raise AssertionError("the matches ended too soon")


@pytest.mark.parametrize("num_players", [2, 4, 9])
def test_decisions_per_second(benchmark: BenchmarkFixture, num_players: int) -> None:
    tables = Tables(ThirtyOne(num_players=num_players))
    benchmark.pedantic(tables.advance, rounds=150, warmup_rounds=5)
    assert tables.finished > NUM_TABLES
    assert abs(tables.paid / tables.finished) < 0.1  # it was random play that was timed
    best = NUM_TABLES * NUM_STEPS / benchmark.stats.stats.min
    benchmark.extra_info["decisions_per_second"] = round(best)
    if num_players == 2:
        assert best >= DECISIONS_PER_SECOND


@pytest.mark.parametrize("features", ["table", "opponent_statistics", "paper"])
def test_observations_per_second(benchmark: BenchmarkFixture, features: str) -> None:
    game = ThirtyOne(features=features)
    known = positions(game)
    players = known["owner"].copy()
    benchmark.pedantic(lambda: game.observe(known, players), rounds=50, iterations=5, warmup_rounds=2)
    best = len(known) / benchmark.stats.stats.min
    benchmark.extra_info["observations_per_second"] = round(best)
    assert best >= OBSERVATIONS_PER_SECOND


def test_determinizations_per_second(benchmark: BenchmarkFixture) -> None:
    game = ThirtyOne()
    known = positions(game)
    players, rng = known["owner"].copy(), np.random.default_rng(2)
    benchmark.pedantic(lambda: game.determinize(known, players, rng), rounds=50, iterations=5, warmup_rounds=2)
    benchmark.extra_info["determinizations_per_second"] = round(len(known) / benchmark.stats.stats.min)
