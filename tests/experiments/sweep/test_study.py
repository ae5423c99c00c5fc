"""A study goes on where it was cut off, whatever cut it off, and ends with exactly as many trials as asked for."""

import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.trial import TrialState

from cardlab.core.options import InvalidOption
from cardlab.experiments.sweep.options import SweepOptions
from cardlab.experiments.sweep.slots import finished
from cardlab.experiments.sweep.space import Space, Values
from cardlab.experiments.sweep.storages import BrokenStudy
from cardlab.experiments.sweep.study import Objective, StudyInUse, open_study, owned, run_trials

CONFIG = {"agent": {"gamma": 1.0, "epsilon": 0.1}}
RANGES = {"agent.gamma": {"low": 0.0, "high": 1.0}, "agent.epsilon": {"low": 0.01, "high": 1.0, "log": True}}
GRID = {"agent.gamma": [0.1, 0.5, 0.9], "agent.epsilon": [0.1, 0.2]}
CHILD = """
import sys, time
from pathlib import Path
sys.path.insert(0, {tests!r})
from experiments.sweep.test_study import OPTIONS, peak, work
def objective(trial, values):
    if trial.number == 3:
        print("here", flush=True)
        time.sleep(600)
    return peak(trial, values)
work(Path({folder!r}), OPTIONS, objective)
"""


def options_of(sampler: str, trials: int = 8) -> SweepOptions:
    return SweepOptions(space=GRID if sampler == "grid" else RANGES, trials=trials, sampler=sampler)


OPTIONS = options_of("tpe", 12)  # two more than those with which TPE begins at random


def peak(trial: optuna.Trial, values: Values) -> list[float]:
    """Best at gamma 0.3 and the smallest epsilon."""
    return [-((values["agent.gamma"] - 0.3) ** 2) - values["agent.epsilon"]]


def work(folder: Path, options: SweepOptions, objective: Objective = peak) -> None:
    study = open_study(folder, "s", options)
    run_trials(study, Space.parse(options.space, CONFIG), options, objective, folder=folder)


def read(folder: Path) -> tuple[list[dict[str, Any]], dict[TrialState, int]]:
    """The parameters of the finished trials, and how many trials there are of each state."""
    study = open_study(folder, "s", OPTIONS)
    trials = study.get_trials()
    states = {state: sum(trial.state == state for trial in trials) for state in TrialState}
    return [trial.params for trial in finished(study)], states


@pytest.mark.parametrize("sampler", ["tpe", "random", "qmc", "grid"])
def test_it_goes_on_to_the_total_and_ends_the_same(sampler: str, tmp_path: Path) -> None:
    options = options_of(sampler, 12)
    work(tmp_path / "whole", options)
    for total in (1, 4, 4, 11, 12, 12):
        work(tmp_path / "parts", replace(options, trials=total))
    params, states = read(tmp_path / "parts")
    assert params == read(tmp_path / "whole")[0]
    expected = 6 if sampler == "grid" else 12
    assert states[TrialState.COMPLETE] == expected == sum(states.values())
    assert len({tuple(point.items()) for point in params}) == expected, "nothing is proposed twice"


def test_the_gaussian_process_stays_in_the_space(tmp_path: Path) -> None:
    work(tmp_path, options_of("gp", 12))
    params, _ = read(tmp_path)
    assert len(params) == 12
    assert all(0 <= point["agent.gamma"] <= 1 and 0.01 <= point["agent.epsilon"] <= 1 for point in params)


def test_the_seed_names_the_trials_and_the_first_is_the_experiment_itself(tmp_path: Path) -> None:
    options = options_of("random")
    found: dict[int, list[dict[str, Any]]] = {}
    for seed in (0, 1):
        work(tmp_path / str(seed), replace(options, seed=seed))
        found[seed] = read(tmp_path / str(seed))[0]
    assert found[0][0] == found[1][0] == {"agent.gamma": 1.0, "agent.epsilon": 0.1}
    assert all(first != second for first, second in zip(found[0][1:], found[1][1:], strict=True))
    work(tmp_path / "free", replace(options, baseline=False, trials=1))
    assert read(tmp_path / "free")[0] != found[0][:1]


