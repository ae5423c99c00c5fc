"""Any number of workers, killed at any moment: a study ends at exactly as many trials as asked for, each run once."""

import os
import random
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.storages import RetryHeartbeatStaleTrialCallback
from optuna.trial import TrialState

from cardlab.core.child_processes import is_alive, process_name
from cardlab.experiments.sweep.retries import SURPLUS, WORKER, SurplusTrial, claim_proposal, fail_dead_trials
from cardlab.experiments.sweep.space import Space, Values
from cardlab.experiments.sweep.storages import StudyUnavailable, open_storage
from cardlab.experiments.sweep.study import FINISHED, enqueue_planned, open_study, run_trials
from experiments.sweep.child_workers import CONFIG, OPTIONS, last_killed, work
from failures.children import Child


def start(folder: Path, address: str | None, machine: str) -> Child:
    return Child(folder, [str(folder), address or "", machine], log=folder / "workers.log", body=work)


def check(study: optuna.Study, trials: int) -> Counter[TrialState]:
    """As many trials as asked for are finished, with values of their own, and nothing runs or waits."""
    found = study.get_trials()
    done = [trial for trial in found if trial.state in FINISHED]
    assert len(done) == trials
    assert len({tuple(trial.params.values()) for trial in done}) == trials, "no point is tried twice"
    states = Counter(trial.state for trial in found)
    assert states[TrialState.RUNNING] == states[TrialState.WAITING] == 0
    return states


def kill_one(study: optuna.Study, may_be: Callable[[optuna.trial.FrozenTrial], bool]) -> int:
    """Kill -9 the worker of a running trial; the number of that trial.

    The worker is halted first: the trial might end between the look at its state and the kill.
    """
    began = time.monotonic()
    while time.monotonic() - began < 150:
        for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            if not trial.params or WORKER not in trial.user_attrs or not may_be(trial):
                continue
            process = int(trial.user_attrs[WORKER].split(":")[1])
            os.kill(process, signal.SIGSTOP)
            time.sleep(0.1)  # what it had sent to a server arrives
            if study.get_trials(deepcopy=False)[trial.number].state == TrialState.RUNNING:
                os.kill(process, signal.SIGKILL)
                return trial.number
            os.kill(process, signal.SIGCONT)
        time.sleep(0.01)
    raise TimeoutError("no trial to be killed")


def killed_now_and_then(folder: Path, address: str | None, machines: tuple[str, str], kills: int) -> None:
    """Two workers, of which one is killed and replaced `kills` times, the last time in the last trial."""
    options = replace(OPTIONS, storage=address)
    study = open_study(folder, "s", options)
    workers = [start(folder, address, machine) for machine in machines]
    killed: set[int] = set()
    chance = random.Random(0)
    for kill in range(kills):
        time.sleep(chance.random())
        last = kill == kills - 1

        def may_be(trial: optuna.trial.FrozenTrial, last: bool = last) -> bool:
            done = len(study.get_trials(deepcopy=False, states=FINISHED))
            return trial.number not in killed and (not last or done == options.trials - 1)

        killed.add(kill_one(study, may_be))
        if last:
            last_killed(folder).touch()
        while all(worker.process.is_alive() for worker in workers):
            time.sleep(0.01)
        for place, worker in enumerate(workers):
            if not worker.process.is_alive() and not last:
                workers[place] = start(folder, address, machines[place])
    assert sorted(worker.wait() for worker in workers) == [-signal.SIGKILL, 0]
    check(study, options.trials)
    trials = study.get_trials()
    assert {t.number for t in trials if t.state == TrialState.FAIL and SURPLUS not in t.user_attrs} == killed
    for number in killed:
        (retry,) = [trial for trial in trials if RetryHeartbeatStaleTrialCallback.retry_history(trial)[-1:] == [number]]
        # one that was killed early had drawn some of its values only
        assert trials[number].params.items() <= retry.params.items(), "with the same values"


def test_killed_workers_cost_no_trial_and_none_counts_twice(tmp_path: Path) -> None:
    killed_now_and_then(tmp_path, None, ("here", "here"), kills=3)


@pytest.mark.slow
def test_a_heartbeat_shows_what_another_machine_does(tmp_path: Path) -> None:
    """As above, but the workers do not know each other's processes."""
    killed_now_and_then(tmp_path, None, ("one", "two"), kills=2)


@pytest.mark.slow
def test_on_several_machines_with_postgresql(tmp_path: Path, postgresql: str) -> None:
    killed_now_and_then(tmp_path, postgresql, ("one", "two"), kills=3)


