"""The search of rates by which the published network of Poker Squares was trained last.

Usage: search_of_rates.py EXPERIMENT POLICY OUTPUT MINUTES. Each round trains three blocks of 10,000 games of EXPERIMENT
from the last policy: at the rate, at twice it and at a tenth of it. The best block by DEALS deals is the next policy.
The rate then becomes 1.5 times itself if twice it was best, and half of it if a tenth was. OUTPUT/rounds.csv has a row
for each round. OUTPUT/last and OUTPUT/best are policies, the best by the deals that it was chosen on. MINUTES are of
CPU.
"""

import csv
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import torch

import cardlab
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.composition import compose_experiment
from cardlab.training.run import train

FIRST_RATE = 0.1
FACTORS = {1.0: 1.0, 2.0: 1.5, 0.1: 0.5}
"""Factor of the rate in a block → factor of the next rate if that block is best."""
BLOCK = 240_000  # decisions: 10,000 games
DEALS = 10_000
SEED = 90_000_001  # of the deals on which blocks are chosen


def main(arguments: Sequence[str]) -> None:
    """Search until the time is over."""
    experiment, policy, output, minutes = arguments[0], Path(arguments[1]), Path(arguments[2]), float(arguments[3])
    torch.set_num_threads(1)
    output.mkdir(parents=True)
    last, best = output / "last", output / "best"
    shutil.copytree(policy, last)
    shutil.copytree(policy, best)
    rate, highest, number = FIRST_RATE, _points(last), 0
    with (output / "rounds.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["round", "rate", *(f"points at {factor} times" for factor in FACTORS), "cpu_minutes"])
        writer.writerow([number, rate, highest, "", "", 0.0])
        while time.process_time() < 60 * minutes:
            number += 1
            with tempfile.TemporaryDirectory() as scratch:
                blocks = {
                    factor: _train(experiment, last, factor * rate, number, Path(scratch, str(factor)))
                    for factor in FACTORS
                }
                points = {factor: _points(block) for factor, block in blocks.items()}
                chosen = max(points, key=points.__getitem__)
                _replace(last, blocks[chosen])
            if points[chosen] > highest:
                highest = points[chosen]
                _replace(best, last)
            writer.writerow([number, rate, *points.values(), round(time.process_time() / 60, 1)])
            file.flush()
            print(number, rate, points, flush=True)
            rate *= FACTORS[chosen]


def _train(name: str, policy: Path, rate: float, seed: int, folder: Path) -> Path:
    """The policy of one block."""
    overrides = (f"experiment={name}", f"agent.learning_rate={rate}", f"seed={seed}")
    trainer = (f"trainer.start_from={policy}", f"trainer.decisions={BLOCK}", "trainer.evaluations=0")
    experiment = build_experiment(compose_experiment([*overrides, *trainer, "trainer.snapshots=0"]))
    return train(experiment, run_dir=folder, model_dir=folder / "policy", report=lambda _: None).folder


def _points(policy: Path) -> float:
    game = cardlab.make_game("poker_squares", features="paper")
    return cardlab.play_match(game, [str(policy)], DEALS, SEED).points.mean


def _replace(folder: Path, policy: Path) -> None:
    shutil.rmtree(folder)
    shutil.copytree(policy, folder)


if __name__ == "__main__":
    main(sys.argv[1:])
