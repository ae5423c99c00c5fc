"""Score of a training's checkpoints against references and against older checkpoints.

Usage: play_checkpoints.py OUTPUT.csv game=GAME features=FEATURES run=FOLDER minutes=M deals=N references=AGENT,…
older=DECISIONS,…

Plays each checkpoint on deals that the training never saw: against copies of every reference, and against copies of the
first checkpoint after each number in `older`. Writes one row for each match. M is the CPU time of the whole training in
minutes.
"""

import csv
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

import cardlab
from cardlab.evaluation.evaluate import evaluate
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.snapshot_matches import find_snapshots

COLUMNS = ("decisions", "minutes", "against", "mean", "low", "high", "deals")
SEED = 20_000_001  # of the deals: the seed of every evaluation


def main(arguments: Sequence[str]) -> None:
    """Play all matches and write each as it ends."""
    output, *pairs = arguments
    given = dict(pair.split("=", maxsplit=1) for pair in pairs)
    torch.set_num_threads(1)
    game = cardlab.make_game(given["game"], features=given["features"])
    snapshots = find_snapshots(Path(given["run"], "snapshots"))
    decisions = [int(path.name) for path in snapshots]
    starts = [next(step for step in decisions if step >= int(mark)) for mark in given["older"].split(",")]
    with Path(output).open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for path, step in zip(snapshots, decisions, strict=True):
            older = {
                str(path.parent / str(start)): f"itself at {start / 1e6:.0f} M" for start in starts if start < step
            }
            names = {reference: reference for reference in given["references"].split(",")} | older
            options = ArenaOptions(deals=int(given["deals"]), references=tuple(names), seed=SEED)
            measured = evaluate(game, str(path), options, policy_digest="", experiment=Path(output).stem)["references"]
            minutes = float(given["minutes"]) * step / decisions[-1]
            for reference, shown in names.items():
                figures = [f"{measured[reference][key]:.4g}" for key in ("mean", "low", "high")]
                writer.writerow([step, f"{minutes:.1f}", shown, *figures, given["deals"]])
                file.flush()
                print(step, shown, *figures, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
