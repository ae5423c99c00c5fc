"""Five-card hands per second on one core, beside a public evaluator written in C."""

import time
from collections.abc import Callable

import numpy as np
import pytest
from phevaluator import evaluate_cards
from pytest_benchmark.fixture import BenchmarkFixture

from cardlab.games.cards import hands

# one core's seconds, whatever else the machine does
pytestmark = pytest.mark.benchmark(timer=time.process_time)

NUM_HANDS = 2_000_000
NUM_SLOW = 20_000


@pytest.fixture(scope="module")
def cards() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.random((NUM_HANDS, 52), dtype=np.float32).argpartition(5, axis=1)[:, :5].astype(np.int8)


def _report(benchmark: BenchmarkFixture, evaluate: Callable[[], object], count: int) -> float:
    benchmark.pedantic(evaluate, rounds=10, warmup_rounds=2)
    best = count / benchmark.stats.stats.min
    benchmark.extra_info["million_hands_per_second"] = round(best / 1e6, 1)
    return best


def test_hands_from_cards(benchmark: BenchmarkFixture, cards: np.ndarray) -> None:
    assert _report(benchmark, lambda: hands.strengths(cards), NUM_HANDS) >= 300e6


def test_hands_from_running_keys(benchmark: BenchmarkFixture, cards: np.ndarray) -> None:
    keys = hands.keys_of(cards)
    assert _report(benchmark, lambda: hands.strengths_of_keys(keys), NUM_HANDS) >= 300e6


def test_phevaluator(benchmark: BenchmarkFixture, cards: np.ndarray) -> None:
    rows = cards[:NUM_SLOW].tolist()
    _report(benchmark, lambda: [evaluate_cards(*row) for row in rows], NUM_SLOW)


def test_building_the_tables(benchmark: BenchmarkFixture) -> None:
    def build() -> None:
        hands.strength_table.cache_clear()
        hands.front_table.cache_clear()
        hands.strength_table()
        hands.front_table()

    benchmark.pedantic(build, rounds=5)
    assert benchmark.stats.stats.min < 1.5
