"""Stage evaluate: scores of the policies of all seeds against their references, on deals that nothing was trained on.

Usage: evaluate.py EXPERIMENT.
"""

import json
import sys
from pathlib import Path
from typing import Any, cast

from omegaconf import OmegaConf

from cardlab.core.exit_status import run_program
from cardlab.core.files import write_json
from cardlab.evaluation.progress import progress_bars
from cardlab.experiments.config.build_parts import build_arena, build_game, check_pinned
from cardlab.experiments.group_evaluation import evaluate_group
from cardlab.experiments.metrics import experiment_metrics
from cardlab.experiments.policy_groups import find_group
from cardlab.games.catalogue import without_training_options
from cardlab.tracking import Store


def main(name: str) -> None:
    """Evaluate the policies of the experiment `name`."""
    config = cast(dict[str, Any], OmegaConf.to_container(OmegaConf.load("params.yaml").experiments[name]))
    check_pinned(config)
    game, store = without_training_options(build_game(config["game"])), Store()
    results = Path("results", name)
    group = find_group(str(Path("models", name)), store.root)
    with progress_bars() as progress:
        evaluation = evaluate_group(
            group,
            build_arena(config["arena"]),
            store,
            game=game,
            output=results / "evaluation.json",
            progress=progress,
        )
    metrics = experiment_metrics(evaluation, json.loads((results / "training.json").read_text()))
    write_json(results / "metrics.json", metrics, indent=2)
    print("{score} points per game [{low}, {high}] against {against}, {seeds} seeds".format(**metrics))


if __name__ == "__main__":
    sys.exit(run_program(lambda: main(*sys.argv[1:]), "run dvc repro again to resume"))
