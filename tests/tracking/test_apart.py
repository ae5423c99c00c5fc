"""MLflow in a process of its own: the same runs, whatever becomes of either process."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cardlab.tracking import Run, Store, TrackingUnavailable, apart
from cardlab.tracking.apart import DeskApart, speak_apart

RECORD = """
import os, sys
from cardlab.tracking import Store
from cardlab.tracking.apart import speak_apart
speak_apart()
store = Store()
store.check()
run = store.start_run("thirty_one", "ppo", params={"seed": 1})
for step in range(20):
    run.log_metrics({"loss": float(step)}, step)
assert "mlflow" not in sys.modules
print(store.desk._process.pid, flush=True)
"""
FINISH = """
run.log_text("hello", "notes/hello.txt")
run.finish()
assert "mlflow" not in sys.modules
"""
DIE = "os.kill(os.getpid(), 9)"


@pytest.fixture
def desk(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[DeskApart]:
    """The desk of another process, at which the store's runs are kept."""
    desk = DeskApart(store.address, store.root)
    monkeypatch.setitem(apart._desks, (store.address, store.root), desk)
    yield desk
    desk.close()


def history(store: Store, run_id: str) -> list[tuple[int, float]]:
    return sorted((metric.step, metric.value) for metric in store.client.get_metric_history(run_id, "loss"))


def log_steps(run: Run, first: int, last: int) -> None:
    for step in range(first, last):
        run.log_metrics({"loss": float(step)}, step)


def is_running(process: int) -> bool:
    try:
        return "(zombie)" not in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False


def test_what_is_recorded_without_mlflow_in_the_process(store: Store, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", RECORD + FINISH], stdout=subprocess.PIPE, text=True, check=True)
    assert not is_running(int(done.stdout))
    (run,) = store.client.search_runs([store.experiment_id("thirty_one")])
    assert (run.info.status, run.data.params) == ("FINISHED", {"seed": "1"})
    assert history(store, run.info.run_id) == [(step, float(step)) for step in range(20)]
    path = store.client.download_artifacts(run.info.run_id, "notes/hello.txt", str(tmp_path / "there"))
    assert Path(path).read_text() == "hello"
    assert list(store.spool.iterdir()) == []


def test_kill_9_ends_both_processes_and_loses_nothing(store: Store, desk: DeskApart) -> None:
    killed = subprocess.run([sys.executable, "-c", RECORD + DIE], stdout=subprocess.PIPE, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    deadline = time.monotonic() + 20
    while is_running(int(killed.stdout)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    (left,) = store.client.search_runs([store.experiment_id("thirty_one")])
    run = store.start_run("thirty_one", "ppo", resume=left.info.run_id, params={"seed": 1})
    log_steps(run, 12, 30)
    run.finish()
    assert history(store, run.id) == [(step, float(step)) for step in range(30)]


def test_a_process_that_is_lost_is_done_without(
    store: Store, desk: DeskApart, caplog: pytest.LogCaptureFixture
) -> None:
    run = store.start_run("thirty_one", "ppo")
    log_steps(run, 0, 10)
    os.kill(desk._process.pid, signal.SIGKILL)
    run.flush()
    log_steps(run, 10, 20)
    run.finish()
    assert history(store, run.id) == [(step, float(step)) for step in range(20)]
    assert caplog.text.count("kept and sent later") == 1
    assert "the process that speaks to the store has ended" in caplog.text


def test_a_run_goes_on_and_knows_its_steps(store: Store, desk: DeskApart) -> None:
    run = store.start_or_resume(store.root / "one", "thirty_one", "ppo", params={"seed": 1})
    log_steps(run, 0, 10)
    run.finish("KILLED")
    again = store.start_or_resume(store.root / "one", "thirty_one", "ppo", params={"seed": 1})
    assert (again.id, again.resumed) == (run.id, True)
    log_steps(again, 5, 15)
    again.finish()
    assert history(store, run.id) == [(step, float(step)) for step in range(15)]
    assert store.start_run("thirty_one", "ppo", resume="0" * 32).id != run.id


def test_a_store_that_is_away_is_one_line_without_the_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = "postgresql://me:secret@127.0.0.1:1/mlflow"
    desk = DeskApart(address, tmp_path)
    monkeypatch.setitem(apart._desks, (address, tmp_path), desk)
    with pytest.raises(TrackingUnavailable, match=r"^tracking store postgresql://me:…@127") as raised:
        Store(address, tmp_path).check()
    desk.close()
    assert "\n" not in str(raised.value)
    assert "secret" not in str(raised.value)


def test_who_has_imported_mlflow_speaks_for_itself(store: Store) -> None:
    assert store.client
    speak_apart()
    assert apart.desk_apart(store.address, store.root) is None


def test_an_unused_process_is_not_waited_for(store: Store) -> None:
    began = time.monotonic()
    desk = DeskApart(store.address, store.root)
    desk.close()
    assert desk._process.returncode == -signal.SIGKILL
    assert time.monotonic() - began < 5
