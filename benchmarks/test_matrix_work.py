"""What of the time of learning is matrix work: whole rounds beside the passes of the same networks timed alone."""

import pytest
import torch
from pytest_benchmark.fixture import BenchmarkFixture

from learning_shares import SETTINGS, Shares, measure

TRIES = 2
TILES: bool = getattr(torch.cpu, "_is_amx_tile_supported")()  # noqa: B009  AMX: bfloat16 several times as fast
BARS = {
    "PPO, Big 2, float32": 0.8,
    "PPO, Big 2, fast": 0.5 if TILES else 0.8,
    "DQN, Poker Squares": 0.6,
    "TD, Poker Squares": 0.4,
}
"""The faster the matrix work and the smaller the network, the more of a round is the rest: docs/speed.md."""


@pytest.mark.benchmark(group="learning")
@pytest.mark.parametrize("setting", list(BARS))
def test_most_of_learning_is_matrix_work(benchmark: BenchmarkFixture, setting: str) -> None:
    tries: list[Shares] = []
    benchmark.pedantic(lambda: tries.append(measure(SETTINGS[setting])), rounds=TRIES)
    speed = max(one.decisions for one in tries)
    share = speed * min(one.matrix_work / one.decisions for one in tries)  # best by best, so that noise favours neither
    benchmark.extra_info |= {"decisions/s": round(speed), "matrix work": round(share, 3)}
    print(f"{setting}: {100 * share:.0f} % of a round is matrix work")
    assert share >= BARS[setting]
