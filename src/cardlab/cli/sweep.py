"""`cardlab sweep` searches the best hyperparameters of an experiment; `cardlab sweep worker` runs trials of one."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from shlex import join, quote
from typing import TYPE_CHECKING, Any

from cardlab.cli.verbs import Outcome, Request
from cardlab.core.messages import ConfigurationError, collected, combined, without_password
from cardlab.core.options import Text, check_whole, checked
from cardlab.evaluation.options import DEFAULT_REFERENCES
from cardlab.evaluation.progress import is_quiet
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.build_parts import group
from cardlab.experiments.config.seed_options import check_launcher
from cardlab.experiments.run_paths import quoted
from cardlab.experiments.sweep.group_choices import compose_choices
from cardlab.experiments.sweep.options import SweepOptions, build_sweep, check_study
from cardlab.experiments.sweep.tuned_files import check_keys, check_name, write_tuned
from cardlab.tracking import Store, TrackingUnavailable
from cardlab.tracking.policy_lookup import policy_artifacts, print_run

if TYPE_CHECKING:
    from cardlab.experiments.sweep.summary import ScoredTrial, SweepResult


def run(request: Request) -> int | Outcome:
    """Run trials until the study has `sweep.trials` finished ones, and print the best values."""
    if request.verb == "sweep worker":
        return _run_worker(request.config["sweep"])
    given = group("sweep", request.config["sweep"])
    config = {name: part for name, part in request.config.items() if name != "sweep"}
    errors: list[ConfigurationError] = []
    with collected(errors):
        space = checked("sweep.space", given.get("space", {}), Mapping[str, Any])
        entries = compose_choices(space, request.overrides)
        given = {**given, "space": entries}
        prefix = "sweep.space."
        typed = {text.partition("=")[0].removeprefix(prefix) for text in request.overrides if text.startswith(prefix)}
        check_keys(entries, config, typed, is_grid=given.get("sampler") == "grid")
    with collected(errors):
        options = build_sweep(given)
    if errors:
        raise combined(errors)
    if options.apply:
        check_name(options.apply, overwrite=options.overwrite)
    # A wrong value is refused before the imports below, which take seconds.
    experiment = build_experiment(config)
    check_launcher(experiment.trainer)
    from cardlab.experiments.sweep.sweep import check_sweep, run_sweep  # noqa: PLC0415

    space = check_sweep(options, config)
    alone = experiment.game.spec.num_players == 1
    against = "" if alone else f" against {', '.join(experiment.arena.references or DEFAULT_REFERENCES)}"
    if not is_quiet():
        if options.sampler == "grid" and (points := len(space.grid())) < options.trials:
            print(f"the grid has {points} combinations, so {points} trials", file=sys.stderr)
        trials = "1 trial" if options.trials == 1 else f"{options.trials} trials, {options.workers} at a time"
        print(f"starting: {trials}{against and f',{against}'}", file=sys.stderr, flush=True)
    result = run_sweep(options, config, space)
    print_result(result, options.metric)
    _print_study(result.study, Store())
    if options.apply:
        notes = _origin(request, options, result, against)
        values = result.best.values
        for file in write_tuned(options.apply, request.overrides, values, notes, overwrite=options.overwrite):
            print(f"wrote:   {file}")
        print(f"budget:  that of the trials, trainer.decisions={config['trainer']['decisions']}")
        print(f"next:    cardlab train {quote(f'experiment={options.apply}')}")
    else:
        game = config["game"]["name"]
        print(f"next:    the same command with sweep.apply={game}/NAME writes an experiment with these values")
    _print_promotion(result.best)
    return Outcome(result)


def _run_worker(config: Mapping[str, Any]) -> int:
    """Run trials of a study that `cardlab sweep` has started, until it has as many as its sweep needs."""
    name = checked("sweep.study", config["study"], Text)
    check_study(name)
    address = checked("sweep.storage", config["storage"], Text | None)
    workers = check_whole("sweep.workers", config["workers"], 1, 256)
    # A wrong value is refused before the imports below, which take seconds.
    from cardlab.experiments.sweep.sweep import join_sweep  # noqa: PLC0415
    from cardlab.experiments.sweep.worker import load_plan  # noqa: PLC0415

    store = Store()
    print(f"study:   {name}, {join_sweep(load_plan(name, address, workers, store))} trials")
    _print_study(name, store)
    return 0


def _print_study(name: str, store: Store) -> None:
    print_run(store, f"tags.kind = 'sweep' and tags.`sweep.study` = '{name}'")


def _print_promotion(best: "ScoredTrial") -> None:
    """Print the command by which the policy of the best trial challenges the champion, if it is on this disk."""
    store = Store()
    with suppress(TrackingUnavailable), store.wrap_errors():  # the study has all results
        if folder := policy_artifacts(store, store.client.get_run(best.run)):
            print(f"         cardlab promote {quoted('policy', folder)}")


def _origin(request: Request, options: SweepOptions, result: "SweepResult", against: str) -> Sequence[str]:
    """The lines at the head of the files of tuned values: how to train, what it reached, where the values come from.

    `train --help` lists Score and Budget.
    """
    from cardlab.experiments.sweep.study import score_text  # noqa: PLC0415  imports Optuna

    best, confirmation = result.best, result.confirmation
    ends, seeds, confirmed = best.interval, options.seeds, ["not confirmed with fresh seeds"]
    mean = best.mean
    if confirmation:
        score = confirmation.score
        mean, ends, seeds = score.mean, (score.low, score.high), options.confirm
        confirmed = map("{}: {}".format, ("confirmed", "selection bias"), confirmation.lines(options.metric))
    interval = f" ({ends[0]:.2f} to {ends[1]:.2f})" if ends else ""
    figure = "points a game" if options.metric == "points" else options.metric.replace("_", " ")
    figure += f",{' mean' if ',' in against else ''}{against}" if against else ""
    minutes = f", {best.cpu_seconds / options.seeds / 60:.1f} CPU minutes" if best.cpu_seconds else ""
    trial = score_text(options.metric, best.value, best.interval)
    return [
        f"cardlab train {quote(f'experiment={options.apply}')}",
        f"Score: {mean:.2f}{interval} {figure}; {'1 seed' if seeds == 1 else f'{seeds} seeds'}",
        f"Budget: {request.config['trainer']['decisions']:,} decisions{minutes}",
        f"command: {without_password(join(['cardlab', 'sweep', *request.overrides]))}",
        f"study {result.study}: trial {best.number} is the best of {result.trials} trials, {trial}",
        *confirmed,
    ]


def print_result(result: "SweepResult", metric: str) -> None:
    """Print the study, its best trial, what mattered, and the Pareto front of a study with two objectives."""
    from cardlab.experiments.sweep.space import values_text  # noqa: PLC0415
    from cardlab.experiments.sweep.study import score_text  # noqa: PLC0415  imports Optuna

    best = result.best
    trials = "1 trial" if result.trials == 1 else f"{result.trials} trials, {result.pruned} of them pruned"
    print(f"study:   {result.study}, {trials}")
    print(f"best:    trial {best.number}, {score_text(metric, best.value, best.interval)}")
    for key, value in best.values.items():
        share = f"  (importance {result.importances[key]:.2f})" if key in result.importances else ""
        print(f"         {key}={value}{share}")
    if result.confirmation:
        confirmed, bias = result.confirmation.lines(metric)
        print(f"confirm: {confirmed}\nbias:    {bias}")
    for trial in result.pareto_front:
        score = score_text(metric, trial.value, trial.interval)
        print(f"front:   trial {trial.number}, {score}, {trial.cost:.1f} s of CPU  {values_text(trial.values)}")
    if not result.importances:
        print("         (importances need four trials with different scores)")
