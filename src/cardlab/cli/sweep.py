"""`cardlab sweep`: search the best hyperparameters of an experiment, and write them as one of its own if asked to."""

from cardlab.assembly.experiment import build_experiment
from cardlab.assembly.options import build_options
from cardlab.assembly.tuned import check_name, check_space, flat_space, plain_experiment, with_values, write_tuned
from cardlab.cli.verbs import Request
from cardlab.tuning.sweep import SweepOptions, run_sweep


def run(request: Request) -> int:
    """Run trials until the study has as many as asked for; print the best values, and where they were written."""
    config = plain_experiment(request.overrides)
    check_space(request.config["sweep"]["space"], config)
    space = flat_space(request.config["sweep"]["space"])
    options = build_options(SweepOptions, {**request.config["sweep"], "space": space}, "sweep")
    if options.apply:
        check_name(options.apply)
    build_experiment(config)  # what is wrong with it is said before the first trial
    best = run_sweep(options, config, lambda values: build_experiment(with_values(config, values)))
    for key, value in best.items():
        print(f"{key}={value}")
    if options.apply:
        for file in write_tuned(options.apply, request.overrides, best):
            print(file)
        print(f"next: cardlab train experiment={options.apply}")
    return 0
