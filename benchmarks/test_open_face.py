"""Open-face on one core: decisions of random legal play through the public loop, observations, simulations."""

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from cardlab.agents.exploration import RandomAgent
from cardlab.agents.registry import make_agent
from cardlab.games.loop import play
from cardlab.games.open_face.game import OpenFace
from cardlab.games.protocol import InfoStates, Players
from random_play import NUM_TABLES, play_and_redeal

NUM_GAMES = 2  # at each table: rounds short enough that some run undisturbed
GAME_LENGTH = 26
DECISIONS_PER_SECOND = 3_000_000
OBSERVATIONS_PER_SECOND = 1_000_000


def decisions(game: OpenFace, num_games: int) -> tuple[InfoStates, Players]:
    """All positions of random play with who decides there, in a random order."""
    rng = np.random.default_rng(1)
    states = game.deal(num_games, rng)
    kept = [
        (moves.info_states.copy(), moves.players)
        for moves in play(game, states, [RandomAgent(game)], rng, ask_forced=True)
    ]
    order = rng.permutation(GAME_LENGTH * num_games)
    info_states = np.concatenate([info_states for info_states, _ in kept])
    return InfoStates(info_states[order]), np.concatenate([players for _, players in kept])[order]


def test_decisions_per_second(benchmark: BenchmarkFixture) -> None:
    game = OpenFace()
    steps = NUM_GAMES * GAME_LENGTH
    payoffs = benchmark.pedantic(lambda: play_and_redeal(game, steps), rounds=100, warmup_rounds=2)
    assert 4.1 < np.sqrt(np.mean(payoffs[:, 0] ** 2)) < 4.4  # it was random play that was timed
    best = NUM_TABLES * steps / benchmark.stats.stats.min
    benchmark.extra_info["decisions_per_second"] = round(best)
    assert best >= DECISIONS_PER_SECOND


@pytest.mark.parametrize(("features", "bar"), [("rows", OBSERVATIONS_PER_SECOND), ("paper", 0)])
def test_observations_per_second(benchmark: BenchmarkFixture, features: str, bar: int) -> None:
    game = OpenFace(features=features)
    info_states, players = (part[:NUM_TABLES] for part in decisions(game, 40))
    known = InfoStates(info_states)
    benchmark.pedantic(lambda: game.observe(known, players), rounds=50, iterations=5, warmup_rounds=2)
    best = NUM_TABLES / benchmark.stats.stats.min
    benchmark.extra_info["observations_per_second"] = round(best)
    assert best >= bar


@pytest.mark.parametrize("step", [0, 12])
def test_random_fills_per_second(benchmark: BenchmarkFixture, step: int) -> None:
    """Decisions of the first card (232 plans of 100 simulations) and of a later one (3 rows of 500)."""
    game = OpenFace()
    info_states, players = decisions(game, 100)
    here = info_states["step"] == step
    agent = make_agent(game, "random_fills")
    known, movers = InfoStates(info_states[here]), players[here]
    benchmark.pedantic(lambda: agent.act(known, movers, np.random.default_rng(0)), rounds=5, warmup_rounds=1)
    benchmark.extra_info["decisions_per_second"] = round(len(known) / benchmark.stats.stats.min)
