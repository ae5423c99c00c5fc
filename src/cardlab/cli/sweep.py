"""`cardlab sweep`: search the best hyperparameters of an experiment, and write them as one of its own if asked to."""

from collections.abc import Mapping
from typing import Any

from cardlab.assembly.experiment import build_experiment
from cardlab.assembly.options import build_options
from cardlab.assembly.tuned import check_name, check_space, flat_space, plain_experiment, with_values, write_tuned
from cardlab.cli.verbs import Request
from cardlab.training.experiment import Experiment
from cardlab.tuning.options import SweepOptions
from cardlab.tuning.sweep import run_sweep


def run(request: Request) -> int:
    """Run trials until the study has as many as asked for; print the best values, and where they were written."""
    config = plain_experiment(request.overrides)
    check_space(request.config["sweep"]["space"], config)
    space = flat_space(request.config["sweep"]["space"])
    options = build_options(SweepOptions, {**request.config["sweep"], "space": space}, "sweep")
    if options.apply:
        check_name(options.apply, overwrite=options.overwrite)

    def compose_trial(values: Mapping[str, Any]) -> Experiment:
        return build_experiment(with_values(config, values))

    best = run_sweep(options, config, compose_trial)
    print(f"study:  {best.study}, {best.trials} trials\nbest:   {options.metric} {best.value:.4f}")
    for key, value in best.values.items():
        print(f"        {key}={value}")
    if options.apply:
        for file in write_tuned(options.apply, request.overrides, best.values, overwrite=options.overwrite):
            print(f"wrote:  {file}")
        print(f"next:   cardlab train experiment={options.apply}")
    else:
        print("next:   the same command with sweep.apply=NAME makes an experiment of them")
    return 0
