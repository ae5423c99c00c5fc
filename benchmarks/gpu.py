"""PPO on Big 2 on a GPU, beside Stable-Baselines3's MaskablePPO on the same one: the table in docs/speed.md.

    python benchmarks/gpu.py            # six minutes at most, with a GPU and 16 cores
    python benchmarks/gpu.py --tiny     # seconds on a CPU, to see that it runs

Decisions a second are those of the wall. The share of time on the device is that of its kernels (torch.profiler), of
one process, the first rounds included.
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
from learning_iterations import CHAMPION_BIG2, FAST, PPO_BIG2, WARM, Round, best_speed, learn, train_speed

PEER = "MaskablePPO, paper's network, float32"
ROUNDS = 2
MANY_PROCESSES = (4, 12)  # that share the GPU


@dataclass(frozen=True)
class Sizes:
    """Of all sides alike."""

    device: str  # trainer.device
    decisions: int  # of an iteration
    minibatch: int
    tables: int
    epochs: int

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


GPU = Sizes("gpu", 65_536, 8_192, 4_096, 4)
TINY = Sizes("cpu", 512, 256, 64, 1)


def profiled(rounds: Callable[[], list[Round]], decisions: int) -> tuple[float, float]:
    """Decisions a second in the best round, and the share of time in which the device computed."""
    kernels = [ProfilerActivity.CUDA] if torch.cuda.is_available() else [ProfilerActivity.CPU]
    speed = best_speed(rounds())
    with profile(activities=kernels) as profiler:
        rounds()
    busy = sum(event.self_device_time_total for event in profiler.key_averages()) / 1e6
    return speed, busy / ((WARM + ROUNDS) * decisions) * speed


def measure_peer(sizes: Sizes) -> tuple[float, float]:
    """Speed and share of Stable-Baselines3, whose environment plays nothing."""
    recording = stable_baselines.record(PPO_BIG2, sizes.tables)
    device = "cuda" if sizes.device == "gpu" else "cpu"
    peer = stable_baselines.maskable_ppo(recording, sizes.decisions, sizes.minibatch, sizes.epochs, device)
    return profiled(partial(stable_baselines.learn, peer, sizes.decisions, ROUNDS, perf_counter), sizes.decisions)


def measure(overrides: Sequence[str], sizes: Sizes) -> tuple[float, float]:
    """Speed and share of one process of cardlab, which plays the games."""
    rounds = partial(learn, (*overrides, *sizes.overrides), ROUNDS, clock=perf_counter)
    return profiled(rounds, sizes.decisions)


def main(sizes: Sizes) -> None:
    """Print the table row by row."""
    warnings.filterwarnings("ignore")
    name = torch.cuda.get_device_name() if torch.cuda.is_available() else platform.processor() or platform.machine()
    print(f"{name}, torch {torch.__version__}, {sizes}\n\n| | processes | decisions/s | times SB3 | on the device |")
    peer, share = measure_peer(sizes)
    print(f"| {PEER} | 1 | {peer:,.0f} | 1 | {share:.0%} |", flush=True)
    modes = {"float32": (), "fast": FAST} if sizes is GPU else {"float32": ()}
    for network, recipe in {"paper's network": PPO_BIG2, "champion's network": CHAMPION_BIG2}.items():
        for mode, options in modes.items():
            speed, share = measure((*recipe, *options), sizes)
            print(f"| {network}, {mode} | 1 | {speed:,.0f} | {speed / peer:.2f} | {share:.0%} |", flush=True)
        for processes in MANY_PROCESSES if sizes is GPU else (2,):
            several = (*recipe, *sizes.overrides, f"trainer.processes={processes}")
            speed, _ = train_speed(several, WARM + ROUNDS, sizes.decisions)
            print(f"| {network}, float32 | {processes} | {speed:,.0f} | {speed / peer:.2f} | |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tiny", action="store_true", help="a few decisions on a CPU, to see that it runs")
    chosen = TINY if parser.parse_args().tiny else GPU
    if chosen is GPU and not torch.cuda.is_available():
        sys.exit("torch finds no GPU on this machine; --tiny runs on a CPU")
    main(chosen)
