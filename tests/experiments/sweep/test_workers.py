"""Any number of workers, killed as they come: a study ends at exactly as many trials as asked for, each done once."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.storages import get_storage
from optuna.trial import TrialState

from cardlab.experiments.sweep.liveness import WORKER, Watch, beating, present
from cardlab.experiments.sweep.options import SweepOptions
from cardlab.experiments.sweep.slots import FINISHED, slot_of
from cardlab.experiments.sweep.space import Space, Values
from cardlab.experiments.sweep.storages import BrokenStudy, open_storage
from cardlab.experiments.sweep.study import open_study, run_trials
from services import free_port

CONFIG = {"agent": {"gamma": 1.0, "epsilon": 0.1}}
OPTIONS = SweepOptions(
    space={"agent.gamma": {"low": 0.0, "high": 1.0}, "agent.epsilon": {"low": 0.01, "high": 1.0}},
    sampler="random",
    trials=24,
    heartbeat=0.5,
)
CHILD = """
import sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from experiments.sweep.test_workers import work
work(Path({folder!r}), {address!r}, {trials})
"""


def work(folder: Path, address: str | None, trials: int) -> None:
    """The body of a worker process: trials of a fraction of a second."""

    def objective(trial: optuna.Trial, values: Values) -> list[float]:
        time.sleep(0.1 + 0.2 * values["agent.gamma"])
        return [-values["agent.epsilon"]]

    options = replace(OPTIONS, storage=address, trials=trials)
    study = open_study(folder, "s", options)
    run_trials(study, Space.parse(options.space, CONFIG), options, objective, folder=folder)


def start(folder: Path, address: str | None, trials: int) -> "subprocess.Popen[bytes]":
    code = CHILD.format(tests=str(Path(__file__).parents[1]), folder=str(folder), address=address, trials=trials)
    return subprocess.Popen([sys.executable, "-c", code])


def check(study: optuna.Study, trials: int) -> Counter[TrialState]:
    """Each slot has one finished trial with values of its own; nothing runs or waits."""
    found = study.get_trials()
    done = [trial for trial in found if trial.state in FINISHED]
    assert sorted(slot_of(trial) for trial in done) == list(range(trials))
    assert len({tuple(trial.params.values()) for trial in done}) == trials, "no point is tried twice"
    states = Counter(trial.state for trial in found)
    assert states[TrialState.RUNNING] == states[TrialState.WAITING] == 0
    return states


def kill_one(study: optuna.Study, spared: set[int]) -> int:
    """Kill -9 the worker of a running trial, once for each trial; the number of that trial.

    The worker is halted first: the trial might end between the look at its state and the blow.
    """
    while True:
        for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            worker = trial.user_attrs.get(WORKER)
            if worker is None or trial.number in spared:
                continue
            process = int(worker.split("-")[-2])
            os.kill(process, signal.SIGSTOP)
            time.sleep(0.1)  # what it had sent to a server arrives
            if study.get_trials(deepcopy=False)[trial.number].state == TrialState.RUNNING:
                spared.add(trial.number)
                os.kill(process, signal.SIGKILL)
                return trial.number
            os.kill(process, signal.SIGCONT)
        time.sleep(0.01)


@contextmanager
def proxy(address: str) -> Generator[str]:
    """Optuna's gRPC proxy in front of a database."""
    from optuna.storages._grpc.server import make_server  # noqa: PLC0415  Optuna's own entry never returns

    port = free_port()
    with ThreadPoolExecutor(8) as pool:
        server = make_server(get_storage(address), "127.0.0.1", port, pool)
        server.start()
        yield f"grpc://127.0.0.1:{port}"
        server.stop(None).wait()


def killed_now_and_then(folders: list[Path], address: str | None, kills: int) -> None:
    """Two workers, of which one is killed and replaced `kills` times."""
    study = open_study(folders[0], "s", replace(OPTIONS, storage=address))
    workers = [start(folder, address, OPTIONS.trials) for folder in folders]
    spared: set[int] = set()
    chance = random.Random(0)
    for _ in range(kills):
        time.sleep(chance.random())
        kill_one(study, spared)
        while all(worker.poll() is None for worker in workers):
            time.sleep(0.01)
        for place, worker in enumerate(workers):
            if worker.poll() is not None:
                workers[place] = start(folders[place], address, OPTIONS.trials)
    assert [worker.wait(timeout=300) for worker in workers] == [0, 0]
    states = check(study, OPTIONS.trials)
    killed = [trial for trial in study.get_trials() if trial.number in spared]
    assert states[TrialState.FAIL] >= kills
    assert all(trial.state == TrialState.FAIL for trial in killed)
    done = {slot_of(trial): trial.params for trial in study.get_trials() if trial.state in FINISHED}
    for trial in killed:  # one that was killed early had drawn some of its values only
        assert trial.params.items() <= done[slot_of(trial)].items(), "with the same values"


