"""PPO on Big 2 on a GPU, beside Stable-Baselines3's MaskablePPO on the same one: the table in docs/speed.md.

    python benchmarks/gpu.py            # over eight minutes on an H200 with 16 cores
    python benchmarks/gpu.py --tiny     # seconds on a CPU, to see that it runs

Decisions a second are those of the wall: in the best iteration of one process, and over all iterations of several.
Shares of one process's time: in which the device computed (torch.profiler), and in which games were played.
"""

import argparse
import platform
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter

import torch
from torch.profiler import ProfilerActivity, profile

import stable_baselines
from cardlab.learners.base import Learner
from cardlab.learners.rollouts.collector import Collector
from cardlab.learners.rollouts.experience import Experience
from learning_iterations import CHAMPION_BIG2, PPO_BIG2, WARM, Round, best_speed, learn, train_speed

PEER = "MaskablePPO, paper's network, float32"
ROUNDS = 4


@dataclass(frozen=True)
class Sizes:
    """Of all sides alike."""

    device: str  # trainer.device
    decisions: int  # of an iteration
    minibatch: int
    tables: int
    epochs: int
    processes: int  # of the rows with several, which share the GPU
    networks: int  # how many are measured

    @property
    def overrides(self) -> tuple[str, ...]:
        """On the command line of cardlab."""
        return (
            f"trainer.device={self.device}",
            f"trainer.parallel_games={self.tables}",
            f"agent.minibatch_size={self.minibatch}",
            f"agent.decisions_per_iteration={self.decisions}",
            f"agent.epochs={self.epochs}",
        )


GPU = Sizes("gpu", 65_536, 8_192, 4_096, 4, processes=8, networks=2)
TINY = Sizes("cpu", 512, 256, 64, 1, processes=2, networks=1)


@dataclass(frozen=True)
class Measured:
    """One process: decisions/s, and shares of the time at that speed."""

    speed: float
    on_device: float
    playing: float = 0.0


def measured(rounds: Callable[[], list[Round]], decisions: int, played: Sequence[float] = ()) -> Measured:
    """The best of `rounds`, which adds the seconds of each rollout to `played`, and then a profile of as many."""
    speed = best_speed(rounds())
    playing = min(played, default=0.0)
    with profile(activities=[ProfilerActivity.CUDA if torch.cuda.is_available() else ProfilerActivity.CPU]) as profiler:
        rounds()
    busy = sum(event.self_device_time_total for event in profiler.key_averages()) / 1e6 / (WARM + ROUNDS)
    return Measured(speed, busy / decisions * speed, playing / decisions * speed)


def measure_peer(sizes: Sizes) -> Measured:
    """Stable-Baselines3, whose environment plays nothing."""
    recording = stable_baselines.record(PPO_BIG2, sizes.tables)
    device = "cuda" if sizes.device == "gpu" else "cpu"
    peer = stable_baselines.maskable_ppo(recording, sizes.decisions, sizes.minibatch, sizes.epochs, device)
    return measured(partial(stable_baselines.learn, peer, sizes.decisions, ROUNDS, perf_counter), sizes.decisions)


def measure(overrides: Sequence[str], sizes: Sizes) -> Measured:
    """cardlab, which plays the games."""
    played: list[float] = []

    def time_rollouts(_: Learner, collector: Collector) -> None:
        collect = collector.collect

        def timed(num_decisions: int) -> Experience:
            began = perf_counter()
            rollout = collect(num_decisions)
            played.append(perf_counter() - began)
            return rollout

        collector.collect = timed

    rounds = partial(learn, overrides, ROUNDS, time_rollouts, clock=perf_counter)
    return measured(rounds, sizes.decisions, played)


def main(sizes: Sizes) -> None:
    """Print the table row by row."""
    warnings.filterwarnings("ignore")
    name = torch.cuda.get_device_name() if torch.cuda.is_available() else platform.processor() or platform.machine()
    print(f"{name}, torch {torch.__version__}, {sizes}\n")
    print("| | processes | decisions/s | times SB3 | on the device | playing |\n|---|---|---|---|---|---|", flush=True)
    peer = measure_peer(sizes)
    print(f"| {PEER} | 1 | {peer.speed:,.0f} | 1 | {peer.on_device:.0%} | |", flush=True)
    recipes = {"paper's network": PPO_BIG2, "champion's network": CHAMPION_BIG2}
    for network, recipe in [*recipes.items()][: sizes.networks]:
        for precision in ("float32", "bfloat16"):
            one = measure((*recipe, *sizes.overrides, f"trainer.precision={precision}"), sizes)
            shares = f"{one.on_device:.0%} | {one.playing:.0%}"
            row = f"| {network}, {precision} | 1 | {one.speed:,.0f} | {one.speed / peer.speed:.2f} | {shares} |"
            print(row, flush=True)
        for processes, overlap in ((1, True), (sizes.processes, False), (sizes.processes, True)):
            options = (f"trainer.processes={processes}", f"trainer.overlap={overlap}")
            speed, _ = train_speed((*recipe, *sizes.overrides, *options), 2 * (WARM + ROUNDS), sizes.decisions)
            mode = "float32, overlap" if overlap else "float32"
            row = f"| {network}, {mode} | {processes} | {speed:,.0f} | {speed / peer.speed:.2f} | | |"
            print(row, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tiny", action="store_true", help="a few decisions on a CPU, to see that it runs")
    chosen = TINY if parser.parse_args().tiny else GPU
    if chosen is GPU and not torch.cuda.is_available():
        sys.exit("torch finds no GPU on this machine; --tiny runs on a CPU")
    main(chosen)
