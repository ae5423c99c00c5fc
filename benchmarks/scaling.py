"""Cost of a gradient step in one and two processes, and by calculation in more: the tables of docs/scaling.md.

    python benchmarks/scaling.py
"""

import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import torch
from torch import nn
from torch.distributed import FileStore

from cardlab.learners.distributed import ProcessGroup
from cardlab.training.launch_processes import join_process_group
from learning_iterations import FAST, PPO_BIG2, WARM, learn
from stopwatch import Stopwatch

ITERATION, EPOCHS = 32_768, 4
MINIBATCHES = (2_048, 8_192, 32_768)
ROUNDS = 3
PARAMETERS = (1_000, 10_000, 100_000, 1_345_184, 5_000_000)  # the fourth: about the paper's network of Big 2
EXCHANGES = 200
PROCESSES = (1, 2, 4, 8, 16, 32, 64, 128)


@dataclass(frozen=True)
class Learning:
    """CPU seconds of one process."""

    play: float  # per decision
    fixed: float  # per gradient step, whatever its size
    sample: float  # per decision of a minibatch


@dataclass(frozen=True)
class Exchange:
    """Seconds of an all_reduce."""

    latency: float  # per message
    byte: float

    def seconds(self, processes: int, size: float) -> float:
        """A ring: each process sends 2(N−1) messages with an N-th of the gradient."""
        messages = 2 * (processes - 1)
        return messages * (self.latency + self.byte * size / processes)


def measure_learning(mode: Sequence[str]) -> tuple[Learning, int]:
    """The costs in float32 or the fast mode, by three sizes of minibatches; also the number of parameters."""
    sizes, updates, plays, weights = [], [], [], 0
    for minibatch in MINIBATCHES:
        watch = Stopwatch()
        with ExitStack() as stack:

            def prepare(learner: object, _: object) -> None:
                nonlocal weights
                weights = sum(one.numel() for one in learner.network.parameters())  # type: ignore[attr-defined]
                stack.enter_context(watch.watching(learner))  # type: ignore[arg-type]  # noqa: B023

            overrides = (f"agent.minibatch_size={minibatch}", f"agent.decisions_per_iteration={ITERATION}")
            rounds = learn((*PPO_BIG2, *mode, *overrides), ROUNDS, prepare, lambda done: done == WARM and watch.clear())  # noqa: B023
        decisions = sum(one.decisions for one in rounds)
        sizes.append(minibatch)
        updates.append(watch.seconds["updates", ""] / (EPOCHS * decisions / minibatch))
        plays.append(watch.seconds["play", ""] / decisions)
        print(f"minibatch {minibatch}: {1e3 * updates[-1]:.1f} ms a step, {1e6 * plays[-1]:.1f} µs a decision played")
    sample, fixed = np.polyfit(sizes, updates, 1)
    return Learning(min(plays), max(0.0, float(fixed)), float(sample)), weights


def exchange(rank: int, folder: Path) -> None:
    """One of two processes that exchange gradients of each size; the first prints bytes and times."""
    torch.set_num_threads(1)
    times = []
    with join_process_group(FileStore(str(folder / "meeting"), 2), ProcessGroup(rank, 2)) as group:
        for size in PARAMETERS:
            weight = nn.Parameter(torch.zeros(size))
            took, before = [], _loopback_bytes()
            for _ in range(EXCHANGES):
                weight.grad = torch.ones(size)
                group.broadcast(True)  # both begin together
                began = perf_counter()
                group.average_gradients([weight], 0.0, 1)
                took.append(perf_counter() - began)
            sent = (_loopback_bytes() - before) / EXCHANGES / 2
            times.append(min(took))
            if rank == 0:
                print(f"| {size:,} | {sent:,.0f} | {1e3 * min(took):.2f} | {1e3 * median(took):.2f} |", flush=True)
    if rank == 0:
        byte, latency = np.polyfit([4 * size for size in PARAMETERS], times, 1)
        print(f"FIT {max(latency, times[0]) / 2} {byte}")


def _loopback_bytes() -> int:
    """Bytes sent over loopback so far; of these processes alone in a network namespace of their own."""
    line = next(line for line in Path("/proc/net/dev").read_text().splitlines() if line.strip().startswith("lo:"))
    return int(line.split(":")[1].split()[8])


@contextmanager
def _second_process(folder: Path) -> Iterator[None]:
    with subprocess.Popen([sys.executable, __file__, str(folder)]) as other:
        yield
        assert other.wait(300) == 0


def rate(processes: int, minibatch: int, learning: Learning, network: Exchange, size: int) -> float:
    """Decisions learned from per second."""
    step = learning.fixed + learning.sample * minibatch / processes + network.seconds(processes, 4.0 * size)
    return 1 / (learning.play / processes + step * EPOCHS / minibatch)


def main() -> None:
    """Measure, then calculate."""
    warnings.filterwarnings("ignore")
    print("| parameters | bytes sent by each | least ms | median ms |\n|---|---|---|---|")
    with TemporaryDirectory() as folder, _second_process(Path(folder)):
        exchange(0, Path(folder))
    for name, mode in (("float32", ()), ("fast", FAST)):
        learning, size = measure_learning(mode)
        print(name, learning, f"{size:,} parameters")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        exchange(1, Path(sys.argv[1]))
    else:
        main()
