"""A training's run in the store, whatever becomes of the store, the training or its process."""

import json
import os
import shutil
import signal
from pathlib import Path

import pytest

from cardlab.tracking import RecordIncomplete, Run, Store
from cardlab.tracking import run as run_module
from cardlab.training.recorded_training import train_recorded
from cardlab.training.run import Trained, train
from failures.children import Child
from failures.test_killed_training import ROUNDS, TRAIN
from stores import Lost
from training.test_resume import ITERATIONS, experiment_of, quiet
from training.test_snapshots import Interrupted, Interrupter

EVERY = list(range(1, ITERATIONS + 1))


def steps(store: Store, run_id: str, key: str = "train/iteration") -> list[int]:
    return sorted(int(metric.value) for metric in store.client.get_metric_history(run_id, key))


def status(store: Store, run_id: str) -> str:
    return store.client.get_run(run_id).info.status


class Watched(Interrupter):
    """Passes on to a run what it is told, until it ends the training."""

    def __init__(self, run: Run, after: int) -> None:
        super().__init__(after)
        self.run = run

    def log_metrics(self, metrics, step) -> None:  # type: ignore[no-untyped-def]
        self.run.log_metrics(metrics, step)
        super().log_metrics(metrics, step)


def train_with(run: Run, folder: Path, after: int) -> Trained:
    log = Watched(run, after)
    experiment = experiment_of("td")
    return train(experiment, run_dir=folder / "run", model_dir=folder / "model", log=log, report=quiet, tracked=run)


def test_the_run_of_a_retried_trial_holds_the_whole_curve(store: Store, tmp_path: Path) -> None:
    first = store.start_run("kuhn", "trial 0")
    with pytest.raises(Interrupted):
        train_with(first, tmp_path, 7)
    first.finish("KILLED")
    with store.start_run("kuhn", "trial 1") as retried:
        train_with(retried, tmp_path, -1)
    assert steps(store, retried.id) == EVERY
    assert status(store, retried.id) == "FINISHED"


def record_nothing(run: Run, trained: Trained) -> None:
    """Nothing beside what every training leaves."""


def recorded(store: Store, folder: Path, record=record_nothing, told: list[str] | None = None) -> None:  # type: ignore[no-untyped-def]
    report = quiet if told is None else told.append
    where = {"folder": folder / "runs" / "td" / "one", "model_dir": folder / "model"}
    train_recorded(experiment_of("td"), store, **where, params={"seed": 1}, record=record, report=report)


def test_a_store_that_is_away_at_the_end_gets_the_rest_from_the_same_command(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(run_module, "_SECONDS_AT_END", 2.0)
    assert store.client
    store.__dict__["client"] = lost = Lost(store.client)

    def cut(_: Run, __: Trained) -> None:
        lost.cut = "before"

    with pytest.raises(RecordIncomplete, match="run the same command again to send the rest"):
        recorded(store, tmp_path, cut)
    lost.cut = ""
    monkeypatch.setattr(run_module, "_SECONDS_AT_END", 60.0)
    (run,) = store.client.search_runs([store.experiment_id("kuhn")])
    assert run.info.status == "RUNNING"
    told: list[str] = []
    recorded(store, tmp_path, told=told)
    assert any(line.startswith("resuming after iteration 12") for line in told)
    assert not any(line.startswith("iteration ") for line in told)
    assert (status(store, run.info.run_id), steps(store, run.info.run_id)) == ("FINISHED", EVERY)
    assert "checkpoint" in {file.path for file in store.client.list_artifacts(run.info.run_id)}
    models = store.client.search_logged_models([run.info.experiment_id])
    assert ("policy", "READY") in {(model.name, str(model.status)) for model in models}


def test_a_store_that_was_deleted_is_reported_and_the_next_record_says_what_it_lacks(
    store: Store, fresh_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "_SECONDS_AT_END", 1.0)

    def replace(_: Run, __: Trained) -> None:
        for side in ("-wal", "-shm"):
            Path(f"{store.root}/mlflow.db{side}").unlink(missing_ok=True)
        shutil.copyfile(fresh_database, store.root / "fresh.db")
        (store.root / "fresh.db").replace(store.root / "mlflow.db")

    with pytest.raises(RecordIncomplete):
        recorded(store, tmp_path, replace)
    monkeypatch.setattr(run_module, "_SECONDS_AT_END", 60.0)
    shutil.copyfile(store.root / "mlflow.db", store.root / "other.db")
    fresh = Store(f"sqlite:///{store.root}/other.db", store.root)  # this process has the old file open at its name
    told: list[str] = []
    recorded(fresh, tmp_path, told=told)
    assert not any(line.startswith("iteration ") for line in told), "nothing is trained again"
    (run,) = fresh.client.search_runs([fresh.experiment_id("kuhn")])
    assert run.info.status == "FINISHED"
    assert run.data.tags["record"].startswith("incomplete: earlier metrics are in run")


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, *(pytest.param(each, marks=pytest.mark.slow) for each in (signal.SIGHUP, signal.SIGINT))]
)
def test_a_training_that_is_stopped_reads_killed_and_ends_whole(
    fresh_database: Path, tmp_path: Path, number: signal.Signals
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    shutil.copyfile(fresh_database, root / "mlflow.db")
    command = [*TRAIN, "trainer.checkpoint_seconds=0"]
    child = Child(root, command, log=tmp_path / "log", halt_at="squares: iteration ")
    os.kill(child.wait_until_halted(), number)
    child.resume()
    assert child.wait() == 128 + number
    store = Store(f"sqlite:///{root}/mlflow.db", root)
    state = json.loads(next(root.glob("runs/squares/*/run.json")).read_text())
    assert status(store, state["run_id"]) == "KILLED"
    assert Child(root, command, log=tmp_path / "log").wait() == 0
    (run,) = store.client.search_runs([store.experiment_id("poker_squares")])
    assert (run.info.run_id, run.info.status) == (state["run_id"], "FINISHED")
    assert steps(store, run.info.run_id) == list(range(1, ROUNDS + 1))


def test_after_kill_9_the_list_of_runs_shows_killed(
    fresh_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from cardlab.cli import main  # noqa: PLC0415

    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    shutil.copyfile(fresh_database, tmp_path / "mlflow.db")
    child = Child(tmp_path, TRAIN, log=tmp_path / "log", halt_at="squares: iteration ")
    child.wait_until_halted()
    assert main(["runs"]) == 0
    assert " running " in capsys.readouterr().out
    child.kill()
    assert main(["runs"]) == 0
    assert " killed " in capsys.readouterr().out
