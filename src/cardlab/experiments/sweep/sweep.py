"""A sweep: a study, new or resumed, its trials under one MLflow run, and the best values."""

import hashlib
import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any

from optuna.study import Study
from rich.console import Console

from cardlab.core.options import InvalidOption
from cardlab.experiments.sweep.options import SweepOptions
from cardlab.experiments.sweep.quota import finished
from cardlab.experiments.sweep.recovery import Watch, is_alive, worker_name
from cardlab.experiments.sweep.space import Space
from cardlab.experiments.sweep.storages import BrokenStudy, reachable, shown
from cardlab.experiments.sweep.study import enqueue_planned
from cardlab.experiments.sweep.summary import Best, Summary, SweepFailed, find_best
from cardlab.experiments.sweep.trials import RUN, ComposeTrial
from cardlab.experiments.sweep.worker import CONFIG, SWEEP, Plan, close_orphans, work_on
from cardlab.experiments.sweep.workers import run_workers
from cardlab.tracking import Run, Store
from cardlab.training.experiment import Experiment

_MEASURED = ("metric", "objective", "cost", "seeds", "deals", "pruner")
"""Options that say what a trial's value is, and what its curve means; the others say which trials there are."""
_IN_CHARGE = "in_charge"
"""Attribute of a study: the process that keeps its MLflow run."""


class StudyInUse(RuntimeError):
    """Another command is in charge of this study."""


def run_sweep(
    options: SweepOptions,
    config: Mapping[str, Any],
    compose_trial: ComposeTrial,
    *,
    store: Store | None = None,
    console: Console | None = None,
) -> Best:
    """Run trials until the study has `options.trials` finished ones; the best of them.

    `config` is the experiment that is searched around, `compose_trial` gives it other values; with several workers it
    is pickled. Before anything is written: InvalidOption for a space, a metric or a study that does not fit. Later:
    StudyInUse, BrokenStudy, WorkersKilled, TrackingUnavailable; SweepFailed when all trials were pruned. Ctrl-C is a
    KeyboardInterrupt, wherever it came.
    """
    space = check_sweep(options, config, compose_trial)
    name = options.study or study_name(options, config)
    store, console = store or Store(), console or Console(stderr=True)
    plan = Plan(name, options, config, compose_trial, store.root, store.address, parent="")
    _check_journal(plan)
    with reachable(plan.storage):
        study = plan.open()
        _check_study(study, space, options, config)
        _take_charge(study)
        with _parent_run(store, study, plan) as parent:
            plan = replace(plan, parent=parent.id)
            Watch(study, options.heartbeat).fail_dead()
            close_orphans(store, plan, study)
            enqueue_planned(study, space, options)
            summary = Summary(study, space, compose_trial, parent)
            try:
                with _paused(console, study, options.trials):
                    _run(plan, study, summary, console)
            finally:
                close_orphans(store, plan, study)
                summary.finish()
                study.set_user_attr(_IN_CHARGE, None)
        return find_best(study, space)


def join_sweep(plan: Plan, *, console: Console | None = None) -> int:
    """Work on a study that another command is in charge of, until it is done; the number of finished trials."""
    console = console or Console(stderr=True)
    check_sweep(plan.options, plan.config, plan.compose_trial)
    with reachable(plan.storage):
        study = plan.open()
        with _paused(console, study, plan.options.trials):
            _run(plan, study, None, console)
        return len(finished(study))


def check_sweep(options: SweepOptions, config: Mapping[str, Any], compose_trial: ComposeTrial) -> Space:
    """The space of a sweep, when all of it fits; else InvalidOption. Nothing is written."""
    experiment: Experiment = compose_trial({})
    options.check_game(experiment.game)
    options.check_trainer(experiment.trainer)
    space = Space.parse(options.space, config)
    check_space(space, compose_trial)
    if options.sampler == "grid":
        space.grid()
    return space


