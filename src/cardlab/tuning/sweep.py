"""A sweep: a study that begins or goes on, its trials under one MLflow run, and the best values that were found."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import optuna
from optuna.study import Study
from optuna.trial import TrialState
from rich.console import Console

from cardlab.options import InvalidOption
from cardlab.reporting.drawing import house_style
from cardlab.tracking import Run, Store
from cardlab.tuning.options import SweepOptions
from cardlab.tuning.pictures import draw_history, draw_importances, importances
from cardlab.tuning.progress import Progress
from cardlab.tuning.space import Space, Values
from cardlab.tuning.study import finished, open_study, run_trials
from cardlab.tuning.trials import ComposeTrial, Trials

_MEASURED = ("metric", "objective", "seeds", "deals")
"""Options that say what a trial's value is; the others say which trials there are."""
STUDIES = "studies"


class SweepFailed(RuntimeError):
    """No trial came to an end."""


@dataclass(frozen=True)
class Best:
    """What a sweep found."""

    study: str
    value: float
    values: Values
    trials: int  # finished ones


def run_sweep(
    options: SweepOptions,
    config: Mapping[str, Any],
    compose_trial: ComposeTrial,
    *,
    store: Store | None = None,
    console: Console | None = None,
) -> Best:
    """Run trials until the study has `options.trials` finished ones; the best of them.

    `config` is the experiment that is searched around, `compose_trial` gives it other values. Before anything is
    written: InvalidOption for a space, a metric or a study that does not fit. Later: StudyInUse, BrokenStudy,
    TrackingUnavailable; SweepFailed when all trials were given up. Ctrl-C is a KeyboardInterrupt, wherever it came.
    """
    options.check_game(compose_trial({}).game)
    space = Space.parse(options.space, config)
    check_space(space, compose_trial)
    if options.sampler == "grid":
        space.grid()
    name = options.study or study_name(options, config)
    store = store or Store()
    with open_study(store.root / STUDIES, name) as study:
        _check_study(study, space, options, config)
        with _parent_run(store, study, options, config) as parent:
            progress = Progress(console or Console(stderr=True), options.trials)
            trials = Trials(name, options, compose_trial, store, parent, progress.tell)
            try:
                with progress:
                    run_trials(study, space, options, partial(_objective, study, trials, progress))
            except (KeyboardInterrupt, SystemExit) as stop:  # Lightning makes the second of the first
                progress.pause(name, len(finished(study)))
                raise KeyboardInterrupt from stop
            finally:
                _summarise(study, space, options, compose_trial, parent)
        return _best(study, space)


def study_name(options: SweepOptions, config: Mapping[str, Any]) -> str:
    """NAME_<hash of all that decides the trials>: the same command goes on with the same study, a changed one does not.

    The number of trials is no part of it, nor what is done with the result.
    """
    decisive = {**_measured(options), "space": options.space, "sampler": options.sampler, "seed": options.seed}
    text = json.dumps([config, decisive, options.baseline], sort_keys=True, default=str)
    return f"{config['name']}_{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def check_space(space: Space, compose_trial: ComposeTrial) -> None:
    """InvalidOption under sweep.space.KEY when a value at an end of the space, or a choice, cannot be built."""
    for dimension, values in space.extremes():
        try:
            compose_trial(values)
        except InvalidOption as refusal:
            key = f"sweep.space.{dimension.key}"
            allowed = f"within what {refusal.key} takes: {refusal.value} is not {refusal.allowed}"
            raise InvalidOption(key, dimension.text, allowed) from refusal


def _objective(study: Study, trials: Trials, progress: Progress, trial: optuna.Trial, values: Values) -> float:
    complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    count = len(finished(study)) + 1
    progress.begin(count, values)
    try:
        value, strength = trials.run(trial, values)
    except optuna.TrialPruned as reason:
        progress.give_up(str(reason))
        raise
    before = max((earlier.value for earlier in complete if earlier.value is not None), default=-float("inf"))
    progress.end(trials.options.metric, strength, best=value > before)
    trials.parent.log_metrics({"sweep/objective": value, "sweep/best": max(value, before)}, step=count)
    return value


def _parent_run(store: Store, study: Study, options: SweepOptions, config: Mapping[str, Any]) -> Run:
    """The run that the trials are shown under; runs of trials that were killed under it are closed."""
    name = study.study_name
    begun: str | None = study.user_attrs.get("mlflow_run")
    game = config["game"]["name"]
    params = {**config, "sweep": {**options.__dict__, "space": dict(options.space)}}
    run = store.start_run(
        game, name, tags={"kind": "sweep", "sweep.study": name}, params=params, resume=begun, stopped_by=(SweepFailed,)
    )
    if run.id != begun:
        study.set_user_attr("mlflow_run", run.id)
    else:
        orphans = f"tags.`mlflow.parentRunId` = '{run.id}' and attributes.status = 'RUNNING'"
        for orphan in store.client.search_runs([store.experiment_id(game)], orphans):
            store.start_run(game, "", resume=orphan.info.run_id).finish("KILLED")
    return run


def _check_study(study: Study, space: Space, options: SweepOptions, config: Mapping[str, Any]) -> None:
    """InvalidOption for a study of another name's making: values of another kind cannot be compared with its own."""
    measured = json.loads(json.dumps({"config": config, "sweep": _measured(options)}, default=str))
    begun: dict[str, Any] | None = study.user_attrs.get("measured")
    if begun is None:
        study.set_user_attr("measured", measured)
        return
    searched = {dimension.key for dimension in space.dimensions}
    searched |= {key for trial in study.get_trials(deepcopy=False) for key in trial.params}
    old, new = ({**_flat(side["config"]), **_flat({"sweep": side["sweep"]})} for side in (begun, measured))
    for key in dict.fromkeys([*old, *new]):
        if key not in searched and old.get(key) != new.get(key):
            allowed = f"another: this one began with {key}={old.get(key)}, its values cannot be compared"
            raise InvalidOption("sweep.study", study.study_name, allowed)
    history = [trial.distributions for trial in study.get_trials(deepcopy=False)]
    space.check_history(history, study.study_name)


def _measured(options: SweepOptions) -> dict[str, Any]:
    return {name: getattr(options, name) for name in _MEASURED}


def _flat(node: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in node.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) and value else {f"{prefix}{name}": value}
    return flat


def _best(study: Study, space: Space) -> Best:
    complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    if not complete:
        raise SweepFailed(f"study {study.study_name}: all of its trials were given up")
    best = study.best_trial
    assert best.value is not None
    return Best(study.study_name, best.value, space.decode(best.params), len(finished(study)))


def _summarise(study: Study, space: Space, options: SweepOptions, compose_trial: ComposeTrial, parent: Run) -> None:
    """Leave in the parent run what the study knows by now."""
    complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    if not complete:
        return
    best = _best(study, space)
    parent.set_tags({f"best.{key}": value for key, value in best.values.items()} | {"sweep.trials": best.trials})
    config = dict(compose_trial(best.values).config)
    parent.log_text(json.dumps(config, indent=2, default=str), "best/config.json")
    with house_style():
        label = options.metric if options.objective == "mean" else f"{options.metric}, lower bound"
        parent.log_figure(draw_history([trial.value or 0.0 for trial in complete], label), "study/history.svg")
        shares = importances(study)
        if shares:
            parent.log_figure(draw_importances(shares), "study/importances.svg")
