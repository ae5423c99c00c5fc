"""Worker processes of a study whose trials train nothing and take a fraction of a second."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import optuna

from cardlab.core import process_names
from cardlab.experiments.sweep.options import SweepOptions
from cardlab.experiments.sweep.space import Space, Values
from cardlab.experiments.sweep.study import FINISHED, open_study, run_trials

CONFIG = {"agent": {"gamma": 1.0, "epsilon": 0.1}}
OPTIONS = SweepOptions(
    space={"agent.gamma": {"low": 0.0, "high": 1.0}, "agent.epsilon": {"low": 0.01, "high": 1.0}},
    sampler="random",
    trials=12,
    heartbeat=1,
)


def work(arguments: Sequence[str]) -> int:
    """The body of a worker process; its arguments: folder, address of the study or nothing, name of the machine."""
    folder, address, machine = arguments
    process_names.platform.node = lambda: machine

    def objective(trial: optuna.Trial, values: Values) -> list[float]:
        last = len(trial.study.get_trials(deepcopy=False, states=FINISHED)) == OPTIONS.trials - 1
        time.sleep(0.1 + 0.2 * values["agent.gamma"] + 2.0 * last)  # long enough to be killed
        return [-values["agent.epsilon"]]

    options = replace(OPTIONS, storage=address or None)
    run_trials(open_study(Path(folder), "s", options), Space.parse(options.space, CONFIG), options, objective)
    return 0
