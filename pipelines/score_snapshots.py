"""Stage score_snapshots: scores of the snapshots of a training, against references and against each other.

Usage: score_snapshots.py EXPERIMENT.
"""

import sys
from pathlib import Path
from typing import Any, cast

from omegaconf import OmegaConf

from cardlab.agents.policy_descriptions import policy_digest
from cardlab.core.exit_status import run_program
from cardlab.core.files import write_json
from cardlab.evaluation.progress import progress_bars
from cardlab.evaluation.snapshot_matches import Snapshot, find_snapshots, play_snapshots, write_snapshot_scores
from cardlab.experiments.config.build_parts import build_arena, build_game
from cardlab.games.catalogue import without_training_options


def main(name: str) -> None:
    """Play the snapshots of the experiment `name`."""
    config = cast(dict[str, Any], OmegaConf.to_container(OmegaConf.load("params.yaml").experiments[name]))
    game = without_training_options(build_game(config["game"]))
    folders = find_snapshots(Path("snapshots", name))
    snapshots = [Snapshot(int(folder.name), str(folder), policy_digest(folder)) for folder in folders]
    arena = build_arena(config["arena"])
    with progress_bars() as progress:
        history = play_snapshots(game, snapshots, arena, experiment=name, progress=progress)
    results = Path("results", name)
    write_json(results / "snapshot_matches.json", history)
    write_snapshot_scores(history, results / "snapshot_scores.csv")


if __name__ == "__main__":
    sys.exit(run_program(lambda: main(*sys.argv[1:]), "run dvc repro again to resume"))
