"""Stage evaluate: scores of a trained policy against its references, on deals that nothing was trained or tuned on.

Usage: evaluate.py EXPERIMENT.
"""

import json
import sys
from pathlib import Path
from typing import Any, cast

from omegaconf import OmegaConf

from cardlab.agents.policy_descriptions import policy_digest
from cardlab.core.exit_status import run_program
from cardlab.core.files import write_json
from cardlab.evaluation.evaluate import evaluate, write_evaluation
from cardlab.evaluation.progress import progress_bars
from cardlab.experiments.config.build_parts import build_arena, build_game, check_pinned
from cardlab.experiments.metrics import experiment_metrics
from cardlab.experiments.recorded_matches import record_evaluation
from cardlab.games.catalogue import without_training_options
from cardlab.tracking import Store


def main(name: str) -> None:
    """Evaluate the policy of the experiment `name`."""
    config = cast(dict[str, Any], OmegaConf.to_container(OmegaConf.load("params.yaml").experiments[name]))
    check_pinned(config)
    game, model = without_training_options(build_game(config["game"])), Path("models", name)
    digest = policy_digest(model)
    arena = build_arena(config["arena"])
    with progress_bars() as progress:
        evaluation = evaluate(game, str(model), arena, policy_digest=digest, experiment=name, progress=progress)
    results = Path("results", name)
    output = results / "evaluation.json"
    write_evaluation(evaluation, output)
    training = json.loads((results / "training.json").read_text())
    metrics = experiment_metrics(evaluation, training)
    write_json(results / "metrics.json", metrics, indent=2)
    print("{score} points per game [{low}, {high}] against {against}".format(**metrics))
    record_evaluation(Store(), game, evaluation, policy=model, scores_training=True, files=[output])


if __name__ == "__main__":
    sys.exit(run_program(lambda: main(*sys.argv[1:]), "run dvc repro again to resume"))
