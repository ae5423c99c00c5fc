"""`cardlab sweep`: searches the best hyperparameters of an experiment; sweep.apply writes them to an experiment."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console

from cardlab.cli.verbs import Request
from cardlab.core.options import ConfigurationError, collected, combined
from cardlab.experiments.config.build_parts import group
from cardlab.experiments.config.options import build_options, convert
from cardlab.experiments.config.values import flat_space
from cardlab.experiments.sweep.options import SweepOptions
from cardlab.experiments.sweep.tuned_files import check_keys, check_name, plain_experiment, write_tuned

if TYPE_CHECKING:
    from cardlab.experiments.sweep.summary import SweepResult


def run(request: Request) -> int:
    """Run trials until the study has `sweep.trials` finished ones, and print the best values."""
    given = group("sweep", request.config["sweep"])
    config = plain_experiment(request.overrides)
    entries = convert("sweep.space", given.get("space", {}), Mapping[str, Any])
    errors: list[ConfigurationError] = []
    with collected(errors):
        check_keys(entries, config)
    with collected(errors):
        options = build_options(SweepOptions, {**given, "space": flat_space(entries)})
    if errors:
        raise combined(errors)
    if options.apply:
        check_name(options.apply, overwrite=options.overwrite)
    # A wrong value is refused before the imports below, which take seconds.
    with Console(stderr=True).status(f"starting: {options.trials} trials, {options.workers} at a time"):
        from cardlab.experiments.sweep.sweep import run_sweep  # noqa: PLC0415

    result = run_sweep(options, config)
    print_result(result, options.metric)
    if options.apply:
        for file in write_tuned(options.apply, request.overrides, result.best.values, overwrite=options.overwrite):
            print(f"wrote:   {file}")
        print(f"next:    cardlab train experiment={options.apply}")
    else:
        game = config["game"]["name"]
        print(f"next:    the same command with sweep.apply={game}/NAME writes an experiment with these values")
    return 0


def print_result(result: "SweepResult", metric: str) -> None:
    """Print the study, its best trial, what mattered, and the Pareto front of a study with two objectives."""
    from cardlab.experiments.sweep.progress import score_text  # noqa: PLC0415  imports Optuna
    from cardlab.experiments.sweep.space import values_text  # noqa: PLC0415

    best = result.best
    print(f"study:   {result.study}, {result.trials} trials, {result.pruned} of them pruned")
    print(f"best:    trial {best.number}, {score_text(metric, best.value, best.interval)}")
    for key, value in best.values.items():
        share = f"  (importance {result.importances[key]:.2f})" if key in result.importances else ""
        print(f"         {key}={value}{share}")
    for trial in result.pareto_front:
        score = score_text(metric, trial.value, trial.interval)
        print(f"front:   trial {trial.number}, {score}, {trial.cost:.1f} s of CPU  {values_text(trial.values)}")
    if not result.importances:
        print("         (importances need four trials with different scores)")
