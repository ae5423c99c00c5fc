"""DQN on Poker Squares beside Stable-Baselines3's: both sides in one run, in turn, by the CPU time of one core.

Both have the same perceptron over the same observation, one-step targets of a target network, minibatches, updates and
memory. SB3's environment costs nothing (stable_baselines.py). Its DQN knows no masks: it prices and plays illegal
actions too, which the recording does not mind. TD over afterstates has no public peer: learning_shares.py prints its
own figures.
"""

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import stable_baselines
from learning_iterations import FAST, best_speed, learn

ROUND, MINIBATCH, UPDATES, MEMORY = 2048, 256, 16, 30_000  # of agent=poker_squares/dqn
TABLES = 128
DQN = (
    "experiment=poker_squares/dqn",
    "network=mlp",
    "agent.n_step=1",
    "agent.double=false",
    f"trainer.parallel_games={TABLES}",
)
ROUNDS = 10
PAIRS = 3
BAR = 0.9  # the games of the peer are free


@pytest.mark.benchmark(group="learning")
def test_dqn_learns_no_slower_than_stable_baselines(benchmark: BenchmarkFixture) -> None:
    """Decisions played and learned from a second; the best round of several pairs."""
    recording = stable_baselines.record(DQN, TABLES)
    ours, fast, theirs = [0.0], [0.0], [0.0]

    def pair() -> None:
        peer = stable_baselines.dqn(recording, ROUND, MINIBATCH, UPDATES, MEMORY)
        theirs.append(best_speed(stable_baselines.learn(peer, ROUND, ROUNDS)))
        ours.append(best_speed(learn(DQN, ROUNDS)))
        fast.append(best_speed(learn([*DQN, *FAST], ROUNDS)))

    benchmark.pedantic(pair, rounds=PAIRS)
    ratio = max(ours) / max(theirs)
    benchmark.extra_info |= {
        "ours": round(max(ours)),
        "ours, fast mode": round(max(fast)),
        "Stable-Baselines3": round(max(theirs)),
        "ratio": round(ratio, 2),
    }
    said = f"{max(ours):,.0f} decisions/s, in the fast mode {max(fast):,.0f}, Stable-Baselines3 {max(theirs):,.0f}"
    print(f"{said}: {ratio:.2f} times")
    assert ratio >= BAR
