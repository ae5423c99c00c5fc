"""`cardlab sweep sweep.workers=2` in real processes: they share trials, are replaced when killed, stop together."""

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from optuna.trial import FrozenTrial, TrialState

from cardlab.cli import main
from cardlab.experiments.sweep.options import SweepOptions
from cardlab.experiments.sweep.slots import is_withdrawn
from cardlab.experiments.sweep.tuned_files import plain_experiment
from cardlab.experiments.sweep.worker import Plan
from cardlab.experiments.sweep.workers import run_workers
from cardlab.tracking import Store
from experiments.sweep.tiny import PROGRAM, TINY, Broken, runs_of, study_of


@pytest.mark.slow
def test_two_workers_share_a_sweep_and_one_may_join_it(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", *TINY, "sweep.trials=4", "sweep.workers=2"]) == 0
    printed = capfd.readouterr()
    lines = [line for line in printed.err.splitlines() if line.startswith("trial ")]
    assert sorted(line[:9] for line in lines) == ["trial 1/4", "trial 2/4", "trial 3/4", "trial 4/4"]
    study = study_of(root)
    assert len({trial.user_attrs["worker"] for trial in study.get_trials()}) == 2
    (parent,) = runs_of(root, "sweep")
    assert parent.data.metrics["sweep/best"] == study.best_value
    assert [run.info.status for run in [parent, *runs_of(root, "trial")]] == ["FINISHED"] * 5
    assert main(["sweep", "worker", f"sweep.study={study.study_name}"]) == 0
    assert f"study:  {study.study_name}, 4 trials" in capfd.readouterr().out
    assert main(["sweep", "worker", "sweep.study=nothing"]) == 1
    assert "study nothing: there is no nothing.journal" in capfd.readouterr().err


def test_what_a_worker_raises_is_told_once_and_stops_all(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Here of a trial that cannot be composed, for no reason that anybody has thought of."""
    with pytest.raises(ZeroDivisionError, match="of the trial"):
        run_workers(plan_of(root, Broken()), lambda: 0, lambda _: None)


def plan_of(root: Path, compose_trial: Any) -> Plan:
    config = plain_experiment(TINY)
    options = SweepOptions(space={"agent.gamma": {"low": 0.5, "high": 1.0}}, trials=2)
    store = Store(root=root)
    return Plan("s", options, config, compose_trial, root, store.address, "parent")


@pytest.mark.slow
def test_a_third_of_the_trials_is_killed_and_the_total_is_met_exactly(root: Path) -> None:
    """Real processes that train, killed with -9 in the middle of a trial."""
    total, kills = 12, 4
    command = [*PROGRAM, "sweep", *TINY, "trainer.decisions=4096", f"sweep.trials={total}", "sweep.workers=2"]
    killed: set[int] = set()
    with subprocess.Popen(command) as process:
        while process.poll() is None:
            if list((root / "studies").glob("*.journal")) and len(killed) < kills:
                killed |= kill_at_work(root)
            time.sleep(0.3)
        assert process.returncode == 0
    begun = [trial for trial in study_of(root).get_trials() if not is_withdrawn(trial)]
    states = [trial.state for trial in begun]
    assert states.count(TrialState.COMPLETE) == total
    assert {trial.number for trial in begun if trial.state == TrialState.FAIL} == killed
    assert len(killed) == kills
    assert len(begun) == total + kills
    statuses = {run.data.tags["sweep.trial"]: run.info.status for run in runs_of(root, "trial")}
    assert statuses == {str(t.number): "KILLED" if t.number in killed else "FINISHED" for t in begun}
    assert [run.info.status for run in runs_of(root, "sweep")] == ["FINISHED"]


def kill_at_work(root: Path) -> set[int]:
    """Kill a worker that is in the middle of a trial, if there is one; the number of its trial."""
    for trial in running(root):
        process = int(trial.user_attrs["worker"].split("-")[-2])
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGSTOP)  # lest it ends the trial while it is looked at
            if any(still.number == trial.number for still in running(root)):
                os.kill(process, signal.SIGKILL)
                return {trial.number}
            os.kill(process, signal.SIGCONT)
    return set()


def running(root: Path) -> list[FrozenTrial]:
    """Trials that have begun to train, and of which nobody has said that they ended."""
    found = study_of(root).get_trials(states=(TrialState.RUNNING,))
    return [trial for trial in found if {"worker", "mlflow_run"} <= set(trial.user_attrs)]
