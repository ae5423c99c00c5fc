"""Poker Squares on one core: decisions of random legal play through the public loop, and observations, by CPU time."""

import time

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from cardlab.agents.exploration import RandomAgent
from cardlab.agents.registry import load_agent
from cardlab.games.loop import play, play_out
from cardlab.games.poker_squares.game import PokerSquares
from cardlab.games.protocol import InfoStates, States
from random_play import NUM_TABLES, play_and_redeal

pytestmark = pytest.mark.benchmark(timer=time.process_time)  # all on one thread; other processes do not count

NUM_STEPS = 500  # of all tables: 20 games at each
DECISIONS_PER_SECOND = 4_000_000
OBSERVATIONS_PER_SECOND = 300_000
CHAMPION_SECONDS = 0.002  # a game, in batch


def afterstates(game: PokerSquares, num_games: int) -> InfoStates:
    """All afterstates of random play, in a random order."""
    rng = np.random.default_rng(1)
    states = game.deal(num_games, rng)
    kept: list[InfoStates] = []
    for moves in play(game, states, [RandomAgent(game)], rng, ask_forced=True):
        after = InfoStates(moves.info_states.copy())
        game.apply(after, moves.actions)
        kept.append(after)
    return InfoStates(rng.permutation(np.concatenate(kept)))


def test_decisions_per_second(benchmark: BenchmarkFixture) -> None:
    game = PokerSquares()
    payoffs = benchmark.pedantic(lambda: play_and_redeal(game, NUM_STEPS), rounds=7, warmup_rounds=1)
    assert 14 < payoffs.sum() / (NUM_TABLES * NUM_STEPS / 25) < 15  # it was random play that was timed
    best = NUM_TABLES * NUM_STEPS / benchmark.stats.stats.min
    benchmark.extra_info["decisions_per_second"] = round(best)
    assert best >= DECISIONS_PER_SECOND


@pytest.mark.parametrize("features", ["lines", "sparse_lines", "paper"])
def test_observations_per_second(benchmark: BenchmarkFixture, features: str) -> None:
    game = PokerSquares(features=features)
    states = InfoStates(afterstates(game, 100)[:NUM_TABLES])
    players = np.zeros(len(states), dtype=np.int8)
    benchmark.pedantic(lambda: game.observe(states, players), rounds=50, iterations=5, warmup_rounds=2)
    best = len(states) / benchmark.stats.stats.min
    benchmark.extra_info["observations_per_second"] = round(best)
    assert best >= OBSERVATIONS_PER_SECOND


def test_action_features_per_second(benchmark: BenchmarkFixture) -> None:
    game = PokerSquares()
    after = afterstates(game, 200)
    states = game.determinize(after, np.zeros(len(after), dtype=np.int8), np.random.default_rng(2))
    states = States(states[~game.is_over(states)][:200])
    players = np.zeros(len(states), dtype=np.int8)
    pairs = len(game.action_features(game.information(states, players), players)[0])
    known = game.information(states, players)
    benchmark.pedantic(lambda: game.action_features(known, players), rounds=50, iterations=5, warmup_rounds=2)
    benchmark.extra_info["actions_per_second"] = round(pairs / benchmark.stats.stats.min)


@pytest.mark.usefixtures("one_thread")
def test_seconds_a_game_of_the_champion(benchmark: BenchmarkFixture) -> None:
    game = PokerSquares()
    champion = load_agent(game, "champion")
    dealt = game.deal(NUM_TABLES, np.random.default_rng(3))
    benchmark.pedantic(
        lambda states: play_out(game, states, [champion], np.random.default_rng(4)),
        setup=lambda: ((States(dealt.copy()),), {}),
        rounds=5,
        warmup_rounds=1,
    )
    best = benchmark.stats.stats.min / NUM_TABLES
    benchmark.extra_info["milliseconds_a_game"] = round(1000 * best, 2)
    assert best <= CHAMPION_SECONDS
