"""`cardlab train`: one experiment, recorded in MLflow; the same command goes on where it was cut off."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardlab.cli.policy_names import LATEST, POLICY
from cardlab.cli.verbs import Request
from cardlab.core.options import InvalidOption
from cardlab.experiments.config.build import build_experiment
from cardlab.experiments.config.composition import RESUME, without_resume

if TYPE_CHECKING:
    from cardlab.tracking import Run
    from cardlab.tracking.run_state import RunState
    from cardlab.training.run import Trained


def run(request: Request) -> int:
    """Train into runs/NAME/ (models/ and results/ belong to the pipeline), and say how to look at what came of it."""
    config = without_resume(request.config)
    # A wrong value is refused before the imports below, which take seconds.
    experiment = build_experiment(config) if request.config.get(RESUME) is None else None
    from cardlab.tracking import Store  # noqa: PLC0415
    from cardlab.tracking.run_state import find_unfinished  # noqa: PLC0415
    from cardlab.training.run import run_folder, write_curve  # noqa: PLC0415
    from cardlab.training.tracked_run import train_recorded  # noqa: PLC0415

    store = Store()
    folder = None
    if experiment is None:
        folder, state = find_unfinished(store.root / "runs", _asked_for(request))
        _check_same(config if len(request.overrides) > 1 else state.config, state)
        config = dict(state.config)
        experiment = build_experiment(config)
    today = run_folder(store.root / "runs", experiment)
    if folder is not None and folder != today:
        print("the code or a policy named is not as when the run began: it goes on, but not to the same bytes")
    folder = folder or today
    model = folder / POLICY

    def record(recorded: "Run", trained: "Trained") -> None:
        write_curve(trained.rows, model.with_name("curve.csv"))
        recorded.log_artifact(trained.snapshots, "snapshots")
        recorded.log_artifact(model.with_name("curve.csv"))

    trained = train_recorded(experiment, store, folder=folder, model_dir=model, params=config, record=record)
    latest = _point_to(folder) / model.name
    here = Path.cwd()
    shown = latest.relative_to(here) if latest.is_relative_to(here) else latest
    print(f"policy: {shown}\nnext:   cardlab evaluate policy={shown}\n        cardlab ui")
    if experiment.last_iteration < experiment.total_iterations:
        continuation = shown.with_name(trained.continuation.name)
        print(f"        the same command with trainer.start_from={continuation} and a later trainer.stop_after goes on")
    return 0


def _point_to(folder: Path) -> Path:
    """The link runs/NAME/latest, which now leads to `folder`."""
    link, draft = folder.with_name(LATEST), folder.with_name(f".{LATEST}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    draft.symlink_to(folder.name)
    draft.replace(link)
    return link


def _asked_for(request: Request) -> str:
    """The value of resume=… as it was typed: an id such as 12e45678 is no number."""
    typed = [text.removeprefix(f"{RESUME}=") for text in request.overrides if text.startswith(f"{RESUME}=")]
    return typed[-1].strip("'\"") if typed else str(request.config[RESUME])


def _check_same(config: Mapping[str, Any], state: "RunState") -> None:
    """InvalidOption for the first key that is not as when the run began, and for a run of the pipeline."""
    if state.stage is not None:
        raise InvalidOption(
            RESUME, state.run_id, f"a run of cardlab train; with this one `dvc repro {state.stage}` goes on"
        )
    from cardlab.tracking.parameters import flatten  # noqa: PLC0415

    began, now = flatten(state.config), flatten(config)
    for key in sorted(began.keys() | now.keys()):
        if began.get(key) != now.get(key):
            was = f"{began[key]}, as when the run began" if key in began else "left out, as when the run began"
            raise InvalidOption(key, now.get(key, "(left out)"), was)
