"""OpenSpiel's games through the public loop, on one core: decisions of random play a second, and of learning by PPO."""

import time

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from cardlab.integrations.open_spiel.game import OpenSpiel
from learning_iterations import best_speed, learn
from random_play import NUM_TABLES, play_and_redeal

pytestmark = pytest.mark.benchmark(timer=time.process_time)

STEPS = {"leduc_poker": 100, "tic_tac_toe": 100, "euchre": 50, "hearts": 70}  # at each table
LEDUC = 60_000  # decisions a second


@pytest.mark.parametrize("text", STEPS)
def test_decisions_per_second(benchmark: BenchmarkFixture, text: str) -> None:
    game = OpenSpiel(text=text)
    benchmark.pedantic(lambda: play_and_redeal(game, STEPS[text]), rounds=3, warmup_rounds=1)
    best = NUM_TABLES * STEPS[text] / benchmark.stats.stats.min
    benchmark.extra_info["decisions_per_second"] = round(best)
    print(f"{text}: {best:,.0f} decisions/s")
    assert text != "leduc_poker" or best >= LEDUC


@pytest.mark.parametrize("experiment", ["game=open_spiel agent=ppo", "experiment=open_spiel/ppo"])
def test_learning_per_second(benchmark: BenchmarkFixture, experiment: str) -> None:
    rounds = [*benchmark.pedantic(lambda: learn([*experiment.split(), "game.text=leduc_poker"], 6), rounds=1)]
    benchmark.extra_info["decisions_per_second"] = round(best_speed(rounds))
    print(f"{experiment}: {best_speed(rounds):,.0f} decisions/s learned from")
