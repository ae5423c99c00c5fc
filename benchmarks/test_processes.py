"""What a second process is worth: rounds of PPO on Big 2 by one process and by two, in turns, one thread each.

And what a second thread is worth where it has most to do: in encoding Big 2's features of actions.

In large rounds and minibatches, as two cores are worth using; what a step costs whatever its size weighs more in small
ones, which are measured beside, without a bar.

By the clock, so it says something only where two cores have nothing else to do: idle cores are counted before each run,
and on a busy machine the test is skipped with the figures that it saw.
"""

import subprocess
import sys
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import pytest
import torch
from pytest_benchmark.fixture import BenchmarkFixture

from cardlab.agents.exploration import RandomAgent
from cardlab.games.big2.game import Big2
from cardlab.games.loop import play
from cardlab.games.protocol import InfoStates
from cardlab.networks.inputs import game_pairs
from learning_iterations import FAST, PPO_BIG2, train_speed

ROUNDS = 5
PAIRS = 3
SIZES = {32_768: (131_072, 4096), 16_384: (65_536, 2048), 4096: (16_384, 1024)}  # of minibatches: rounds, tables
ENCODED = 8192  # decisions
LARGE = 16_384  # from here on the bar holds
BAR = 1.8
IDLE = 1.9  # cores, of two: less is a machine that does other work
MODES = {"float32": (), "fast": FAST}
SPIN = """
import time
began, clock = time.process_time(), time.perf_counter()
while time.perf_counter() - clock < 1: pass
print(time.process_time() - began)
"""


def idle_cores() -> float:
    """What two processes that do nothing but count are given now, of two cores."""
    command = [sys.executable, "-c", SPIN]
    counters = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    return sum(float(counter.communicate()[0]) for counter in counters)


def learned_per_second(processes: int, mode: tuple[str, ...], minibatch: int) -> float:
    """Played and learned from, on the clock."""
    decisions, tables = SIZES[minibatch]
    sizes = (f"agent.minibatch_size={minibatch}", f"trainer.parallel_games={tables}", f"trainer.processes={processes}")
    return train_speed((*PPO_BIG2, *mode, *sizes), ROUNDS, decisions)[0]


@pytest.mark.benchmark(group="processes")
@pytest.mark.parametrize("minibatch", list(SIZES))
@pytest.mark.parametrize("mode", list(MODES))
def test_two_processes_learn_faster(benchmark: Any, mode: str, minibatch: int) -> None:
    idle: list[float] = []
    rates: list[list[float]] = []

    def pair() -> None:
        idle.append(idle_cores())
        rates.append([learned_per_second(number, MODES[mode], minibatch) for number in (1, 2)])
        idle.append(idle_cores())

    benchmark.pedantic(pair, rounds=PAIRS)
    ratio = median(two / one for one, two in rates)
    one, two = (median(column) for column in zip(*rates, strict=True))
    benchmark.extra_info |= {
        "decisions/s, 1 process": round(one),
        "decisions/s, 2 processes": round(two),
        "ratio": round(ratio, 3),
        "idle cores": round(min(idle), 2),
    }
    said = (
        f"{mode}, minibatches of {minibatch}: {one:.0f} decisions/s by one process, {two:.0f} by two: "
        f"{ratio:.2f} times (median of {PAIRS} pairs)"
    )
    print(said)
    if min(idle) < IDLE:
        pytest.skip(f"{min(idle):.2f} cores were idle, not 2; {said}")
    assert ratio >= (BAR if minibatch >= LARGE else 1.0)


@pytest.mark.benchmark(group="processes")
def test_two_threads_encode_features_of_actions_faster(benchmark: BenchmarkFixture) -> None:
    game = Big2(features="plans")
    rng = np.random.default_rng(1)
    states = game.deal(400, rng)
    kept = [(moves.info_states, moves.players) for moves in play(game, states, [RandomAgent(game)], rng)]
    info_states = InfoStates(np.concatenate([info_states for info_states, _ in kept])[:ENCODED])
    players = np.concatenate([players for _, players in kept])[:ENCODED]
    seconds: dict[int, list[float]] = {1: [], 2: []}

    def pair() -> None:
        for threads, clocked in seconds.items():
            torch.set_num_threads(threads)
            began = perf_counter()
            game_pairs(game, info_states, players, torch.device("cpu"), with_features=True)
            clocked.append(perf_counter() - began)

    before, threads = idle_cores(), torch.get_num_threads()
    benchmark.pedantic(pair, rounds=15, warmup_rounds=2)
    torch.set_num_threads(threads)
    idle = min(before, idle_cores())
    one, two = (min(clocked) for clocked in seconds.values())
    said = f"{ENCODED / one:.0f} decisions/s encoded by one thread, {ENCODED / two:.0f} by two: {one / two:.2f} times"
    print(said)
    if idle < IDLE:
        pytest.skip(f"{idle:.2f} cores were idle, not 2; {said}")
    assert one / two >= BAR
