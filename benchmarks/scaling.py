"""Cost of learning in one and two processes, and by calculation in more: the tables of docs/scaling.md.

    python benchmarks/scaling.py [--price DOLLARS]

The price is that of an hour of one core. Decisions a second of two processes need two idle cores, so idle cores are
counted beside them; CPU times and exchanges are the least of several.
"""

import argparse
import math
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import torch
from safetensors import safe_open
from torch import distributed, nn
from torch.distributed import FileStore

from cardlab.learners.distributed import ProcessGroup
from cardlab.training.launch_processes import join_process_group
from learning_iterations import CHAMPION_BIG2, FAST, PPO_BIG2, WARM, learn, train_speed
from stopwatch import Stopwatch
from test_processes import idle_cores

ROOT = Path(__file__).parents[1]
ITERATION, MINIBATCHES, ROUNDS = 32_768, (2_048, 8_192, 32_768), 3  # whose CPU times are measured
PAIR = (65_536, 16_384, 4, 2_048)  # decisions of an iteration and a minibatch, iterations, tables: one process and two
PAIRS = 3
EXCHANGES = 200
PROCESSES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
NETWORKS = {"1 Gbit/s": 1e9, "10 Gbit/s": 1e10, "100 Gbit/s": 1e11}
NETWORK_LATENCY = 25e-6  # seconds of a message between two machines, beside what it costs over loopback
PAPER, CHAMPION = "papers/big2", "big2"


@dataclass(frozen=True)
class Recipe:
    """What is trained."""

    overrides: Sequence[str]
    epochs: int
    network: str  # a folder of champions/
    minibatches: Sequence[int]  # of the tables beyond two processes


RECIPES: Mapping[str, Recipe] = {
    "paper's network, float32": Recipe(PPO_BIG2, 4, PAPER, (2_048, 32_768)),
    "paper's network, fast": Recipe((*PPO_BIG2, *FAST), 4, PAPER, (2_048, 32_768)),
    "champion's recipe, fast": Recipe((*CHAMPION_BIG2, *FAST), 2, CHAMPION, (4_096, 32_768)),
}


@dataclass(frozen=True)
class Exchange:
    """Cost of averaging gradients by a ring: each process sends 2(N−1) messages with an N-th of the gradient."""

    fixed: float  # seconds before and after the exchange: one flat gradient is made, divided and split
    latency: float  # seconds of a message
    byte: float  # seconds

    def seconds(self, processes: int, size: float) -> float:
        """`size` is that of the gradient in bytes."""
        messages = 2 * (processes - 1)
        return self.fixed + messages * (self.latency + self.byte * size / processes) if messages else 0.0

    def over(self, bits: float) -> "Exchange":
        """Between machines whose network carries `bits` a second."""
        return Exchange(self.fixed, self.latency + NETWORK_LATENCY, self.byte + 8 / bits)


@dataclass(frozen=True)
class Learning:
    """CPU seconds of one process, and how it learns."""

    play: float  # per decision
    fixed: float  # per gradient step, whatever its size
    sample: float  # per decision of a minibatch
    epochs: int
    size: int  # bytes of the gradient

    def learning(self, processes: int, minibatch: int, exchange: Exchange) -> float:
        """Seconds of learning per decision, by `processes` together."""
        step = self.fixed + self.sample * minibatch / processes + exchange.seconds(processes, self.size)
        return step * self.epochs / minibatch

    def rate(self, processes: int, minibatch: int, exchange: Exchange) -> float:
        """Decisions learned from per second: all processes play, then all learn."""
        return 1 / (self.play / processes + self.learning(processes, minibatch, exchange))

    def asynchronous_rate(self, processes: int, minibatch: int, exchange: Exchange) -> float:
        """With some processes that only play and others that only learn, in the best division."""
        divisions = range(1, processes)
        return max(
            min((processes - learners) / self.play, 1 / self.learning(learners, minibatch, exchange))
            for learners in divisions
        )


