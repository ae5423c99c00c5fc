"""`cardlab train`: one experiment, logged to MLflow; the same command resumes it after an interruption."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardlab.cli.run_paths import CONFIG, LATEST, POLICY, quoted
from cardlab.cli.verbs import Request
from cardlab.core.files import write_atomically
from cardlab.core.options import InvalidOption
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.composition import RESUME, without_resume
from cardlab.tracking import Run, Store
from cardlab.tracking.parameters import flatten
from cardlab.tracking.run_state import RunState, find_unfinished

if TYPE_CHECKING:
    from cardlab.training.run import Trained


_NOT_CHANGED = ("experiment", "game", "name", "seed", RESUME)  # keys that have columns of their own in MLflow


def run(request: Request) -> int:
    """Train in runs/NAME/ (models/ and results/ belong to the pipeline) and print the next commands."""
    config = without_resume(request.config)
    store, folder = Store(), None
    if request.config.get(RESUME) is not None:
        folder, state = find_unfinished(store.root / "runs", _resume_value(request))
        _check_same(config if len(request.overrides) > 1 else state.config, state)
        config = dict(state.config)
    experiment = build_experiment(config)  # before the slow imports below: a wrong value fails at once
    from cardlab.training.recorded_training import train_recorded  # noqa: PLC0415
    from cardlab.training.run import run_folder, write_curve  # noqa: PLC0415

    current = run_folder(store.root / "runs", experiment)
    if folder is not None and folder != current:
        print("warning: the code or an agent's policy has changed; the results will differ from an uninterrupted run")
    folder = folder or current
    model = folder / POLICY

    def record(recorded: Run, trained: "Trained") -> None:
        write_curve(trained.rows, model.with_name("curve.csv"))
        write_atomically(model.with_name(CONFIG), json.dumps(config, indent=2, default=str) + "\n")
        recorded.log_artifact(trained.snapshots, "snapshots")
        recorded.log_artifact(model.with_name("curve.csv"))

    changed = " ".join(text for text in request.overrides if text.split("=")[0] not in _NOT_CHANGED)
    trained = train_recorded(
        experiment, store, folder=folder, model_dir=model, params=config, record=record, changed=changed
    )
    latest = _link_latest(folder) / model.name
    here = Path.cwd()
    shown = latest.relative_to(here) if latest.is_relative_to(here) else latest
    print(f"policy: {shown}\nnext:   cardlab evaluate {quoted('policy', shown)}\n        cardlab ui")
    if experiment.last_iteration < experiment.total_iterations:
        start = shown.with_name(trained.continuation.name)
        given = quoted("trainer.start_from", start)
        print(f"        continue with the same command, {given} and a later trainer.stop_after")
    return 0


def _link_latest(folder: Path) -> Path:
    """Point the link runs/NAME/latest to `folder`; returns the link."""
    link, draft = folder.with_name(LATEST), folder.with_name(f".{LATEST}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    draft.symlink_to(folder.name)
    draft.replace(link)
    return link


def _resume_value(request: Request) -> str:
    """The text behind resume=…; Hydra would parse an id such as 12e45678 as a number."""
    typed = [text.removeprefix(f"{RESUME}=") for text in request.overrides if text.startswith(f"{RESUME}=")]
    return typed[-1].strip("'\"") if typed else str(request.config[RESUME])


def _check_same(config: Mapping[str, Any], state: RunState) -> None:
    """Raise InvalidOption for a run of the pipeline, and for the first key that differs from the interrupted run."""
    if state.stage is not None:
        raise InvalidOption(RESUME, state.run_id, f"a run of cardlab train; resume this one by dvc repro {state.stage}")
    before, now = flatten(state.config), flatten(config)
    for key in sorted(before.keys() | now.keys()):
        if before.get(key) != now.get(key):
            raise InvalidOption(
                key, now.get(key, "(left out)"), f"{before.get(key, 'left out')}, as in the interrupted run"
            )
