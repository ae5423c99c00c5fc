"""Big 2 on one core: decisions of random play through the public loop, masks, observations, features of actions."""

import time

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from cardlab.agents.exploration import RandomAgent
from cardlab.agents.registry import make_agent
from cardlab.games.big2.game import Big2
from cardlab.games.loop import play
from cardlab.games.protocol import InfoStates, Players
from random_play import NUM_TABLES, play_and_redeal

pytestmark = pytest.mark.benchmark(timer=time.process_time)  # all on one thread; other processes do not count

NUM_STEPS = 500  # of all tables: about six games at each
DECISIONS_PER_SECOND = 4_000_000
OBSERVATIONS_PER_SECOND = 250_000


def decisions(game: Big2, num_games: int) -> tuple[InfoStates, Players]:
    """Positions of random play with who decides there, in a random order."""
    rng = np.random.default_rng(1)
    states = game.deal(num_games, rng)
    kept = [(moves.info_states, moves.players) for moves in play(game, states, [RandomAgent(game)], rng)]
    players = np.concatenate([players for _, players in kept])
    order = rng.permutation(len(players))[:NUM_TABLES]
    info_states = np.concatenate([info_states for info_states, _ in kept])
    return InfoStates(info_states[order]), players[order]


def test_decisions_per_second(benchmark: BenchmarkFixture) -> None:
    game = Big2()
    payoffs = benchmark.pedantic(lambda: play_and_redeal(game, NUM_STEPS), rounds=7, warmup_rounds=1)
    assert payoffs.sum() == 0
    assert 75 < NUM_TABLES * NUM_STEPS / len(payoffs) < 90  # it was random play that was timed
    best = NUM_TABLES * NUM_STEPS / benchmark.stats.stats.min
    benchmark.extra_info["decisions_per_second"] = round(best)
    assert best >= DECISIONS_PER_SECOND


def test_masks_per_second(benchmark: BenchmarkFixture) -> None:
    game = Big2()
    info_states, _ = decisions(game, 100)
    benchmark.pedantic(lambda: game.legal_actions(info_states), rounds=50, iterations=5, warmup_rounds=2)
    benchmark.extra_info["masks_per_second"] = round(NUM_TABLES / benchmark.stats.stats.min)


def test_lists_per_second(benchmark: BenchmarkFixture) -> None:
    game = Big2()
    info_states, _ = decisions(game, 100)
    benchmark.pedantic(lambda: game.list_legal_actions(info_states), rounds=50, iterations=5, warmup_rounds=2)
    benchmark.extra_info["lists_per_second"] = round(NUM_TABLES / benchmark.stats.stats.min)


@pytest.mark.parametrize("features", ["published", "full"])
def test_observations_per_second(benchmark: BenchmarkFixture, features: str) -> None:
    game = Big2(features=features)
    info_states, players = decisions(game, 100)
    benchmark.pedantic(lambda: game.observe(info_states, players), rounds=50, iterations=5, warmup_rounds=2)
    best = NUM_TABLES / benchmark.stats.stats.min
    benchmark.extra_info["observations_per_second"] = round(best)
    assert best >= OBSERVATIONS_PER_SECOND


def test_action_features_per_second(benchmark: BenchmarkFixture) -> None:
    game = Big2()
    info_states, players = decisions(game, 100)
    pairs = len(game.action_features(info_states, players)[0])
    benchmark.pedantic(lambda: game.action_features(info_states, players), rounds=50, warmup_rounds=2)
    benchmark.extra_info["actions_per_second"] = round(pairs / benchmark.stats.stats.min)
    benchmark.extra_info["decisions_per_second"] = round(NUM_TABLES / benchmark.stats.stats.min)


@pytest.mark.parametrize("weighted", [False, True])
def test_determinizations_per_second(benchmark: BenchmarkFixture, weighted: bool) -> None:
    game, rng = Big2(), np.random.default_rng(2)
    info_states, players = decisions(game, 100)
    weights = rng.random((NUM_TABLES, 4, 52), dtype=np.float32) if weighted else None
    benchmark.pedantic(lambda: game.determinize(info_states, players, rng, weights), rounds=20, warmup_rounds=2)
    benchmark.extra_info["determinizations_per_second"] = round(NUM_TABLES / benchmark.stats.stats.min)


@pytest.mark.parametrize("name", ["greedy", "planner"])
def test_scripted_decisions_per_second(benchmark: BenchmarkFixture, name: str) -> None:
    game, rng = Big2(), np.random.default_rng(3)
    agent = make_agent(game, name)
    info_states, players = decisions(game, 100)
    benchmark.pedantic(lambda: agent.act(info_states, players, rng), rounds=10, warmup_rounds=1)
    benchmark.extra_info["decisions_per_second"] = round(NUM_TABLES / benchmark.stats.stats.min)