def weights(folder: str) -> int:
    """Number of the network's weights."""
    with safe_open(ROOT / "champions" / folder / "weights.safetensors", "np") as file:
        return sum(math.prod(file.get_slice(name).get_shape()) for name in file.keys())  # noqa: SIM118  no mapping


def networks() -> dict[str, int]:
    """Weights of the champions' networks and of the paper's of Big 2, from the smallest."""
    folders = [path.parent.name for path in (ROOT / "champions").glob("*/weights.safetensors")]
    found = {folder: weights(folder) for folder in (*folders, PAPER)}
    return dict(sorted(found.items(), key=lambda item: item[1]))


@dataclass
class Exchanges:
    """Seconds and bytes of the exchanges of one gradient, and seconds of those of one number."""

    seconds: list[float] = field(default_factory=list[float])
    sent: list[float] = field(default_factory=list[float])
    small: list[float] = field(default_factory=list[float])


def exchange_gradients(rank: int, folder: Path, size: int) -> Exchanges:
    """Exchange gradients of `size` weights, as one of two processes."""
    torch.set_num_threads(1)
    weight, found = nn.Parameter(torch.zeros(size)), Exchanges()
    with join_process_group(FileStore(str(folder / str(size)), 2), ProcessGroup(rank, 2)) as group:
        for _ in range(EXCHANGES):
            weight.grad = torch.ones(size)
            group.broadcast(True)  # both begin together
            before, began = _loopback_bytes(), perf_counter()
            group.average_gradients([weight], 0.0, 1)
            found.seconds.append(perf_counter() - began)
            found.sent.append((_loopback_bytes() - before) / 2)
            group.broadcast(True)
            began = perf_counter()
            distributed.all_reduce(torch.zeros(1))
            found.small.append(perf_counter() - began)
    return found


def _loopback_bytes() -> int:
    """Bytes sent over loopback so far by all processes of the machine."""
    line = next(line for line in Path("/proc/net/dev").read_text().splitlines() if line.strip().startswith("lo:"))
    return int(line.split(":")[1].split()[8])


@contextmanager
def _second_process(folder: Path) -> Iterator[None]:
    with subprocess.Popen([sys.executable, __file__, "--second", str(folder)]) as other:
        yield
        assert other.wait(300) == 0


def measure_exchange() -> Exchange:
    """Print bytes and times of an exchange for each network; returns the cost over loopback."""
    sizes, found = networks(), {}
    with TemporaryDirectory() as folder, _second_process(Path(folder)):
        for name, size in sizes.items():
            found[name] = exchange_gradients(0, Path(folder), size)
    best = [min(one.seconds) for one in found.values()]
    byte, whole = np.polyfit([4 * size for size in sizes.values()], best, 1, w=[1 / seconds for seconds in best])
    small = min(min(one.small) for one in found.values())
    loopback = Exchange(max(0.0, float(whole) - small), small / 2, float(byte))
    print(f"\n{loopback}\n\n| network | weights | bytes | least ms | median ms | fit | {' | '.join(NETWORKS)} |")
    for (name, one), size in zip(found.items(), sizes.values(), strict=True):
        times = [min(one.seconds), median(one.seconds), loopback.seconds(2, 4 * size)]
        times += [loopback.over(bits).seconds(16, 4 * size) for bits in NETWORKS.values()]
        print(f"| {name} | {size:,} | {median(one.sent):,.0f} | {' | '.join(f'{1e3 * one:.2f}' for one in times)} |")
    return loopback


