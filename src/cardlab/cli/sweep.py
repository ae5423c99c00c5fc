"""`cardlab sweep`: search the best hyperparameters of an experiment, and write them as one of its own if asked to."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cardlab.cli.verbs import Request
from cardlab.experiments.config.groups import group
from cardlab.experiments.config.options import build_options, convert
from cardlab.experiments.config.values import flat_space
from cardlab.experiments.sweep.options import SweepOptions
from cardlab.experiments.sweep.tuned_files import check_name, check_space, plain_experiment, write_tuned

if TYPE_CHECKING:
    from cardlab.experiments.sweep.summary import Best


def run(request: Request) -> int:
    """Run trials until the study has as many as asked for; print the best values, and where they were written."""
    given = group("sweep", request.config["sweep"])
    config = plain_experiment(request.overrides)
    entries = convert("sweep.space", given.get("space", {}), Mapping[str, Any])
    check_space(entries, config)
    options = build_options(SweepOptions, {**given, "space": flat_space(entries)})
    if options.apply:
        check_name(options.apply, overwrite=options.overwrite)
    # A wrong value is refused before the imports below, which take seconds.
    from cardlab.experiments.sweep.compose_trials import TrialComposer  # noqa: PLC0415
    from cardlab.experiments.sweep.sweep import run_sweep  # noqa: PLC0415

    best = run_sweep(options, config, TrialComposer(config))
    print_best(best, options.metric)
    if options.apply:
        for file in write_tuned(options.apply, request.overrides, best.values, overwrite=options.overwrite):
            print(f"wrote:  {file}")
        print(f"next:   cardlab train experiment={options.apply}")
    else:
        game = config["game"]["name"]
        print(f"next:   the same command with sweep.apply={game}/NAME writes an experiment with these values")
    return 0


def print_best(best: "Best", metric: str) -> None:
    """The study, its best value with the values behind it, and the front where there is one."""
    print(f"study:  {best.study}, {best.trials} trials\nbest:   {metric} {best.value:.4f}")
    for key, value in best.values.items():
        print(f"        {key}={value}")
    for point in best.front:
        values = " ".join(f"{key}={value}" for key, value in point.values.items())
        print(f"front:  {metric} {point.value:.4f}  {point.cost:.1f} s of CPU  trial {point.trial}: {values}")
