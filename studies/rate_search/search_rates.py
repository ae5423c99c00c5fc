"""Search of learning rates for the paper's network of Poker Squares: the best of three blocks of games goes on.

Usage: search_rates.py FOLDER START SEED ROUNDS. START is the folder of a policy. A round trains three blocks from the
same weights: at the rate, at twice it and at a tenth of it. Their policies play the same new deals; the weights of the
best one go on. The rate becomes 1.5 times itself if twice it was best, and half if a tenth of it was.
FOLDER/rounds.csv has a row for each round, FOLDER/ROUND the weights. The same command goes on after a stop.
"""

import csv
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import torch

import cardlab
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.composition import compose_experiment
from cardlab.training.run import train

RATE = 0.1
FACTORS = (1.0, 2.0, 0.1)
NEXT = {1.0: 1.0, 2.0: 1.5, 0.1: 0.5}
"""Factor of the best block → factor of the next round's rate."""
GAMES = 10_000  # of a block
PLACEMENTS = 24  # of a game that are decisions
DEALS = 2_000
DEALS_SEED = 60_000_001  # the first round's; no other study has them
COLUMNS = ("round", "rate", *(f"points_{factor:g}" for factor in FACTORS), "seconds")


def main(arguments: Sequence[str]) -> None:
    """Train round after round."""
    folder, start, seed, rounds = Path(arguments[0]), Path(arguments[1]), int(arguments[2]), int(arguments[3])
    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    game = cardlab.make_game("poker_squares", features="paper")
    table = folder / "rounds.csv"
    done, rate = _read_rounds(table)
    for number in range(done + 1, rounds + 1):
        begin = time.process_time()
        best = start if number == 1 else folder / str(number - 1)
        blocks = {
            factor: _block(folder / f"block_{factor:g}", best, rate * factor, seed * 1_000_000 + number)
            for factor in FACTORS
        }
        points = {
            factor: cardlab.play_match(game, [str(block)], DEALS, DEALS_SEED + DEALS * (number - 1)).points.mean
            for factor, block in blocks.items()
        }
        winner = max(FACTORS, key=points.__getitem__)
        shutil.rmtree(folder / str(number), ignore_errors=True)
        shutil.copytree(blocks[winner], folder / str(number))
        new = not table.exists()
        with table.open("a", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if new:
                writer.writerow(COLUMNS)
            seconds = time.process_time() - begin
            writer.writerow([number, f"{rate:.6g}", *(f"{points[factor]:.2f}" for factor in FACTORS), f"{seconds:.1f}"])
        rate *= NEXT[winner]


def _read_rounds(table: Path) -> tuple[int, float]:
    """Rounds that are done, and the rate of the next one."""
    rate, rows = RATE, []
    if table.exists():
        with table.open(newline="") as file:
            rows = list(csv.DictReader(file))
    for row in rows:
        rate *= NEXT[max(FACTORS, key=lambda factor: float(row[f"points_{factor:g}"]))]
    return len(rows), rate


def _block(folder: Path, start: Path, rate: float, seed: int) -> Path:
    """Train one block in `folder` from the policy `start`; returns the folder of its policy."""
    shutil.rmtree(folder, ignore_errors=True)
    overrides = [
        "experiment=poker_squares/paper_bootstrap",
        f"seed={seed}",
        f"agent.learning_rate={rate!r}",
        f"trainer.decisions={GAMES * PLACEMENTS}",
        f"trainer.start_from={start}",
        "trainer.evaluations=0",
        "trainer.snapshots=0",
    ]
    trained = train(
        build_experiment(compose_experiment(overrides)),
        run_dir=folder,
        model_dir=folder / "policy",
        report=lambda _: None,
    )
    return trained.folder


if __name__ == "__main__":
    main(sys.argv[1:])
