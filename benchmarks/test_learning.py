"""PPO on Big 2 with the seed's network and four epochs: float32 and the fast mode beside Stable-Baselines3.

All sides in one run, in turn, by the CPU time of one core: the same network, decisions per round, minibatches and
epochs. SB3's environment costs nothing (stable_baselines.py), ours plays the games.
"""

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import stable_baselines
from learning_iterations import FAST, PPO_BIG2, best_speed, learn

ROUND, MINIBATCH, EPOCHS = 8192, 2048, 4  # of PPO_BIG2
TABLES = 1024
ROUNDS = 2
PAIRS = 3
PEER = "Stable-Baselines3"
BARS = {"float32": 1.7, "fast": 5.0}  # times the peer
FAST_BAR = 1.5  # times float32


@pytest.mark.benchmark(group="learning")
def test_ppo_learns_faster_than_stable_baselines(benchmark: BenchmarkFixture) -> None:
    """Decisions played and learned from a second; the best round of several pairs."""
    recording = stable_baselines.record(PPO_BIG2, TABLES)
    speeds = {PEER: 0.0, "float32": 0.0, "fast": 0.0}

    def pair() -> None:
        peer = stable_baselines.maskable_ppo(recording, ROUND, MINIBATCH, EPOCHS)
        rounds = {
            PEER: stable_baselines.learn(peer, ROUND, ROUNDS),
            "float32": learn(PPO_BIG2, ROUNDS),
            "fast": learn([*PPO_BIG2, *FAST], ROUNDS),
        }
        for name, measured in rounds.items():
            speeds[name] = max(speeds[name], best_speed(measured))

    benchmark.pedantic(pair, rounds=PAIRS)
    benchmark.extra_info |= {name: round(speed) for name, speed in speeds.items()}
    print({name: f"{speed:,.0f} decisions/s, {speed / speeds[PEER]:.2f}" for name, speed in speeds.items()})
    assert speeds["fast"] >= FAST_BAR * speeds["float32"]
    for name, bar in BARS.items():
        assert speeds[name] >= bar * speeds[PEER], name
