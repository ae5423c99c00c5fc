"""Stage train: trains the seeds of one experiment of params.yaml side by side, and writes their policies and curves.

Usage: train.py EXPERIMENT. DVC deletes the outputs of a stage before it runs. The trainings are therefore in runs/, and
what is finished there is not repeated: an interrupted stage resumes when it runs again, in the same MLflow runs.
"""

from cardlab.core.exit_status import REPRO, exit_on_signals, run_program

if __name__ == "__main__":
    exit_on_signals(REPRO)  # before the imports below

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from cardlab.agents.specs import SEED
from cardlab.experiments.config.build_parts import check_pinned
from cardlab.experiments.config.seed_options import SEEDS, experiment_part, parse_seeds
from cardlab.experiments.learning_curves import read_columns, write_mean_curve, write_seed_curves
from cardlab.experiments.seeds import SeedTraining, train_seeds
from cardlab.experiments.stage_code import read_params
from cardlab.tracking import Store
from cardlab.tracking.lineage import run_git
from cardlab.tracking.parameters import flatten


def main(name: str) -> None:
    """Train the experiment `name`."""
    config = read_params("train", name)["experiments"][name]
    check_pinned(config)
    seeds, changed = parse_seeds(config[SEEDS], config["seed"]), _changed(name, config)
    trainings = train_seeds(experiment_part(config), seeds, Store(), changed=changed)
    _write(trainings, Path("models", name), Path("snapshots", name), Path("results", name))


def _write(trainings: Sequence[SeedTraining], models: Path, snapshots: Path, results: Path) -> None:
    """Write policies, the first seed's snapshots, and the curves. What they cost is in MLflow and runs/."""
    shutil.rmtree(models, ignore_errors=True)
    for training in trainings:
        _copy(training.policy, models / f"{SEED}{training.seed}")
    _copy(trainings[0].snapshots, snapshots)
    curves = {training.seed: read_columns(training.curve) for training in trainings}
    write_mean_curve([*curves.values()], results / "curve.csv")
    write_seed_curves(curves, results / "seed_curves.csv")


def _changed(name: str, config: Mapping[str, Any]) -> str:
    """The options that differ from params.yaml in the last commit, e.g. by `dvc exp run -S`.

    Empty without git, and for an experiment that is not committed.
    """
    committed = OmegaConf.create(run_git(Path.cwd(), "show", "HEAD:./params.yaml") or "{}")
    before: dict[str, Any] = OmegaConf.to_object(committed)  # pyright: ignore[reportAssignmentType]
    if name not in before.get("experiments", {}):
        return ""
    known = flatten(before["experiments"][name])
    return " ".join(f"{key}={value}" for key, value in flatten(config).items() if known.get(key) != value)


def _copy(source: Path, target: Path) -> None:
    """Replace `target` by a copy of `source`, or by an empty folder if `source` is missing."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)


if __name__ == "__main__":
    sys.exit(run_program(lambda: main(*sys.argv[1:]), REPRO))
