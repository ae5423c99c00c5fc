"""`cardlab train`: one experiment, logged to MLflow; the same command resumes it after an interruption."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING, Any

from hydra.core.override_parser.overrides_parser import OverridesParser

from cardlab.cli.verbs import ComposedConfig, Outcome, Request
from cardlab.core.exit_status import INTERRUPTED
from cardlab.core.files import short_path
from cardlab.core.messages import InvalidOption
from cardlab.core.options import Text, check_that, checked
from cardlab.evaluation.progress import is_quiet
from cardlab.experiments.config.build_experiment import PARTS, build_experiment
from cardlab.experiments.config.composition import compose_config
from cardlab.experiments.config.seed_options import (
    LIKE,
    OWN_KEYS,
    RESUME,
    SEEDS,
    check_launcher,
    experiment_part,
    parse_seeds,
)
from cardlab.experiments.config.values import with_values
from cardlab.experiments.policy_groups import describe_other_groups, method_text
from cardlab.experiments.run_paths import LATEST, POLICY, quoted
from cardlab.experiments.training_records import differences_now, find_records
from cardlab.tracking import Store
from cardlab.tracking.parameters import flatten
from cardlab.tracking.policy_lookup import print_run
from cardlab.tracking.run_state import RunState, find_unfinished

if TYPE_CHECKING:
    from cardlab.experiments.seeds import MethodTraining, SeedTraining

_NOT_CHANGED = ("experiment", "game", "name", "seed", *OWN_KEYS)  # keys that have columns of their own in MLflow


def run(request: Request) -> int | Outcome:
    """Train in the processes that torchrun started (RANK and WORLD_SIZE), in those of Ray, or in this one."""
    trainer = request.config["trainer"]
    started = int(os.environ["WORLD_SIZE"]) if "RANK" in os.environ else 1  # by torchrun
    by_ray = trainer.get("launcher") == "ray"
    if started == 1 and not by_ray:
        return _run(request)
    key, value = ("trainer.launcher", "ray") if by_ray else ("WORLD_SIZE", started)
    one_seed = request.config.get(SEEDS) is None
    check_that(one_seed, key, value, f"left out with {SEEDS}: train one seed with each command")
    if by_ray:
        from cardlab.training.ray_train import run_on_ray  # noqa: PLC0415  imports torch

        local = {**trainer, "launcher": "processes"}  # Ray has started them when the training begins
        request = replace(request, config=ComposedConfig(request.config, trainer=local))
        options = build_experiment(experiment_part(request.config)).trainer
        return run_on_ray(partial(_status, request), options)
    from cardlab.training.external_launch import environment_group, run_in_group  # noqa: PLC0415  imports torch

    if trainer["processes"] == 1:
        request = replace(request, config=ComposedConfig(request.config, trainer={**trainer, "processes": started}))
    return run_in_group(environment_group(), trainer["device"], partial(_status, request))


def _status(request: Request) -> int:
    return _run(request).status


def _run(request: Request) -> Outcome:
    """Train in runs/NAME/ (models/ and results/ belong to the pipeline) and print the next commands."""
    store, folder = Store(tags=_tags(request.config)), None
    config = _like(request, store) if request.config.get(LIKE) else experiment_part(request.config)
    if request.config.get(SEEDS) is not None:
        return _train_seeds(request, config, store)
    if request.config.get(RESUME) is not None:
        folder, state = find_unfinished(store.root / "runs", request.typed_text(RESUME) or "")
        _check_same(config if len(request.overrides) > 1 else state.config, state, request.overrides)
        config = dict(state.config)
    experiment = build_experiment(config)  # before the slow imports below: a wrong value fails at once
    from cardlab.experiments.seeds import find_training, write_training_files  # noqa: PLC0415
    from cardlab.training.recorded_training import train_recorded  # noqa: PLC0415

    training = find_training(experiment, store.root)
    if folder is not None and folder != training.folder:
        text = "the code or an agent's policy has changed; the results will differ from an uninterrupted run"
        print(f"warning: {text}", file=sys.stderr)
        training = replace(training, folder=folder)
    if training.is_finished:
        print(f"trained before: {short_path(training.policy)}; it is trained again, with the same result")
    trained = train_recorded(
        experiment,
        store,
        folder=training.folder,
        model_dir=training.policy,
        params=config,
        record=partial(write_training_files, training, experiment),
        changed=_changed(request),
    )
    shown = short_path(training.folder.with_name(LATEST) / POLICY)
    print(f"policy: {shown}\nnext:   cardlab evaluate {quoted('policy', shown)}\n        cardlab ui")
    if experiment.last_iteration < experiment.total_iterations:
        start = shown.with_name(trained.continuation.name)
        given = quoted("trainer.start_from", start)
        print(f"        continue with the same command, {given} and a later trainer.stop_after")
    _report_others(config["name"], store)
    return Outcome(([training], None))


def _tags(config: Mapping[str, Any]) -> dict[str, str]:
    """The tags that `tags` and `note` give to the runs."""
    given = checked("tags", config.get("tags"), Mapping[str, Any] | None) or {}
    note = checked("note", config.get("note"), Text | None)
    return {key: str(value) for key, value in given.items()} | ({"note": note} if note else {})


def _like(request: Request, store: Store) -> dict[str, Any]:
    """The configuration of an earlier training with the changes of the command; prints what differs beside it."""
    record = find_records(request.typed_text(LIKE) or "", store, key=LIKE)[0]
    config = dict(record.config)
    overrides = OverridesParser.create().parse_overrides([*request.overrides])
    for override in sorted(overrides, key=lambda each: each.key_or_group not in PARTS):  # groups first, as Hydra does
        plain = not override.is_delete() and not override.is_sweep_override()
        check_that(plain, override.key_or_group, override.input_line, f"KEY=VALUE with {LIKE}")
        key, value = override.key_or_group, override.value()
        if key in OWN_KEYS:
            continue
        if key in PARTS:  # an option of a group
            value = compose_config("train", [f"{key}={value}"])[key]
        try:
            config = with_values(config, {key: value})
        except (KeyError, TypeError) as error:
            raise InvalidOption(key, value, f"a key of the configuration of {record.name}") from error
    check_launcher(build_experiment(config).trainer)
    for line in differences_now(record):
        print(f"warning: {line}", file=sys.stderr)
    return config


def _train_seeds(request: Request, config: Mapping[str, Any], store: Store) -> Outcome:
    """Train with several seeds, evaluate their policies together, and print their folders."""
    resumed = request.config.get(RESUME)
    check_that(resumed is None, RESUME, resumed, f"left out with {SEEDS}: the same command resumes all")
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

    trainings = train_seeds(config, seeds, store, changed=_changed(request))
    group = PolicyGroup(config["name"], tuple(training.policy for training in trainings), config)
    with progress_bars() as progress:
        measure = partial(evaluate_group, group, build_arena(config["arena"]), store, progress=progress)
        evaluation, complete = or_part(measure)
    Console().print(evaluation_table(evaluation))
    _print_group(store, trainings)
    for training in trainings:
        print(f"policy: {short_path(training.policy)}  (seed {training.seed})")
    print(f"next:   cardlab compare {quote(config['name'])} OTHER  (another method)\n        cardlab ui")
    _report_others(config["name"], store)
    return Outcome((trainings, evaluation), 0 if complete else INTERRUPTED)


def run_many(requests: Sequence[Request]) -> Outcome:
    """Train the method of each request with its seeds, as many at a time as there are cores, and compare them."""
    from cardlab.cli.compare import report_comparison  # noqa: PLC0415  slow imports
    from cardlab.experiments.config.build_parts import build_arena, build_game  # noqa: PLC0415
    from cardlab.experiments.policy_groups import PolicyGroup  # noqa: PLC0415
    from cardlab.experiments.seeds import train_methods  # noqa: PLC0415

    methods = _methods(requests)
    games = {build_game(method.config["game"]).spec.name for method in methods}
    allowed = "one game: methods of several games cannot be compared"
    check_that(len(games) == 1, "game", ", ".join(games), allowed)
    if not is_quiet():
        print(f"training {len(methods)} methods: {', '.join(method.label for method in methods)}", flush=True)
    store = Store(tags=_tags(requests[0].config))
    trainings = train_methods(methods, store)
    for trained in trainings:
        _print_group(store, trained)
    groups = {
        method.label: PolicyGroup(method.label, tuple(each.policy for each in trained), method.config)
        for method, trained in zip(methods, trainings, strict=True)
    }
    if len(groups) < 2:  # one combination, or several seeds of one
        return Outcome((trainings, None))
    return report_comparison(groups, None, build_arena(methods[0].config["arena"]), store)


def _methods(requests: Sequence[Request]) -> "list[MethodTraining]":
    """The methods of the requests; those that differ in the seed alone are one method with several seeds."""
    from cardlab.experiments.seeds import MethodTraining  # noqa: PLC0415  slow import

    seeds, found = dict[str, set[int]](), dict[str, tuple[Mapping[str, Any], str]]()
    for request in requests:
        for key in (RESUME, LIKE):
            given = request.config.get(key)
            check_that(given is None, key, given, "left out with -m")
        config, given = experiment_part(request.config), request.config.get(SEEDS)
        check_launcher(build_experiment(config).trainer)
        method = json.dumps({**config, "seed": None}, sort_keys=True, default=str)
        own = [int(config["seed"])] if given is None else parse_seeds(given, config["seed"])
        seeds.setdefault(method, set()).update(own)
        found.setdefault(method, (config, _changed(request)))
    names = _method_names([config for config, _ in found.values()])
    return [
        MethodTraining(config, sorted(seeds[method]), changed, name)
        for name, (method, (config, changed)) in zip(names, found.items(), strict=True)
    ]


def _method_names(configs: Sequence[Mapping[str, Any]]) -> list[str]:
    """The name of each method with the options in which it differs from the others of its name; each name once."""
    left_out = ("seed", "arena")
    flat = [flatten({key: value for key, value in config.items() if key not in left_out}) for config in configs]
    names = [method_text(own["name"], own, [each for each in flat if each["name"] == own["name"]]) for own in flat]
    return [f"{name}#{place}" if names.count(name) > 1 else name for place, name in enumerate(names, start=1)]


def _print_group(store: Store, trainings: "Sequence[SeedTraining]") -> None:
    """Print the run that the trainings of a method are under."""
    seeds = ",".join(str(training.seed) for training in trainings)
    print_run(store, f"tags.kind = 'seeds' and tags.group = '{trainings[0].group}' and tags.seeds = '{seeds}'")


def _report_others(name: str, store: Store) -> None:
    """Print which trainings of this name are another method: a comparison of NAME leaves them out."""
    if others := describe_other_groups(name, store.root):
        print(f"note:   {others}")


def _changed(request: Request) -> str:
    """The overrides that differ from the recipe; those of the budget last, as MLflow's table cuts long texts."""
    texts = [text for text in request.overrides if text.split("=")[0] not in _NOT_CHANGED]
    return " ".join(sorted(texts, key=lambda text: text.startswith("trainer")))


def _check_same(config: Mapping[str, Any], state: RunState, overrides: Sequence[str]) -> None:
    """Raise InvalidOption for a run of the pipeline, and for a key that differs from the interrupted run.

    Of several such keys it names one of `overrides`, if it can.
    """
    allowed = f"a run of cardlab train; resume this one by dvc repro {state.stage}"
    check_that(state.stage is None, RESUME, state.run_id, allowed)
    before, now = flatten(state.config), flatten(config)
    given = {text.partition("=")[0] for text in overrides}
    for key in sorted(before.keys() | now.keys(), key=lambda key: (key not in given, key)):
        allowed = f"{before.get(key, 'left out')}, as in the interrupted run; or give resume= alone"
        check_that(before.get(key) == now.get(key), key, now.get(key, "(left out)"), allowed)
