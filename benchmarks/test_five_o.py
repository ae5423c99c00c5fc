"""Five-O on one core: decisions of random legal play through the public loop, and observations."""

import time

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from cardlab.agents.exploration import RandomAgent
from cardlab.agents.registry import make_agent
from cardlab.games.five_o.game import FiveO
from cardlab.games.loop import play
from cardlab.games.protocol import InfoStates, Players
from random_play import NUM_TABLES, play_and_redeal

# one core's seconds, whatever else the machine does
pytestmark = pytest.mark.benchmark(timer=time.process_time)

NUM_STEPS = 80  # of all tables: two games at each
DECISIONS_PER_SECOND = 3_000_000
OBSERVATIONS_PER_SECOND = {"columns": 1_000_000, "prospects": 5_000}


def positions(game: FiveO) -> tuple[InfoStates, Players]:
    """[NUM_TABLES] InfoStates of random play, of all turns."""
    rng = np.random.default_rng(1)
    states = game.deal(64, rng)
    steps = list(play(game, states, [RandomAgent(game)], rng, ask_forced=True))
    known = np.concatenate([moves.info_states for moves in steps])
    picked = rng.permutation(len(known))[:NUM_TABLES]
    return InfoStates(known[picked]), np.concatenate([moves.players for moves in steps])[picked]


def test_decisions_per_second(benchmark: BenchmarkFixture) -> None:
    game = FiveO()
    payoffs = benchmark.pedantic(lambda: play_and_redeal(game, NUM_STEPS), rounds=40, warmup_rounds=1)
    assert abs(payoffs[:, 0].sum()) < 0.1 * NUM_TABLES * NUM_STEPS / 40  # it was fair play that was timed
    best = NUM_TABLES * NUM_STEPS / benchmark.stats.stats.min
    benchmark.extra_info["decisions_per_second"] = round(best)
    assert best >= DECISIONS_PER_SECOND


@pytest.mark.parametrize("features", list(OBSERVATIONS_PER_SECOND))
def test_observations_per_second(benchmark: BenchmarkFixture, features: str) -> None:
    game = FiveO(features=features)
    known, players = positions(game)
    iterations = 5 if features == "columns" else 1
    benchmark.pedantic(lambda: game.observe(known, players), rounds=50, iterations=iterations, warmup_rounds=2)
    best = NUM_TABLES / benchmark.stats.stats.min
    benchmark.extra_info["observations_per_second"] = round(best)
    print(f"{features}: {best:.0f} observations/s")
    assert best >= OBSERVATIONS_PER_SECOND[features]


def test_action_features_per_second(benchmark: BenchmarkFixture) -> None:
    game = FiveO()
    known, players = positions(game)
    pairs = len(game.action_features(known, players)[0])
    benchmark.pedantic(lambda: game.action_features(known, players), rounds=50, iterations=5, warmup_rounds=2)
    benchmark.extra_info["actions_per_second"] = round(pairs / benchmark.stats.stats.min)


@pytest.mark.parametrize("name", ["greedy_1", "greedy_2", "fast_greedy_2"])
def test_scripted_decisions_per_second(benchmark: BenchmarkFixture, name: str) -> None:
    game = FiveO()
    known, players = positions(game)
    agent, rng = make_agent(game, name), np.random.default_rng(0)
    benchmark.pedantic(lambda: agent.act(known, players, rng), rounds=20, iterations=2, warmup_rounds=2)
    benchmark.extra_info["decisions_per_second"] = round(NUM_TABLES / benchmark.stats.stats.min)
