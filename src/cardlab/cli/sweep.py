"""`cardlab sweep`: searches the best hyperparameters of an experiment; sweep.apply writes them to an experiment."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cardlab.cli.verbs import Request
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
    check_keys(entries, config)
    options = build_options(SweepOptions, {**given, "space": flat_space(entries)})
    if options.apply:
        check_name(options.apply, overwrite=options.overwrite)
    # A wrong value is refused before the imports below, which take seconds.
    from cardlab.experiments.sweep.sweep import run_sweep  # noqa: PLC0415

    best = run_sweep(options, config)
    print_best(best, options.metric)
    if options.apply:
        for file in write_tuned(options.apply, request.overrides, best.values, overwrite=options.overwrite):
            print(f"wrote:  {file}")
        print(f"next:   cardlab train experiment={options.apply}")
    else:
        game = config["game"]["name"]
        print(f"next:   add sweep.apply={game}/NAME to write an experiment with these values")
    return 0


def print_best(best: "SweepResult", metric: str) -> None:
    """Print the study, its best trial, and the Pareto front of a study with two objectives."""
    print(f"study:  {best.study}, {best.trials} trials\nbest:   {metric} {best.value:.4f}")
    for key, value in best.values.items():
        print(f"        {key}={value}")
    for point in best.pareto_front:
        values = " ".join(f"{key}={value}" for key, value in point.values.items())
        print(f"front:  {metric} {point.value:.4f}  {point.cost:.1f} s of CPU  trial {point.trial}: {values}")