def test_a_grid_finds_its_best_point(tmp_path: Path) -> None:
    work(tmp_path, options_of("grid", 100))
    assert open_study(tmp_path, "s", OPTIONS).best_params == {"agent.gamma": 0.1, "agent.epsilon": 0.1}


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, ZeroDivisionError])
def test_what_is_done_is_kept_and_the_broken_off_trial_does_not_count(
    stop: type[BaseException], tmp_path: Path
) -> None:
    def objective(trial: optuna.Trial, values: Values) -> list[float]:
        if trial.number == 3:
            raise stop
        return peak(trial, values)

    with pytest.raises(stop):
        work(tmp_path / "cut", OPTIONS, objective)
    assert len(read(tmp_path / "cut")[0]) == 3
    work(tmp_path / "cut", OPTIONS)
    params, states = read(tmp_path / "cut")
    assert (states[TrialState.COMPLETE], states[TrialState.FAIL], states[TrialState.RUNNING]) == (12, 1, 0)
    work(tmp_path / "whole", OPTIONS)
    assert params == read(tmp_path / "whole")[0], "the trial that was broken off was done again"


def test_trials_that_were_given_up_count(tmp_path: Path) -> None:
    def objective(trial: optuna.Trial, values: Values) -> list[float]:
        if trial.number % 2:
            raise optuna.TrialPruned
        return peak(trial, values)

    work(tmp_path, OPTIONS, objective)
    _, states = read(tmp_path)
    assert (states[TrialState.COMPLETE], states[TrialState.PRUNED], sum(states.values())) == (6, 6, 12)


def test_kill_nine_leaves_no_trial_running(tmp_path: Path) -> None:
    code = CHILD.format(tests=str(Path(__file__).parents[1]), folder=str(tmp_path / "cut"))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"here\n"
        child.send_signal(signal.SIGKILL)
    work(tmp_path / "cut", OPTIONS)
    params, states = read(tmp_path / "cut")
    assert (states[TrialState.COMPLETE], states[TrialState.FAIL], states[TrialState.RUNNING]) == (12, 1, 0)
    work(tmp_path / "whole", OPTIONS)
    assert params == read(tmp_path / "whole")[0]


def test_a_line_that_was_cut_short_and_a_lock_that_was_left_behind_do_no_harm(tmp_path: Path) -> None:
    work(tmp_path, replace(OPTIONS, trials=3))
    journal = tmp_path / "s.journal"
    with journal.open("ab") as file:
        file.write(b'{"op_code": 5, "tri')
    for suffix in (".lock", ".write"):
        (tmp_path / f"s.journal{suffix}").touch()
    began = time.monotonic()
    work(tmp_path, replace(OPTIONS, trials=5))
    assert time.monotonic() - began < 20, "Optuna itself would wait for the lock for half a minute"
    assert len(read(tmp_path)[0]) == 5


def test_what_is_no_journal_is_named(tmp_path: Path) -> None:
    (tmp_path / "s.journal").write_text("not\na\nstudy\n")
    with pytest.raises(BrokenStudy, match=r"s\.journal: is not the journal of a study"):
        work(tmp_path, OPTIONS)


def test_one_command_at_a_time_is_in_charge(tmp_path: Path) -> None:
    with (
        owned(tmp_path, "s"),
        pytest.raises(StudyInUse, match="joins it"),
        owned(tmp_path, "s"),
    ):
        pass
    with owned(tmp_path, "s"), owned(tmp_path, "t"):
        pass


@pytest.mark.parametrize(
    ("before", "after", "fits"),
    [
        ({"low": 0.0, "high": 1.0}, {"low": 0.5, "high": 0.9}, True),
        ({"low": 0.1, "high": 1.0}, {"low": 0.1, "high": 1.0, "log": True}, False),
        ({"low": 0.1, "high": 1.0}, [0.1, 0.2], False),
        ([0.1, 0.2], [0.1, 0.2], True),
        ([0.1, 0.2], [0.1, 0.2, 0.3], False),
    ],
)
def test_a_study_keeps_the_kind_of_its_dimensions(before: Any, after: Any, fits: bool, tmp_path: Path) -> None:
    work(tmp_path, SweepOptions(space={"agent.gamma": before}, trials=2), lambda _, values: [values["agent.gamma"]])
    history = [trial.distributions for trial in open_study(tmp_path, "s", OPTIONS).get_trials()]
    space = Space.parse({"agent.gamma": after}, CONFIG)
    if fits:
        space.check_history(history, "s")
    else:
        with pytest.raises(InvalidOption, match=r"sweep\.space\.agent\.gamma=.*that the study s began with"):
            space.check_history(history, "s")
