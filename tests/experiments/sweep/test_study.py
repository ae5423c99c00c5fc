"""A study resumes where it was interrupted, and ends with exactly as many trials as asked for."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.storages import RDBStorage
from optuna.trial import TrialState

from cardlab.core.messages import InvalidOption
from cardlab.experiments.sweep.options import SweepOptions
from cardlab.experiments.sweep.space import Space, Values
from cardlab.experiments.sweep.storages import StudyUnavailable
from cardlab.experiments.sweep.study import (
    Objective,
    enqueue_planned,
    find_study,
    finished_trials,
    open_study,
    run_trials,
)
from failures.children import Child

CONFIG = {"agent": {"gamma": 1.0, "epsilon": 0.1}, "network": {"widths": [8]}}
RANGES = {"agent.gamma": {"low": 0.0, "high": 1.0}, "agent.epsilon": {"low": 0.01, "high": 1.0, "log": True}}
GRID = {"agent.gamma": [0.1, 0.5, 0.9], "agent.epsilon": [0.1, 0.2]}


def options_of(sampler: str, trials: int = 8) -> SweepOptions:
    return SweepOptions(space=GRID if sampler == "grid" else RANGES, trials=trials, sampler=sampler)


OPTIONS = options_of("tpe", 12)  # two more than those with which TPE begins at random


def peak(trial: optuna.Trial, values: Values) -> list[float]:
    """Best at gamma 0.3 and the smallest epsilon."""
    return [-((values["agent.gamma"] - 0.3) ** 2) - values["agent.epsilon"]]


def work(folder: Path, options: SweepOptions, objective: Objective = peak) -> None:
    folder.mkdir(exist_ok=True)
    study = open_study(folder, "s", options)
    space = Space.parse(options.space, CONFIG)
    enqueue_planned(study, space, options)
    run_trials(study, space, options, objective)


def work_up_to_the_fourth(arguments: Sequence[str]) -> int:
    """Body of a child, which halts in its fourth trial."""

    def objective(trial: optuna.Trial, values: Values) -> list[float]:
        if trial.number == 3:
            print("here")
        return peak(trial, values)

    work(Path(arguments[0]), OPTIONS, objective)
    return 0


def read(folder: Path) -> tuple[list[dict[str, Any]], dict[TrialState, int]]:
    """The parameters of the finished trials, and how many trials there are of each state."""
    study = find_study(folder, "s", None)
    trials = study.get_trials()
    states = {state: sum(trial.state == state for trial in trials) for state in TrialState}
    return [trial.params for trial in finished_trials(study)], states


@pytest.mark.parametrize("sampler", ["tpe", "random", "qmc", "grid"])
def test_it_resumes_up_to_the_total_and_ends_the_same(sampler: str, tmp_path: Path) -> None:
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
    options = options_of("random", 4)
    found: dict[int, list[dict[str, Any]]] = {}
    for seed in (0, 1):
        work(tmp_path / str(seed), replace(options, seed=seed))
        found[seed] = read(tmp_path / str(seed))[0]
    assert found[0][0] == found[1][0] == {"agent.gamma": 1.0, "agent.epsilon": 0.1}
    assert all(first != second for first, second in zip(found[0][1:], found[1][1:], strict=True))
    work(tmp_path / "free", replace(options, baseline=False, trials=1))
    assert read(tmp_path / "free")[0] != found[0][:1]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, ZeroDivisionError])
def test_an_interrupted_trial_is_run_again_and_does_not_count(stop: type[BaseException], tmp_path: Path) -> None:
    def objective(trial: optuna.Trial, values: Values) -> list[float]:
        if trial.number == 3:
            raise stop
        return peak(trial, values)

    with pytest.raises(KeyboardInterrupt if stop is SystemExit else stop):
        work(tmp_path / "cut", OPTIONS, objective)
    assert len(read(tmp_path / "cut")[0]) == 3
    work(tmp_path / "cut", OPTIONS)
    params, states = read(tmp_path / "cut")
    assert (states[TrialState.COMPLETE], states[TrialState.FAIL], states[TrialState.RUNNING]) == (12, 1, 0)
    work(tmp_path / "whole", OPTIONS)
    assert params == read(tmp_path / "whole")[0]


def test_a_result_is_kept_when_ctrl_c_comes_before_it_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note, interrupted = RDBStorage.set_trial_state_values, False

    def interrupt_once(self: RDBStorage, number: int, state: TrialState, *values: Any) -> bool:
        nonlocal interrupted
        if state == TrialState.COMPLETE and not interrupted:
            interrupted = True
            raise KeyboardInterrupt
        return note(self, number, state, *values)

    monkeypatch.setattr(RDBStorage, "set_trial_state_values", interrupt_once)
    with pytest.raises(KeyboardInterrupt):
        work(tmp_path, OPTIONS)
    params, states = read(tmp_path)
    assert (len(params), states[TrialState.COMPLETE], sum(states.values())) == (1, 1, 1)


def test_kill_nine_leaves_no_trial_running(tmp_path: Path) -> None:
    """The sweep that is resumed at once, without waiting for a heartbeat, ends with the trials of one that was not."""
    child = Child(tmp_path, [str(tmp_path / "cut")], log=tmp_path / "log", halt_at="here", body=work_up_to_the_fourth)
    child.wait_until_halted()
    child.kill()
    work(tmp_path / "cut", OPTIONS)
    params, states = read(tmp_path / "cut")
    assert (states[TrialState.COMPLETE], states[TrialState.FAIL], states[TrialState.RUNNING]) == (12, 1, 0)
    retry = next(trial for trial in find_study(tmp_path / "cut", "s", None).get_trials() if trial.number == 4)
    assert optuna.storages.RetryHeartbeatStaleTrialCallback.retried_trial_number(retry) == 3
    assert retry.user_attrs["retry_of"] == 3
    work(tmp_path / "whole", OPTIONS)
    assert params == read(tmp_path / "whole")[0]


def test_pruned_trials_count(tmp_path: Path) -> None:
    def objective(trial: optuna.Trial, values: Values) -> list[float]:
        if trial.number % 2:
            raise optuna.TrialPruned
        return peak(trial, values)

    work(tmp_path, options_of("random", 6), objective)
    _, states = read(tmp_path)
    assert (states[TrialState.COMPLETE], states[TrialState.PRUNED], sum(states.values())) == (3, 3, 6)


@pytest.mark.parametrize("sampler", ["random", "grid"])
def test_what_anyone_enqueues_is_run_and_counts(sampler: str, tmp_path: Path) -> None:
    options = replace(options_of(sampler), baseline=False)
    work(tmp_path, replace(options, trials=1))
    point = {"agent.gamma": 0.5, "agent.epsilon": 0.2}
    elsewhere = optuna.load_study(study_name="s", storage=f"sqlite:///{tmp_path}/studies.db")
    elsewhere.enqueue_trial(point, user_attrs={"note": "mine"})
    elsewhere.enqueue_trial(point)
    work(tmp_path, replace(options, trials=2))
    study = find_study(tmp_path, "s", None)
    assert [trial.params for trial in finished_trials(study)][1:] == [point]
    assert study.get_trials()[1].user_attrs["note"] == "mine"
    work(tmp_path, replace(options, trials=3))
    assert [trial.params for trial in finished_trials(study)][1:] == [point, point]


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"agent.gamma": 7.0}, r"enqueued with agent.gamma=7.0: must be within {low: 0.0, high: 1.0}"),
        ({"agent.gama": 0.5}, r"enqueued with agent.gama=0.5: the space has no such key"),
        ({"network.widths": [8]}, r"enqueued with network.widths=\[8\]: must be within \[\[8\], \[16\]\]"),
    ],
)
def test_what_is_enqueued_outside_the_space_is_pruned(
    params: dict[str, Any], reason: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    options = replace(OPTIONS, space={"agent.gamma": RANGES["agent.gamma"], "network.widths": [[8], [16]]}, trials=2)
    study = open_study(tmp_path, "s", options)
    study.enqueue_trial({"agent.gamma": 0.25, "network.widths": "[16]"})
    study.enqueue_trial(params)
    seen: list[Values] = []

    def objective(trial: optuna.Trial, values: Values) -> list[float]:
        seen.append(values)
        return [0.0]

    run_trials(study, Space.parse(options.space, CONFIG), options, objective)
    assert seen == [{"agent.gamma": 0.25, "network.widths": [16]}]
    states = [trial.state for trial in study.get_trials()]
    assert states == [TrialState.COMPLETE, TrialState.PRUNED]


def test_a_study_that_is_only_read_is_not_made(tmp_path: Path) -> None:
    open_study(tmp_path, "s", OPTIONS)
    with pytest.raises(StudyUnavailable, match=r"study t: not found in sqlite:.*/studies\.db"):
        find_study(tmp_path, "t", None)
    with pytest.raises(StudyUnavailable, match=r"study s: not found in sqlite:.*/other\.db"):
        find_study(tmp_path, "s", f"sqlite:///{tmp_path}/other.db")
    assert not [path for path in tmp_path.iterdir() if not path.name.startswith("studies.db")]


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
    history = [trial.distributions for trial in find_study(tmp_path, "s", None).get_trials()]
    space = Space.parse({"agent.gamma": after}, CONFIG)
    if fits:
        space.check_history(history, "s")
    else:
        with pytest.raises(InvalidOption, match=r"sweep\.space\.agent\.gamma=.*that the study s has"):
            space.check_history(history, "s")


@pytest.mark.parametrize("value", [999.0, float("inf"), -1.0])
def test_a_value_that_no_trial_has_played_is_refused(value: float, tmp_path: Path) -> None:
    """A sweep would take it for a score: as the best one, as a guide of its sampler, and as done."""
    work(tmp_path, options_of("random", 2))
    study = open_study(tmp_path, "s", OPTIONS)
    study.add_trial(optuna.create_trial(params={}, distributions={}, value=value))
    with pytest.raises(InvalidOption, match="trial 2 was added with its value"):
        work(tmp_path, OPTIONS)
    assert len(study.get_trials()) == 3