def measure_learning(recipe: Recipe) -> Learning:
    """CPU seconds of one process, by three sizes of minibatches."""
    updates, plays = [], []
    for minibatch in MINIBATCHES:
        watch, stack = Stopwatch(), ExitStack()
        sizes = (f"agent.minibatch_size={minibatch}", f"agent.decisions_per_iteration={ITERATION}")

        def after_round(done: int, watch: Stopwatch = watch) -> None:
            if done == WARM:
                watch.clear()

        def prepare(learner: object, _: object, watch: Stopwatch = watch, stack: ExitStack = stack) -> None:
            stack.enter_context(watch.watching(learner))  # type: ignore[arg-type]

        with stack:
            rounds = learn((*recipe.overrides, *sizes), ROUNDS, prepare, after_round)
        decisions = sum(one.decisions for one in rounds)
        updates.append(watch.seconds["updates", ""] / (recipe.epochs * decisions / minibatch))
        plays.append(watch.seconds["play", ""] / decisions)
    sample, fixed = np.polyfit(MINIBATCHES, updates, 1, w=[1 / one for one in updates])
    return Learning(median(plays), max(0.0, float(fixed)), float(sample), recipe.epochs, 4 * weights(recipe.network))


def measure_processes(name: str, recipe: Recipe, learning: Learning, loopback: Exchange) -> None:
    """Print decisions a second of one process and of two, in turn, and the model's."""
    iteration, minibatch, iterations, tables = PAIR
    sizes = (f"agent.minibatch_size={minibatch}", f"trainer.parallel_games={tables}")
    for _ in range(PAIRS):
        idle, load = idle_cores(), os.getloadavg()[0]
        (one, one_cpu), (two, two_cpu) = (
            train_speed((*recipe.overrides, *sizes, f"trainer.processes={number}"), iterations, iteration)
            for number in (1, 2)
        )
        model = [learning.rate(number, minibatch, loopback) for number in (1, 2)]
        pairs = ((one, two), (one_cpu, two_cpu), model)
        cells = " | ".join(f"{alone:,.0f} | {both:,.0f} | {both / alone:.2f}" for alone, both in pairs)
        print(f"| {name} | {cells} | {min(idle, idle_cores()):.2f} | {load:.1f} |", flush=True)


def print_plan(name: str, learning: Learning, minibatch: int, loopback: Exchange, price: float) -> None:
    """Decisions a second, efficiency and the cost of a billion decisions by number of processes."""
    head = " | ".join(f"{network} | of N × one" for network in NETWORKS)
    print(f"\n{name}, minibatches of {minibatch:,}\n\n| N | {head} | core-hours | $ at {price} | asynchronous |")
    alone = learning.rate(1, minibatch, loopback)
    for number in PROCESSES:
        rates = [learning.rate(number, minibatch, loopback.over(bits)) for bits in NETWORKS.values()]
        cells = " | ".join(f"{rate:,.0f} | {rate / number / alone:.0%}" for rate in rates)
        hours = number * 1e9 / rates[1] / 3600
        gain = learning.asynchronous_rate(number, minibatch, loopback.over(1e10)) / rates[1] if number > 1 else 1.0
        print(f"| {number} | {cells} | {hours:,.0f} | {hours * price:,.0f} | {gain:.2f} |")


def main(price: float) -> None:
    """Measure one process, calculate many, then measure two."""
    warnings.filterwarnings("ignore")
    loopback, found = measure_exchange(), dict[str, Learning]()
    print("\n| recipe | play, µs a decision | fixed, ms a step | sample, µs |")
    for name, recipe in RECIPES.items():
        one = found[name] = measure_learning(recipe)
        print(f"| {name} | {1e6 * one.play:.1f} | {1e3 * one.fixed:.2f} | {1e6 * one.sample:.1f} |", flush=True)
    for name, recipe in RECIPES.items():
        for minibatch in recipe.minibatches:
            print_plan(name, found[name], minibatch, loopback, price)
    print("\n| | one | two | times | one, CPU | two, CPU | times | one, model | two | times | idle cores | load |")
    for name, recipe in RECIPES.items():
        measure_processes(name, recipe, found[name], loopback)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--price", type=float, default=0.05, help="dollars for an hour of one core")
    parser.add_argument("--second", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.second:
        for one in networks().values():
            exchange_gradients(1, arguments.second, one)
    else:
        main(arguments.price)