def test_killed_workers_cost_no_trial_and_none_counts_twice(tmp_path: Path) -> None:
    killed_now_and_then([tmp_path, tmp_path], None, kills=3)


@pytest.mark.slow
def test_on_several_machines_with_postgresql(tmp_path: Path, postgresql: str) -> None:
    """Machines see no locks of each other: trials of the dead are known by their beat."""
    killed_now_and_then([tmp_path / "one", tmp_path / "two"], postgresql, kills=3)


@pytest.mark.slow
def test_on_several_machines_behind_optuna_s_proxy(tmp_path: Path, postgresql: str) -> None:
    open_storage(postgresql, tmp_path, "s")  # its tables
    with proxy(postgresql) as address:
        killed_now_and_then([tmp_path / "one", tmp_path / "two"], address, kills=2)


def test_workers_that_begin_together_share_the_trials(tmp_path: Path) -> None:
    """In threads, so that they collide as often as can be."""
    options = replace(OPTIONS, trials=40)
    ran: Counter[str] = Counter()
    shared = threading.Event()

    def objective(trial: optuna.Trial, values: Values) -> list[float]:
        ran[threading.current_thread().name] += 1
        if len(ran) > 1:
            shared.set()
        shared.wait(60)  # nobody is done with all before another has begun
        shared.set()  # or none comes: then the rest need not wait
        return [-values["agent.epsilon"]]

    together = threading.Barrier(4)

    def body() -> None:
        study = open_study(tmp_path, "s", options)
        together.wait()
        run_trials(study, Space.parse(options.space, CONFIG), options, objective, folder=tmp_path)

    threads = [threading.Thread(target=body) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(open_study(tmp_path, "s", options), 40)
    assert sum(ran.values()) == 40
    assert len(ran) > 1


def test_what_was_taken_for_dead_counts_for_nothing(tmp_path: Path) -> None:
    """A process that stood still: another has failed its trial and done it again, and its own result comes too late."""
    options = replace(OPTIONS, trials=2)
    study = open_study(tmp_path, "s", options)
    late: list[int] = []

    def objective(trial: optuna.Trial, values: Values) -> list[float]:
        if not late:
            late.append(trial.number)
            study.tell(trial.number, state=TrialState.FAIL)
        return [-values["agent.epsilon"]]

    run_trials(study, Space.parse(options.space, CONFIG), options, objective, folder=tmp_path)
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
            run_trials(study, space, options, objective, folder=tmp_path)
    run_trials(study, space, options, objective, folder=tmp_path)
    assert fatal == [fatal[0]] * 3
    check(study, 2)


def test_beats_tell_the_living_from_the_dead(tmp_path: Path) -> None:
    """Seen from another machine, which has no lock of theirs."""
    study = optuna.create_study()
    living, dead, nameless = (study.ask() for _ in range(3))
    living.set_user_attr(WORKER, "elsewhere-1-a")
    dead.set_user_attr(WORKER, "elsewhere-2-b")
    watch = Watch(study, tmp_path, heartbeat=0.05)
    failed: list[int] = []
    with beating(living, 0.02):
        began = time.monotonic()
        while time.monotonic() - began < 1.5:
            failed += [trial.number for trial in watch.fail_dead()]
            time.sleep(0.02)
    assert sorted(failed) == [dead.number, nameless.number]
    assert study.get_trials()[living.number].state == TrialState.RUNNING


def test_a_lock_tells_at_once(tmp_path: Path) -> None:
    study = optuna.create_study()
    trial = study.ask()
    watch = Watch(study, tmp_path, heartbeat=None)
    with present(tmp_path) as worker:
        trial.set_user_attr(WORKER, worker)
        assert watch.fail_dead() == []
    assert [each.number for each in watch.fail_dead()] == [trial.number]


@pytest.mark.parametrize("address", ["postgresql+psycopg://me:secret@127.0.0.1:1/x", "grpc://127.0.0.1:1"])
def test_a_storage_that_is_not_there_is_named_without_its_password(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cardlab.experiments.sweep.storages._PATIENCE", 0.5)
    with pytest.raises(BrokenStudy, match=r"127\.0\.0\.1:1.*cannot be reached") as refusal:
        open_storage(address, tmp_path, "s")
    assert "secret" not in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_the_grid_is_shared_too(tmp_path: Path) -> None:
    space: dict[str, Any] = {"agent.gamma": [0.1, 0.5, 0.9], "agent.epsilon": [0.1, 0.2]}
    options = SweepOptions(space=space, sampler="grid", trials=100)

    def body() -> None:
        study = open_study(tmp_path, "s", options)
        run_trials(study, Space.parse(space, CONFIG), options, lambda *_: [0.0], folder=tmp_path)

    threads = [threading.Thread(target=body) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(open_study(tmp_path, "s", options), 6)