@pytest.mark.parametrize("sampler", ["random", "grid"])
def test_workers_that_begin_together_share_the_trials(sampler: str, tmp_path: Path) -> None:
    """In threads, so that they collide as often as can be."""
    grid: dict[str, Any] = {"agent.gamma": [0.1, 0.5, 0.9], "agent.epsilon": [0.1, 0.2]}
    options = replace(OPTIONS, trials=15) if sampler == "random" else replace(OPTIONS, space=grid, sampler="grid")
    total = 15 if sampler == "random" else 6
    ran: Counter[str] = Counter()
    together = threading.Barrier(3)
    enqueue_planned(open_study(tmp_path, "s", options), Space.parse(options.space, CONFIG), options)

    def objective(trial: optuna.Trial, values: Values) -> list[float]:
        ran[threading.current_thread().name] += 1
        time.sleep(0.01)
        return [-values["agent.epsilon"]]

    def body() -> None:
        study = open_study(tmp_path, "s", options)
        space = Space.parse(options.space, CONFIG)
        together.wait()
        run_trials(study, space, options, objective)

    threads = [threading.Thread(target=body) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(open_study(tmp_path, "s", options), total)
    assert sum(ran.values()) == total
    assert len(ran) > 1


def test_a_trial_that_begins_when_enough_have_begun_is_surplus(tmp_path: Path) -> None:
    """As of two workers that begin the last trial together, each before it sees the other's."""
    study = open_study(tmp_path, "s", OPTIONS)
    trials = [study.ask() for _ in range(3)]
    assert [claim_proposal(study, trial, 2, grid=False) for trial in trials[:2]] == [0, 1]
    with pytest.raises(SurplusTrial):
        claim_proposal(study, trials[2], 2, grid=False)


def test_what_comes_back_late_counts_for_nothing(tmp_path: Path) -> None:
    """A process that stood still: another has failed its trial and run it again, and its own result comes too late."""
    options = replace(OPTIONS, trials=2)
    study = open_study(tmp_path, "s", options)
    late: list[int] = []

    def objective(trial: optuna.Trial, values: Values) -> list[float]:
        if not late:
            late.append(trial.number)
            trial.set_user_attr(WORKER, f"{process_name()}9")
            fail_dead_trials(study, heartbeat=0.0)
        return [-values["agent.epsilon"]]

    run_trials(study, Space.parse(options.space, CONFIG), options, objective)
    states = check(study, 2)
    assert (states[TrialState.COMPLETE], states[TrialState.FAIL]) == (2, 1)
    trials = study.get_trials()
    assert trials[late[0]].state == TrialState.FAIL
    assert [trial.params for trial in trials].count(trials[late[0]].params) == 2


def test_a_trial_that_kills_whoever_tries_it_gets_other_values(tmp_path: Path) -> None:
    options = replace(OPTIONS, trials=2, baseline=False)
    study = open_study(tmp_path, "s", options)
    space = Space.parse(options.space, CONFIG)
    fatal: list[Values] = []

    def objective(trial: optuna.Trial, values: Values) -> list[float]:
        if not fatal or values == fatal[0]:
            fatal.append(values)
            raise MemoryError
        return [0.0]

    for _ in range(3):
        with pytest.raises(MemoryError):
            run_trials(study, space, options, objective)
    run_trials(study, space, options, objective)
    assert fatal == [fatal[0]] * 3
    check(study, 2)


def test_a_trial_killed_as_it_began_is_found(tmp_path: Path) -> None:
    """It has neither a heartbeat nor the name of its worker: Optuna would leave it RUNNING for good."""
    study = open_study(tmp_path, "s", OPTIONS)
    nameless = study.ask()
    fail_dead_trials(study, heartbeat=0.04)
    assert study.get_trials()[nameless.number].state == TrialState.RUNNING
    time.sleep(0.3)
    fail_dead_trials(study, heartbeat=0.04)
    assert [trial.state for trial in study.get_trials()] == [TrialState.FAIL, TrialState.WAITING]


def test_a_process_is_known_by_more_than_its_number() -> None:
    own = process_name()
    host, process, _ = own.rsplit(":", 2)
    assert is_alive(own) is True
    assert is_alive(f"{host}:{process}:1") is False, "another process had this number before"
    assert is_alive(f"other{own}") is None, "another machine or container"
    with subprocess.Popen(["sleep", "600"]) as child:
        name = process_name(child.pid)
        assert is_alive(name) is True
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert is_alive(name) is False, "a zombie is no process any more"


@pytest.mark.parametrize("address", ["postgresql+psycopg://me:secret@127.0.0.1:1/x", "sqlite:///{folder}/none.db"])
def test_a_storage_that_cannot_be_used_is_named_without_its_password(address: str, tmp_path: Path) -> None:
    (tmp_path / "none.db").write_text("no database at all")
    with pytest.raises(StudyUnavailable, match=r"(127\.0\.0\.1:1|none\.db).*cannot be used") as refusal:
        open_storage(address.format(folder=tmp_path))
    assert "secret" not in str(refusal.value)
    assert "\n" not in str(refusal.value)
