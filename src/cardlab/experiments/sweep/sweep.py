"""A sweep: a study, new or resumed, its trials under one MLflow run, and the best values."""

import hashlib
import json
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, fields, is_dataclass, replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from filelock import FileLock
from optuna.study import Study

from cardlab.agents.specs import SEED
from cardlab.core.child_processes import is_alive, process_name
from cardlab.core.messages import InvalidOption
from cardlab.experiments.config.build_experiment import build_experiment, check_run_name
from cardlab.experiments.config.build_parts import build_game
from cardlab.experiments.config.values import with_values
from cardlab.experiments.sweep.group_option import chosen_options, invalid_entry
from cardlab.experiments.sweep.options import SweepOptions, invalid_study
from cardlab.experiments.sweep.progress import SweepProgress
from cardlab.experiments.sweep.retries import fail_dead_trials
from cardlab.experiments.sweep.space import Space, Values
from cardlab.experiments.sweep.storages import DATABASE, storage_errors
from cardlab.experiments.sweep.study import check_played, enqueue_planned, finished_trials
from cardlab.experiments.sweep.summary import (
    SummaryRun,
    SweepFailed,
    SweepResult,
    confirm_best,
    confirmed_name,
    sweep_result,
)
from cardlab.experiments.sweep.trials import RUN
from cardlab.experiments.sweep.worker import (
    CODE,
    CONFIG,
    PLAN,
    SWEEP,
    SweepPlan,
    read_plan,
    run_worker,
    run_workers,
    with_options,
)
from cardlab.games.make_game import game_data, without_training_options
from cardlab.games.protocol import Game
from cardlab.tracking import Run, Store, TrackingUnavailable
from cardlab.tracking.experiment_tags import AGAINST, DEALS
from cardlab.tracking.parameters import flatten
from cardlab.tracking.policy_models import POLICY, PolicyToLog, log_policies
from cardlab.training.experiment import Experiment, training_code

_COMPARABILITY_OPTIONS = ("metric", "objective", "cost", "seeds", "deals", "pruner")
"""Options that decide what a trial's value or curve means; the others decide which trials there are."""
_OWNER = "owner"  # attribute of a study: the process that keeps its MLflow run


class StudyInUse(RuntimeError):
    """Another `cardlab sweep` runs this study."""


def run_sweep(options: SweepOptions, config: Mapping[str, Any], space: Space | None = None) -> SweepResult:
    """Run trials until the study has `options.trials` finished ones, and return the best.

    `config` is the configuration of the experiment, `space` the result of `check_sweep`. Raises InvalidOption for a
    space, a metric or a study that does not fit, before anything is written; later StudyInUse, StudyUnavailable,
    ChildKilled, TrackingUnavailable; SweepFailed when all trials were pruned; and KeyboardInterrupt after Ctrl-C.
    """
    space = space or check_sweep(options, config)
    name, store = options.study or study_name(options, config), Store()
    code = training_code(with_options(config, options.space))
    plan = SweepPlan(name, options, config, store.root, store.address, parent="", code=code)
    with storage_errors(plan.storage):
        study = plan.open()
        begun = json.loads(json.dumps({CONFIG: config, SWEEP: {**asdict(options), "storage": None}}, default=str))
        _check_study(study, space, read_plan(store, study), begun)
        with FileLock(store.root / f"{DATABASE}.owner.lock"):  # of two commands that start at once, one owns the study
            _become_owner(study)
            study.set_user_attr(CODE, code)
        with _parent_run(store, study, plan) as parent:
            plan = replace(plan, parent=parent.id)
            with store.wrap_errors():
                store.client.log_text(parent.id, json.dumps(begun), PLAN)  # for workers that join, and later commands
            fail_dead_trials(study, options.heartbeat)
            enqueue_planned(study, space, options)
            summary, progress = SummaryRun(study, space, options, parent), SweepProgress(study, space, options)
            confirmation = None
            try:
                _run(plan, study, progress, summary)
                if options.confirm:
                    best = sweep_result(study, space).best
                    confirmation = confirm_best(best.number, best.mean, best.values, plan, store, progress.print)
                    summary.add_confirmation(confirmation)
            finally:
                store.mark_killed(parent.id)
                summary.finish()
                study.set_user_attr(_OWNER, None)
        result = replace(sweep_result(study, space), confirmation=confirmation)
        _log_best(store, plan, result.best.run)
        return result


