"""`cardlab sweep sweep.workers=2` in real processes: they share trials, are replaced when killed, stop together."""

import os
import random
import re
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import optuna
import pytest
from optuna.storages import RetryHeartbeatStaleTrialCallback
from optuna.trial import FrozenTrial, TrialState

from cardlab.cli import main
from cardlab.core.messages import InvalidOption
from cardlab.experiments.sweep.options import SweepOptions
from cardlab.experiments.sweep.retries import SURPLUS
from cardlab.experiments.sweep.study import FINISHED
from cardlab.experiments.sweep.worker import SweepPlan, run_workers
from cardlab.tracking import Store
from experiments.sweep.tiny import TINY, runs_of, study_of, swept_experiment
from failures.test_killed_matches import workers

KILLS = 1  # sweeps with three kills of workers, and sweeps with one of the parent
SECONDS_TO_END = 5.0  # for the workers, after their parent


@pytest.mark.slow
@pytest.mark.usefixtures("quick_children")
def test_two_workers_share_a_sweep_and_one_may_join_it(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", *TINY, "sweep.trials=4", "sweep.workers=2"]) == 0
    printed = capfd.readouterr()
    study = study_of(root)
    assert f"\nstudy {study.study_name}: 0 of 4 done, 2 workers\n" in printed.err
    complete = re.findall(r"^trial (\d+) complete .* (\d) of 4 done", printed.err, re.MULTILINE)
    assert sorted(number for number, _ in complete) == [
        str(trial.number) for trial in study.get_trials(states=FINISHED)
    ]
    assert sorted(done for _, done in complete) == ["1", "2", "3", "4"]
    assert len(re.findall(r"^trial \d+ begins", printed.err, re.MULTILINE)) == 4
    assert len({trial.user_attrs["worker"] for trial in study.get_trials()}) == 2
    (parent,) = runs_of(root, "sweep")
    assert parent.data.metrics["sweep/best"] == study.best_value
    assert [run.info.status for run in [parent, *runs_of(root, "trial")]] == ["FINISHED"] * 5
    assert main(["sweep", "worker", f"sweep.study={study.study_name}"]) == 0
    assert f"study:   {study.study_name}, 4 trials" in capfd.readouterr().out
    assert main(["sweep", "worker", "sweep.study=nothing"]) == 1
    assert "study nothing: not found in" in capfd.readouterr().err


@pytest.mark.slow
@pytest.mark.usefixtures("quick_children")
def test_the_error_of_a_worker_is_raised_and_stops_all(root: Path) -> None:
    config = swept_experiment(TINY)
    del config["trainer"]
    options = SweepOptions(space={"agent.gamma": {"low": 0.5, "high": 1.0}}, trials=2)
    plan = SweepPlan("s", options, config, root, Store(root=root).address, "parent")
    with pytest.raises(InvalidOption, match="trainer"):
        run_workers(plan, lambda: 0, lambda _: None, lambda _: None)


@pytest.mark.slow
def test_three_workers_of_which_one_is_killed_in_the_first_a_middle_and_the_last_trial(
    root: Path, kill: int, quick_python: Path
) -> None:
    """Real processes that train: six trials are finished, none runs, and MLflow knows each once."""
    total = 6
    chance = random.Random(kill)
    command = [
        quick_python / "cardlab",
        "sweep",
        *TINY,
        "trainer.decisions=16384",
        f"sweep.trials={total}",
        "sweep.workers=3",
    ]
    killed: list[int] = []
    with subprocess.Popen(command) as process:
        wait_for_training(root)
        study = study_of(root)  # opened once: looks must be shorter than the time between the last two trials
        for done in (0, total // 2, total - 1):  # finished trials, at least, at each kill
            before = len(killed)
            while process.poll() is None and len(killed) == before:
                if len(study.get_trials(states=FINISHED)) >= done:
                    time.sleep(chance.uniform(0.0, 0.5) if kill else 0.0)
                    killed += kill_at_work(study, killed, retries=done == total - 1)
                time.sleep(0.01)
        assert process.wait() == 0
    assert len(killed) == 3
    assert check_whole(root, total) == sorted(killed)


@pytest.mark.slow
def test_a_sweep_of_which_the_parent_is_killed_in_mid_trial(root: Path, kill: int, quick_python: Path) -> None:
    """Its workers exit, and the same command finishes what they had begun."""
    total = 3
    command = [
        quick_python / "cardlab",
        "sweep",
        *TINY,
        "trainer.decisions=16384",
        f"sweep.trials={total}",
        "sweep.workers=2",
    ]
    with subprocess.Popen(command) as process:
        wait_for_training(root)
        time.sleep(random.Random(kill).uniform(0.0, 3.0))
        assert process.poll() is None
        process.kill()
    deadline = time.monotonic() + SECONDS_TO_END
    while still := [each for each in workers(root) if each.name != str(os.getpid())]:
        assert time.monotonic() < deadline, still
        time.sleep(0.1)
    subprocess.run(command, check=True)
    assert len(check_whole(root, total)) <= 2, "those that were running"


def wait_for_training(root: Path) -> None:
    """Wait until the first trial trains."""
    while not (root / "runs/sweeps").exists():
        time.sleep(0.05)


def check_whole(root: Path, total: int) -> list[int]:
    """`total` trials are finished, none runs, and MLflow knows each once; returns the trials that were interrupted."""
    trials = study_of(root).get_trials()
    states = [trial.state for trial in trials]
    assert states.count(TrialState.COMPLETE) == total
    assert not {TrialState.RUNNING, TrialState.WAITING} & set(states)
    runs = runs_of(root, "trial")
    assert [run.info.status for run in runs] == ["FINISHED"] * total
    complete = {trial.number: trial for trial in trials if trial.state == TrialState.COMPLETE}
    assert {int(run.data.tags["sweep.trial"]) for run in runs} == set(complete)
    for run in runs:
        trial = complete[int(run.data.tags["sweep.trial"])]
        assert run.data.metrics["sweep/objective"] == trial.value
        assert run.data.tags.get("sweep.retry_of") == (str(trial.user_attrs["retry_of"]) if is_retry(trial) else None)
        steps = [point.step for point in Store(root=root).client.get_metric_history(run.info.run_id, "train/return")]
        assert len(steps) == len(set(steps)) == 128, "each iteration once, those before the kill too"
    (parent,) = runs_of(root, "sweep")
    assert parent.info.status == "FINISHED"
    assert parent.data.tags["sweep.trials"] == str(total)
    return [t.number for t in trials if t.state == TrialState.FAIL and SURPLUS not in t.user_attrs]


def is_retry(trial: FrozenTrial) -> bool:
    return RetryHeartbeatStaleTrialCallback.retried_trial_number(trial) is not None


def kill_at_work(study: optuna.Study, before: list[int], *, retries: bool) -> list[int]:
    """Kill a worker in the middle of a trial that was not killed before, if there is one; the number of the trial.

    Not all kills may be of `retries`: after three attempts the values of a trial are given up.
    """
    for trial in running(study):
        process = int(trial.user_attrs["worker"].split(":")[1])
        if trial.number in before or (is_retry(trial) and not retries):
            continue
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGSTOP)  # lest it ends the trial while it is looked at
            if any(still.number == trial.number for still in running(study)):
                os.kill(process, signal.SIGKILL)
                return [trial.number]
            os.kill(process, signal.SIGCONT)
    return []


def running(study: optuna.Study) -> list[FrozenTrial]:
    """Trials that have begun to train, and of which nobody has said that they ended."""
    found = study.get_trials(states=(TrialState.RUNNING,))
    return [trial for trial in found if {"worker", "mlflow_run"} <= set(trial.user_attrs)]