def study_name(options: SweepOptions, config: Mapping[str, Any]) -> str:
    """NAME_<hash of all that decides the trials>: the same command resumes the study, a changed one begins another.

    The number of trials is no part of it, nor who runs them, nor what is done with the result.
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


def _run(plan: Plan, study: Study, summary: Summary | None, console: Console) -> None:
    """Run the trials in this process, or in those that the options ask for."""
    watch = Watch(study, plan.options.heartbeat)

    def look() -> int:
        watch.fail_dead()
        if summary is not None:
            summary.update()
        return len(finished(study))

    def say(text: str) -> None:
        console.print(text, style="yellow", soft_wrap=True)

    if plan.options.launcher == "ray":
        from cardlab.experiments.sweep.ray_workers import run_on_ray  # noqa: PLC0415  an extra, and seconds to import

        run_on_ray(plan, look, say)
    elif plan.options.workers > 1:
        run_workers(plan, look, say)
    else:
        work_on(plan, console, alone=True, after=lambda: None if summary is None else summary.update())


@contextmanager
def _paused(console: Console, study: Study, total: int) -> Generator[None]:
    """Ctrl-C inside says how far the study has come."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit) as stop:  # Lightning makes the second of the first
        name, count = study.study_name, len(finished(study))
        console.print(f"study {name}: {count} of {total} trials done; the same command resumes it", soft_wrap=True)
        raise KeyboardInterrupt from stop


def _check_journal(plan: Plan) -> None:
    """BrokenStudy for a study that cardlab 0.1 has kept in a journal."""
    journal = plan.root / "studies" / f"{plan.study}.journal"
    if journal.exists():
        use = f"studies are kept in {shown(plan.storage)} now: move the file away to begin again"
        raise BrokenStudy(f"{journal}: is of cardlab 0.1 and cannot be resumed; {use}")


def _take_charge(study: Study) -> None:
    """Be the command that keeps the study's MLflow run. Raises StudyInUse when another one on this machine is."""
    other: str | None = study.user_attrs.get(_IN_CHARGE)
    if other is not None and is_alive(other) and other != worker_name():
        hint = f"cardlab sweep worker sweep.study={study.study_name} joins it"
        raise StudyInUse(f"study {study.study_name}: another process is at work on it ({hint})")
    study.set_user_attr(_IN_CHARGE, worker_name())


def _parent_run(store: Store, study: Study, plan: Plan) -> Run:
    """The run that the trials are shown under, new or resumed."""
    begun: str | None = study.user_attrs.get(RUN)
    params = {**plan.config, "sweep": {**asdict(plan.options), "storage": bool(plan.options.storage)}}
    tags = {"kind": "sweep", "sweep.study": plan.study}
    run = store.start_run(plan.game, plan.study, tags=tags, params=params, resume=begun, stopped_by=(SweepFailed,))
    if run.id != begun:
        study.set_user_attr(RUN, run.id)
    return run


def _check_study(study: Study, space: Space, options: SweepOptions, config: Mapping[str, Any]) -> None:
    """InvalidOption for a study of another name's making: values of another kind cannot be compared with its own."""
    measured = json.loads(json.dumps({"config": config, "sweep": _measured(options)}, default=str))
    begun: dict[str, Any] | None = study.user_attrs.get("measured")
    if begun is not None:
        _check_measured(study, space, begun, measured)
        history = [trial.distributions for trial in study.get_trials(deepcopy=False)]
        space.check_history(history, study.study_name)
    else:
        study.set_user_attr("measured", measured)
    told = json.loads(json.dumps({CONFIG: config, SWEEP: {**asdict(options), "storage": None}}, default=str))
    for key, value in told.items():  # what a worker that joins has to know
        if study.user_attrs.get(key) != value:
            study.set_user_attr(key, value)


def _check_measured(study: Study, space: Space, begun: Mapping[str, Any], measured: Mapping[str, Any]) -> None:
    searched = {dimension.key for dimension in space.dimensions}
    searched |= {key for trial in study.get_trials(deepcopy=False) for key in trial.params}
    old, new = ({**_flat(side["config"]), **_flat({"sweep": side["sweep"]})} for side in (begun, measured))
    for key in dict.fromkeys([*old, *new]):
        if key not in searched and old.get(key) != new.get(key):
            allowed = f"another: this one began with {key}={old.get(key)}, its values cannot be compared"
            raise InvalidOption("sweep.study", study.study_name, allowed)


def _measured(options: SweepOptions) -> dict[str, Any]:
    return {name: getattr(options, name) for name in _MEASURED}


def _flat(node: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in node.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) and value else {f"{prefix}{name}": value}
    return flat