def _log_best(store: Store, plan: SweepPlan, run_id: str) -> None:
    """Log the policies of the best trial as models, and no others of the study; prints a warning on failure."""
    game = without_training_options(build_game(plan.config["game"]))
    try:
        with store.wrap_errors(), TemporaryDirectory() as scratch:
            folder = Path(store.client.download_artifacts(run_id, POLICY, scratch))
            folders = sorted(folder.glob(f"{SEED}*")) or [folder]
            names = [POLICY if each == folder else f"{POLICY}_{each.name}" for each in folders]
            tags = {"sweep.study": plan.study}
            policies = [PolicyToLog(*each, game_data(game), tags) for each in zip(folders, names, strict=True)]
            log_policies(store.client, run_id, policies)
            experiment, condition = store.experiment_id(game.spec.name), f"tags.`sweep.study` = '{plan.study}'"
            for model in store.client.search_logged_models([experiment], condition):
                if model.source_run_id != run_id:
                    store.client.delete_logged_model(model.model_id)
    except TrackingUnavailable as error:
        print(f"warning: the best policy is no model in MLflow: {error}", file=sys.stderr)


def join_sweep(plan: SweepPlan) -> int:
    """Run trials of a study that another command owns until it is done; the number of finished trials."""
    space = check_sweep(plan.options, plan.config)
    with storage_errors(plan.storage):
        study = plan.open()
        _run(plan, study, SweepProgress(study, space, plan.options))
        return len(finished_trials(study))


def check_sweep(options: SweepOptions, config: Mapping[str, Any]) -> Space:
    """The space of a sweep; InvalidOption for options that do not fit the experiment. Writes nothing."""
    experiment = build_experiment(config)
    options.check_experiment(experiment.game, experiment.trainer)
    if options.confirm:
        check_run_name(confirmed_name(config))
    space = Space.parse(options.space, config)
    check_space(space, is_grid=options.sampler == "grid")
    if options.sampler == "grid":
        space.grid()
    return space


def study_name(options: SweepOptions, config: Mapping[str, Any]) -> str:
    """NAME_<hash of all that decides the trials>: the same command resumes the study, a changed one starts another.

    The hash covers configuration, code and policies as the folders of trainings do. It covers neither the number of
    trials, nor the workers, nor what is done with the result.
    """
    from cardlab.training.run import run_folder  # noqa: PLC0415  imports Lightning

    decisive = {
        name: getattr(options, name) for name in (*_COMPARABILITY_OPTIONS, "space", "sampler", "seed", "baseline")
    }
    training = run_folder(Path(), with_options(config, options.space)).name
    text = json.dumps([config, training, decisive], sort_keys=True, default=str)
    return f"{config['name']}_{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def check_space(space: Space, *, is_grid: bool = False) -> None:
    """Raise InvalidOption under sweep.space.KEY when an end of a range, or a choice, makes no valid experiment.

    A grid may hold rules: it trains all its points, whichever scores best.
    """
    rules = _rules(build_experiment(space.config).game)
    for dimension, values in space.extremes():
        try:
            same_rules = is_grid or _rules(_fitting(space, values).game) == rules
            allowed = "left out, or sweep.sampler=grid: it changes the rules, and such scores do not compare"
            allowed = "" if same_rules else allowed
        except InvalidOption as refusal:
            allowed = f"within what {refusal.key} accepts: {refusal.value} is not {refusal.allowed}"
        if allowed:
            raise invalid_entry(dimension.param, dimension.text, allowed)


