"""Stage evaluate: how strong a trained policy is, on deals that nothing was tuned on.

Usage: evaluate.py EXPERIMENT.
"""

import sys
from pathlib import Path
from typing import Any, cast

from omegaconf import OmegaConf

from cardlab.agents.policy_files import policy_digest
from cardlab.core.exit_status import run_program
from cardlab.evaluation.evaluate import evaluate, write_evaluation
from cardlab.experiments.config.build_parts import build_arena, build_game, check_pinned
from cardlab.experiments.recorded_matches import record_evaluation
from cardlab.games.catalogue import without_training_options
from cardlab.tracking import Store


def main(name: str) -> None:
    """Evaluate the policy of the experiment `name`."""
    config = cast(dict[str, Any], OmegaConf.to_container(OmegaConf.load("params.yaml").experiments[name]))
    check_pinned(config)
    game, model = without_training_options(build_game(config["game"])), Path("models", name)
    digest = policy_digest(model)
    evaluation = evaluate(game, str(model), build_arena(config["arena"]), policy_digest=digest, experiment=name)
    output = Path("results", name, "evaluation.json")
    write_evaluation(evaluation, output)
    record_evaluation(Store(), game, evaluation, policy=model, scores_training=True, files=[output])


if __name__ == "__main__":
    sys.exit(run_program(lambda: main(*sys.argv[1:]), "run dvc repro again to resume"))
