"""Worker processes of a study whose trials train nothing and take a fraction of a second."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import optuna
from optuna.trial import TrialState

from cardlab.core import child_processes
from cardlab.experiments.sweep.options import SweepOptions
from cardlab.experiments.sweep.space import Space, Values
from cardlab.experiments.sweep.study import open_study, run_trials

CONFIG = {"agent": {"gamma": 1.0, "epsilon": 0.1}}
OPTIONS = SweepOptions(
    space={"agent.gamma": {"low": 0.0, "high": 1.0}, "agent.epsilon": {"low": 0.01, "high": 1.0}},
    sampler="random",
    trials=12,
    heartbeat=1,
)


def last_killed(folder: Path) -> Path:
    """A file that a test makes when it has killed the last trial, which waits for it: no kill comes too late."""
    return folder / "last_killed"


def work(arguments: Sequence[str]) -> int:
    """The body of a worker process; its arguments: folder, address of the study or nothing, name of the machine."""
    folder, address, machine = arguments
    child_processes.platform.node = lambda: machine

    def is_last(trial: optuna.Trial) -> bool:
        earlier = trial.study.get_trials(deepcopy=False)[: trial.number]
        return sum(each.state != TrialState.FAIL for each in earlier) == OPTIONS.trials - 1

    def objective(trial: optuna.Trial, values: Values) -> list[float]:
        began = time.monotonic()
        time.sleep(0.1 + 0.2 * values["agent.gamma"])
        while is_last(trial) and not last_killed(Path(folder)).exists() and time.monotonic() - began < 60:
            time.sleep(0.01)
        return [-values["agent.epsilon"]]

    options = replace(OPTIONS, storage=address or None)
    run_trials(open_study(Path(folder), "s", options), Space.parse(options.space, CONFIG), options, objective)
    return 0