def _fitting(space: Space, values: Values) -> Experiment:
    """The experiment with `values`, and where it needs them, with options of the other groups that are searched."""
    try:
        return build_experiment(with_values(space.config, values))
    except InvalidOption:
        others = {group: options for group, options in space.groups.items() if group not in values}
        for combination in product(*others.values()):
            with suppress(InvalidOption):
                chosen = {**dict(zip(others, combination, strict=True)), **values}
                return build_experiment(with_values(space.config, chosen))
        raise


def _rules(game: Game) -> dict[str, Any]:
    """The options of a game that decide what its payoffs mean."""
    played: Any = without_training_options(game)
    if not is_dataclass(played):
        return dict(game.spec.options)
    return {entry.name: getattr(played, entry.name) for entry in fields(played) if entry.name != "features"}


def _run(plan: SweepPlan, study: Study, progress: SweepProgress, summary: SummaryRun | None = None) -> None:
    """Run the trials in this process or in workers."""
    with progress:

        def update() -> int:
            fail_dead_trials(study, plan.options.heartbeat)
            if summary is not None:
                summary.update()
            return progress.update()

        if plan.options.launcher == "ray" or plan.options.workers > 1:
            run_workers(plan, update, progress.show, lambda text: progress.print(text, "yellow"))
        else:
            run_worker(plan, progress.show, update)


def _become_owner(study: Study) -> None:
    """Raise StudyInUse when another command on this machine owns the study; else own it."""
    owner: str | None = study.user_attrs.get(_OWNER)
    if owner is not None and is_alive(owner) and owner != process_name():
        hint = f"cardlab sweep worker sweep.study={study.study_name} joins it"
        raise StudyInUse(f"study {study.study_name}: another process runs it ({hint})")
    study.set_user_attr(_OWNER, process_name())


def _parent_run(store: Store, study: Study, plan: SweepPlan) -> Run:
    """The run that the trials are shown under, new or resumed."""
    begun: str | None = study.user_attrs.get(RUN)
    params = {**plan.config, "sweep": {**asdict(plan.options), "storage": bool(plan.options.storage)}}
    experiment = build_experiment(plan.config)
    against = plan.options.against(experiment.game, experiment.arena.references)
    tags = {"kind": "sweep", "sweep.study": plan.study, AGAINST: against, DEALS: plan.options.deals}
    game, stopped_by = experiment.game.spec.name, (SweepFailed,)
    run = store.start_run(game, plan.study, tags=tags, params=params, resume=begun, stopped_by=stopped_by)
    if run.id != begun:
        study.set_user_attr(RUN, run.id)
    return run


def _check_study(study: Study, space: Space, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise InvalidOption for a study that began with `before`, when its values have another meaning with `now`."""
    check_played(study)
    trials = study.get_trials(deepcopy=False)
    if not before and finished_trials(study) and now[SWEEP]["study"]:
        allowed = "another name: MLflow has no run of this study, so what its values mean is not known"
        raise invalid_study(study.study_name, allowed)
    if before:
        searched = {dimension.key for dimension in space.dimensions} | {key for trial in trials for key in trial.params}
        groups = tuple(f"{group}." for group in space.groups)
        old, new = _comparability(before), _comparability(now)
        for key in dict.fromkeys([*old, *new]):
            if not (key in searched or key.startswith(groups)) and old.get(key) != new.get(key):
                allowed = f"another name, or {key}={old.get(key)} as in this study: other values cannot be compared"
                raise invalid_study(study.study_name, allowed)
        space.check_history([trial.distributions for trial in trials], study.study_name)


def _comparability(plan: Mapping[str, Any]) -> dict[str, str]:
    """What decides the meaning of a study's values, by key of the configuration."""
    sweep = {name: plan[SWEEP][name] for name in _COMPARABILITY_OPTIONS}
    options = chosen_options(plan[SWEEP]["space"])
    return {**flatten(plan[CONFIG]), **flatten({"sweep": {**sweep, "space": options} if options else sweep})}
