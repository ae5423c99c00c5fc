"""Stage train: trains one experiment of params.yaml and writes its policy, snapshots and learning curve.

Usage: train.py EXPERIMENT. DVC deletes the outputs of a stage before it runs. The checkpoint is therefore in runs/: an
interrupted training resumes when the stage runs again, in the same MLflow run.
"""

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from omegaconf import OmegaConf

from cardlab.core.exit_status import run_program
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.build_parts import check_pinned
from cardlab.tracking import Run, Store
from cardlab.tracking.lineage import lineage, run_git
from cardlab.tracking.parameters import flatten
from cardlab.training.recorded_training import train_recorded
from cardlab.training.run import Trained, run_folder, write_curve
from cardlab.training.summary import write_summary

_ORIGIN = ("git.commit", "git.dirty", "dvc.experiment", "versions")  # tags of the lineage


def main(name: str) -> None:
    """Train the experiment `name`."""
    config = cast(dict[str, Any], OmegaConf.to_container(OmegaConf.load("params.yaml").experiments[name]))
    check_pinned(config)
    experiment = build_experiment(config)
    store = Store()
    folder = run_folder(store.root / "runs", experiment)
    model, snapshots, results = Path("models", name), Path("snapshots", name), Path("results", name)
    curve, summary = results / "curve.csv", results / "training.json"

    def record(run: Run, trained: Trained) -> None:
        write_curve(trained.rows, curve)
        write_summary(trained, {key: value for key, value in lineage().items() if key in _ORIGIN}, summary)
        _copy(trained.snapshots, snapshots)
        run.log_artifact(snapshots, "snapshots")
        run.log_artifact(curve)
        run.log_artifact(summary)

    changed = _changed(name, config)
    train_recorded(experiment, store, folder=folder, model_dir=model, params=config, record=record, changed=changed)


def _changed(name: str, config: Mapping[str, Any]) -> str:
    """The options that differ from params.yaml in the last commit, e.g. by `dvc exp run -S`; empty without git."""
    committed = OmegaConf.create(run_git(Path.cwd(), "show", "HEAD:./params.yaml") or "{}")
    before: dict[str, Any] = OmegaConf.to_object(committed)  # pyright: ignore[reportAssignmentType]
    known = flatten(before.get("experiments", {}).get(name, {}))
    return " ".join(f"{key}={value}" for key, value in flatten(config).items() if known and known.get(key) != value)


def _copy(source: Path, target: Path) -> None:
    """Replace `target` by a copy of `source`, or by an empty folder if `source` is missing."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)


if __name__ == "__main__":
    sys.exit(run_program(lambda: main(*sys.argv[1:]), "run dvc repro again to resume"))
