"""Score of the Open-face paper's targets when every training has the same CPU seconds.

Usage: equal_compute.py OUTPUT.csv SECONDS SEEDS. A short training with all kernels compiled measures how many decisions
each target makes in SECONDS; that number is its budget. The policies then play `random` on deals that no training saw.
"""

import csv
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

import cardlab
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.composition import compose_experiment
from cardlab.training.run import Trained, train

TARGETS = {
    "naive": ("experiment=open_face/paper",),
    "M = 1": ("experiment=open_face/averaged_successors", "agent.successors=1"),
    "M = 4, mean of maxima": ("experiment=open_face/averaged_successors", "agent.successors=4"),
    "M = 4, maximum of the mean": (
        "experiment=open_face/averaged_successors",
        "agent.successors=4",
        "agent.order=maximum_of_mean",
    ),
    "M = 16, mean of maxima": ("experiment=open_face/averaged_successors", "agent.successors=16"),
    "M = 16, maximum of the mean": (
        "experiment=open_face/averaged_successors",
        "agent.successors=16",
        "agent.order=maximum_of_mean",
    ),
}
"""Name → overrides. With one successor both orders are equal."""
SHORT = 60_000  # decisions: enough for updates after the first rounds, which only fill the replay memory
DEALS = 3000
SEED = 20_000_001  # of the deals: the seed of every evaluation


def main(arguments: Sequence[str]) -> None:
    """Train, play and write one row for each target and seed."""
    output, seconds, seeds = Path(arguments[0]), float(arguments[1]), int(arguments[2])
    torch.set_num_threads(1)
    with output.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["target", "seed", "decisions", "cpu_seconds", "points", "low", "high"])
        for row in _rows(seconds, seeds):
            writer.writerow(row)
            file.flush()
            print(*row, flush=True)


def _rows(seconds: float, seeds: int) -> Iterator[list[object]]:
    game = cardlab.make_game("open_face", features="paper")
    budgets: dict[str, int] = {}
    for name, overrides in TARGETS.items():
        with tempfile.TemporaryDirectory() as folder:
            _train([*overrides, f"trainer.decisions={SHORT // 10}"], folder)  # compiles
        with tempfile.TemporaryDirectory() as folder:
            budgets[name] = round(
                SHORT * seconds / _train([*overrides, f"trainer.decisions={SHORT}"], folder).spent.cpu
            )
    for seed in range(1, seeds + 1):
        for name, overrides in TARGETS.items():
            with tempfile.TemporaryDirectory() as folder:
                trained = _train([*overrides, f"seed={seed}", f"trainer.decisions={budgets[name]}"], folder)
                points = cardlab.play_match(game, [str(trained.folder), "random"], DEALS, SEED).points
            yield [name, seed, trained.decisions, round(trained.spent.cpu, 1), points.mean, points.low, points.high]


def _train(overrides: Sequence[str], folder: str) -> Trained:
    """Train without evaluations."""
    experiment = build_experiment(compose_experiment([*overrides, "trainer.evaluations=0", "trainer.snapshots=0"]))
    return train(experiment, run_dir=Path(folder), model_dir=Path(folder) / "policy", report=lambda _: None)


if __name__ == "__main__":
    main(sys.argv[1:])
