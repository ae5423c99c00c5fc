"""`cardlab train`: one experiment, logged to MLflow; the same command resumes it after an interruption."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from shlex import quote
from typing import Any

from cardlab.cli.verbs import ComposedConfig, Outcome, Request
from cardlab.core.exit_status import INTERRUPTED
from cardlab.core.files import short_path
from cardlab.core.messages import InvalidOption
from cardlab.evaluation.progress import is_quiet
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.seed_options import RESUME, SEEDS, experiment_part, parse_seeds
from cardlab.experiments.run_paths import LATEST, POLICY, quoted
from cardlab.tracking import Store
from cardlab.tracking.parameters import flatten
from cardlab.tracking.run_state import RunState, find_unfinished

_NOT_CHANGED = ("experiment", "game", "name", "seed", RESUME, SEEDS)  # keys that have columns of their own in MLflow


def run(request: Request) -> int | Outcome:
    """Train in the processes that torchrun started (RANK and WORLD_SIZE), in those of Ray, or in this one."""
    trainer, started = request.config["trainer"], _started_processes()
    by_ray = trainer.get("launcher") == "ray"
    if started == 1 and not by_ray:
        return _run(request)
    if request.config.get(SEEDS) is not None:
        key, value = ("trainer.launcher", "ray") if by_ray else ("WORLD_SIZE", started)
        raise InvalidOption(key, value, f"left out with {SEEDS}: train one seed with each command")
    if by_ray:
        from cardlab.training.ray_train import run_on_ray  # noqa: PLC0415  imports torch

        local = {**trainer, "launcher": "processes"}  # Ray has started them when the training begins
        request = replace(request, config=ComposedConfig(request.config, trainer=local))
        options = build_experiment(experiment_part(request.config)).trainer
        return run_on_ray(partial(_status, request), options)
    from cardlab.training.joined_group import environment_group, run_in_group  # noqa: PLC0415  imports torch

    if trainer["processes"] == 1:
        request = replace(request, config=ComposedConfig(request.config, trainer={**trainer, "processes": started}))
    return run_in_group(environment_group(), trainer["device"], partial(_status, request))


def _started_processes() -> int:
    """The number of processes that torchrun started, else 1."""
    return int(os.environ["WORLD_SIZE"]) if "RANK" in os.environ else 1


def _status(request: Request) -> int:
    return _run(request).status


def _run(request: Request) -> Outcome:
    """Train in runs/NAME/ (models/ and results/ belong to the pipeline) and print the next commands."""
    config = experiment_part(request.config)
    if request.config.get(SEEDS) is not None:
        return _train_seeds(request, config)
    store, folder = Store(), None
    if request.config.get(RESUME) is not None:
        folder, state = find_unfinished(store.root / "runs", request.typed_text(RESUME) or "")
        _check_same(config if len(request.overrides) > 1 else state.config, state, request.overrides)
        config = dict(state.config)
    experiment = build_experiment(config)  # before the slow imports below: a wrong value fails at once
    from cardlab.experiments.seeds import find_training, write_training_files  # noqa: PLC0415
    from cardlab.training.recorded_training import train_recorded  # noqa: PLC0415

    training = find_training(config, store.root)
    if folder is not None and folder != training.folder:
        print("warning: the code or an agent's policy has changed; the results will differ from an uninterrupted run")
        training = replace(training, folder=folder)
    if training.is_finished:
        print(f"trained before: {short_path(training.policy)}; it is trained again, with the same result")
    trained = train_recorded(
        experiment,
        store,
        folder=training.folder,
        model_dir=training.policy,
        params=config,
        record=partial(write_training_files, training, config),
        changed=_changed(request),
    )
    shown = short_path(training.folder.with_name(LATEST) / POLICY)
    print(f"policy: {shown}\nnext:   cardlab evaluate {quoted('policy', shown)}\n        cardlab ui")
    if experiment.last_iteration < experiment.total_iterations:
        start = shown.with_name(trained.continuation.name)
        given = quoted("trainer.start_from", start)
        print(f"        continue with the same command, {given} and a later trainer.stop_after")
    return Outcome(([training], None))


def _train_seeds(request: Request, config: Mapping[str, Any]) -> Outcome:
    """Train with several seeds, evaluate their policies together, and print their folders."""
    if request.config.get(RESUME) is not None:
        raise InvalidOption(RESUME, request.config[RESUME], f"left out with {SEEDS}: the same command resumes all")
    seeds = parse_seeds(request.config[SEEDS], config["seed"])
    build_experiment(config)
    if not is_quiet():
        shown = "s" if len(seeds) > 1 else ""
        print(f"training {len(seeds)} seed{shown}: {', '.join(map(str, seeds))}", flush=True)  # slow imports follow
    from rich.console import Console  # noqa: PLC0415

    from cardlab.evaluation.evaluate import evaluation_table  # noqa: PLC0415
    from cardlab.evaluation.progress import progress_bars  # noqa: PLC0415
    from cardlab.evaluation.scores import or_part  # noqa: PLC0415
    from cardlab.experiments.config.build_parts import build_arena  # noqa: PLC0415
    from cardlab.experiments.group_evaluation import evaluate_group  # noqa: PLC0415
    from cardlab.experiments.policy_groups import PolicyGroup  # noqa: PLC0415
    from cardlab.experiments.seeds import train_seeds  # noqa: PLC0415

    store = Store()
    trainings = train_seeds(config, seeds, store, changed=_changed(request))
    group = PolicyGroup(config["name"], tuple(training.policy for training in trainings), config)
    with progress_bars() as progress:
        measure = partial(evaluate_group, group, build_arena(config["arena"]), store, progress=progress)
        evaluation, complete = or_part(measure)
    Console().print(evaluation_table(evaluation))
    for training in trainings:
        print(f"policy: {short_path(training.policy)}  (seed {training.seed})")
    print(f"next:   cardlab compare {quote(config['name'])} OTHER  (another method)\n        cardlab ui")
    return Outcome((trainings, evaluation), 0 if complete else INTERRUPTED)


def _changed(request: Request) -> str:
    """The overrides that differ from the recipe; those of the budget last, as MLflow's table cuts long texts."""
    texts = [text for text in request.overrides if text.split("=")[0] not in _NOT_CHANGED]
    return " ".join(sorted(texts, key=lambda text: text.startswith("trainer")))


def _check_same(config: Mapping[str, Any], state: RunState, overrides: Sequence[str]) -> None:
    """Raise InvalidOption for a run of the pipeline, and for a key that differs from the interrupted run.

    Of several such keys it names one of `overrides`, if it can.
    """
    if state.stage is not None:
        raise InvalidOption(RESUME, state.run_id, f"a run of cardlab train; resume this one by dvc repro {state.stage}")
    before, now = flatten(state.config), flatten(config)
    given = {text.partition("=")[0] for text in overrides}
    for key in sorted(before.keys() | now.keys(), key=lambda key: (key not in given, key)):
        if before.get(key) != now.get(key):
            allowed = f"{before.get(key, 'left out')}, as in the interrupted run; or give resume= alone"
            raise InvalidOption(key, now.get(key, "(left out)"), allowed)
