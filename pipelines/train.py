"""Stage train: one experiment of params.yaml becomes a policy and a learning curve.

Usage: train.py EXPERIMENT. DVC deletes the outputs of a stage before it runs; the checkpoint therefore lies in runs/,
and a training that was cut off goes on when the stage is run again, in the same MLflow run.
"""

import sys
from pathlib import Path
from typing import Any, cast

from omegaconf import OmegaConf

from cardlab.assembly.experiment import build_experiment
from cardlab.faults import reported
from cardlab.tracking import Store
from cardlab.training.run import run_folder, train, write_curve


def main(name: str) -> None:
    """Train the experiment `name`."""
    config = cast(dict[str, Any], OmegaConf.to_container(OmegaConf.load("params.yaml").experiments[name]))
    experiment = build_experiment(config)
    store = Store()
    folder = run_folder(store.root / "runs", experiment)
    model, curve = Path("models", name), Path("results", name, "curve.csv")
    with store.start_or_resume(folder, experiment.game.spec.name, name, params=config) as run:
        trained = train(experiment, run_dir=folder, model_dir=model, log=run)
        write_curve(trained.rows, curve)
        run.set_tags({"kind": "training", "policy.digest": trained.digest})
        run.log_artifact(model, "policy")
        run.log_artifact(curve)
        run.log_artifact(trained.checkpoint, "checkpoint")


if __name__ == "__main__":
    sys.exit(reported(lambda: main(*sys.argv[1:])))
