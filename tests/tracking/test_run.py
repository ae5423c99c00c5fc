"""What a run is told arrives once, whatever fails in between."""

import logging
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from cardlab.tracking import Store
from cardlab.tracking import run as run_module


def history(store: Store, run_id: str, key: str) -> list[tuple[int, float]]:
    return sorted((metric.step, metric.value) for metric in store.client.get_metric_history(run_id, key))


def status(store: Store, run_id: str) -> str:
    return store.client.get_run(run_id).info.status


class Lost:
    """A client behind a network that can be cut, before or after the request has arrived."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.cut = ""
        self.calls = 0

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.client, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            self.calls += 1
            if self.cut == "before":
                raise ConnectionError("no route to host")
            result = method(*args, **kwargs)
            if self.cut == "after":
                raise ConnectionError("answer lost")
            return result

        return call


@pytest.fixture
def lost(store: Store) -> Lost:
    lost = Lost(store.client)
    store.__dict__["client"] = lost
    return lost


@pytest.fixture
def always_send(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "_SECONDS_BETWEEN_BATCHES", 0.0)
    monkeypatch.setattr(run_module, "_PATIENCE", 0.0)


def test_metrics_tags_parameters_and_files_arrive(store: Store, tmp_path: Path) -> None:
    config = {"agent": {"gamma": 0.99, "layers": [64, 64], "clip": None}, "seed": 0}
    (tmp_path / "policy").mkdir()
    (tmp_path / "policy" / "policy.json").write_text("{}")
    with store.start_run("thirty_one", "ppo", params=config, tags={"kind": "training"}) as run:
        run.log_metrics({"loss/value": 0.5, "score/greedy": 0.8}, step=3)
        run.set_tags({"policy.digest": "abc"})
        run.log_artifact(tmp_path / "policy")
        run.log_artifact(tmp_path / "policy", "champion/of")
        run.log_artifact(tmp_path / "policy" / "policy.json", "card")
        run.log_text("hello", "notes/hello.txt")
        run.log_figure(Figure(), "curve.svg")
    stored = store.client.get_run(run.id)
    assert stored.info.status == "FINISHED"
    assert stored.info.run_name == "ppo"
    assert stored.data.params == {
        "agent.gamma": "0.99", "agent.layers": "[64, 64]", "agent.clip": "null", "seed": "0",
    }  # fmt: skip
    assert stored.data.metrics == {"loss/value": 0.5, "score/greedy": 0.8}
    assert stored.data.tags["policy.digest"] == "abc"
    assert stored.data.tags["kind"] == "training"
    assert "python" in stored.data.tags
    names = {file.path for file in store.client.list_artifacts(run.id)}
    assert names == {"card", "champion", "config.json", "curve.svg", "notes", "policy"}
    for folder in ("policy", "champion/of", "card"):
        assert [file.path for file in store.client.list_artifacts(run.id, folder)] == [f"{folder}/policy.json"]
    assert list(store.spool.iterdir()) == []


def test_metrics_go_in_batches(store: Store, lost: Lost) -> None:
    run = store.start_run("thirty_one", "ppo")
    lost.calls = 0
    for step in range(200):
        run.log_metrics({"loss": 1.0 / (step + 1)}, step)
    assert lost.calls == 0
    run.finish()
    assert lost.calls == 2
    assert [step for step, _ in history(store, run.id, "loss")] == list(range(200))


def test_a_large_step_is_split(store: Store) -> None:
    with store.start_run("thirty_one", "ppo") as run:
        run.log_metrics({f"m{index}": float(index) for index in range(2500)}, 0)
    assert store.client.get_run(run.id).data.metrics == {f"m{index}": float(index) for index in range(2500)}


def test_values_that_are_not_numbers_arrive(store: Store) -> None:
    with store.start_run("thirty_one", "ppo") as run:
        run.log_metrics({"loss": float("nan"), "value": float("inf")}, 0)
    assert len(history(store, run.id, "loss")) == 1
    assert history(store, run.id, "value")[0][1] > 1e300


def test_a_name_mlflow_refuses_is_refused_at_once(store: Store) -> None:
    with store.start_run("thirty_one", "ppo") as run, pytest.raises(ValueError, match="metric 'loss#1'"):
        run.log_metrics({"loss#1": 1.0}, 0)


def test_resume_goes_on_in_the_same_run_and_sends_no_step_twice(store: Store) -> None:
    run = store.start_run("thirty_one", "ppo", params={"seed": 1})
    for step in range(10):
        run.log_metrics({"loss": float(step)}, step)
    run.finish("KILLED")
    again = store.start_run("thirty_one", "ppo", params={"seed": 1}, resume=run.id)
    assert again.id == run.id
    assert status(store, run.id) == "RUNNING"
    for step in range(6, 15):  # the checkpoint was of round 6
        again.log_metrics({"loss": float(step)}, step)
    again.finish()
    assert history(store, run.id, "loss") == [(step, float(step)) for step in range(15)]
    assert status(store, run.id) == "FINISHED"


def test_a_run_the_store_does_not_know_begins_anew(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    run = store.start_run("thirty_one", "ppo", resume="0" * 32, params={"seed": 1})
    run.finish()
    assert run.id != "0" * 32
    assert store.client.get_run(run.id).data.params == {"seed": "1"}
    assert "is not in the store" in caplog.text


KILLED = """
import os, signal, sys
from cardlab.tracking import Store, run
run._SECONDS_BETWEEN_BATCHES = float(sys.argv[2])
r = Store().start_run("thirty_one", "ppo", resume=sys.argv[1] or None)
print(r.id, flush=True)
for step in range(int(sys.argv[3]), int(sys.argv[4])):
    r.log_metrics({"loss": float(step), "other": 1.0}, step)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("pause", ["0", "100"], ids=["all sent", "nothing sent"])
def test_kill_9_loses_no_metric(store: Store, pause: str) -> None:
    command = [sys.executable, "-c", KILLED, "", pause, "0", "20"]
    first = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    assert first.returncode == -signal.SIGKILL
    run_id = first.stdout.strip()
    sent = len(history(store, run_id, "loss"))
    assert sent == (20 if pause == "0" else 0)
    run = store.start_run("thirty_one", "ppo", resume=run_id)
    for step in range(12, 30):
        run.log_metrics({"loss": float(step), "other": 1.0}, step)
    run.finish()
    assert history(store, run_id, "loss") == [(step, float(step)) for step in range(30)]
    assert len(history(store, run_id, "other")) == 30


def test_the_next_run_sends_what_a_killed_one_left(store: Store) -> None:
    command = [sys.executable, "-c", KILLED, "", "100", "0", "5"]
    killed = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    store.start_run("thirty_one", "ppo").finish()
    assert [step for step, _ in history(store, killed.stdout.strip(), "loss")] == list(range(5))
    assert list(store.spool.iterdir()) == []


@pytest.mark.usefixtures("always_send")
def test_a_lost_store_costs_one_warning_and_no_metric(
    store: Store, lost: Lost, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level(logging.WARNING)
    run = store.start_run("thirty_one", "ppo")
    for step in range(30):
        lost.cut = {5: "before", 15: "after", 20: ""}.get(step, lost.cut)
        run.log_metrics({"loss": float(step)}, step)
        if step == 8:
            run.log_text("kept", "deep/note.txt")
            run.set_tags({"policy.digest": "abc"})
    run.finish()
    assert history(store, run.id, "loss") == [(step, float(step)) for step in range(30)]
    assert store.client.get_run(run.id).data.tags["policy.digest"] == "abc"
    path = store.client.download_artifacts(run.id, "deep/note.txt", str(tmp_path))
    assert Path(path).read_text() == "kept"
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "kept and sent later" in caplog.text
    assert list(store.spool.iterdir()) == []


@pytest.mark.usefixtures("always_send")
def test_what_is_left_at_the_end_is_sent_by_a_later_process(store: Store, lost: Lost) -> None:
    run = store.start_run("thirty_one", "ppo")
    lost.cut = "before"
    run.log_metrics({"loss": 1.0}, 0)
    run.finish("KILLED")
    lost.cut = ""
    assert status(store, run.id) == "RUNNING"
    assert store.send_leftovers() == 1
    assert history(store, run.id, "loss") == [(0, 1.0)]
    assert status(store, run.id) == "KILLED"
    assert store.send_leftovers() == 0


def test_leftovers_of_a_deleted_run_do_not_block_others(store: Store, lost: Lost) -> None:
    runs = [store.start_run("thirty_one", "ppo") for _ in range(3)]
    lost.cut = "before"
    for run in runs:
        run.log_metrics({"loss": 1.0}, 0)
        run.finish()
    lost.cut = ""
    orphan = store.spool / ("0" * 32 + ".jsonl")
    orphan.write_text('{"tags": {"a": "b"}}\n')
    assert store.send_leftovers() == 3
    assert orphan.exists()


def test_a_store_that_hangs_is_asked_ever_less_often(store: Store, lost: Lost, monkeypatch: pytest.MonkeyPatch) -> None:
    run = store.start_run("thirty_one", "ppo")
    clock = [time.monotonic()]
    monkeypatch.setattr(run_module.time, "monotonic", lambda: clock[0])

    def hang(*_: Any, **__: Any) -> None:
        clock[0] += 20.0
        lost.calls += 1
        raise TimeoutError("no answer")

    monkeypatch.setattr(lost, "log_batch", hang, raising=False)
    lost.calls = 0
    for step in range(1000):  # an hour of one-second rounds and what the store costs
        clock[0] += 3.6
        run.log_metrics({"loss": 0.0}, step)
    assert 5 <= lost.calls * 20 <= 0.06 * 3600
    monkeypatch.undo()


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (KeyboardInterrupt(), "KILLED"),
        (SystemExit(1), "KILLED"),
        (LookupError("pruned"), "KILLED"),
        (RuntimeError("broken"), "FAILED"),
    ],
)
def test_how_a_run_ends(store: Store, error: BaseException, expected: str) -> None:
    run = store.start_run("thirty_one", "ppo", stopped_by=(LookupError,))
    with pytest.raises(type(error)), run:
        raise error
    assert status(store, run.id) == expected


@pytest.mark.parametrize(("error", "expected"), [(KeyboardInterrupt(), "KILLED"), (RuntimeError("broken"), "FAILED")])
@pytest.mark.parametrize("step", ["send_leftovers", "_log_params"])
def test_a_run_stopped_before_anybody_has_it_is_ended_and_can_go_on(
    store: Store, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException, expected: str
) -> None:
    def stop(*_: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(store, step, stop)
        with pytest.raises(type(error)):
            store.start_run("thirty_one", "ppo", params={"seed": 1})
    (found,) = store.client.search_runs([store.experiment_id("thirty_one")])
    assert found.info.status == expected
    with store.start_run("thirty_one", "ppo", params={"seed": 1}, resume=found.info.run_id) as run:
        assert run.resumed


def test_a_run_finished_inside_its_block_keeps_its_status(store: Store) -> None:
    with store.start_run("thirty_one", "ppo") as run:
        run.finish("KILLED")
    assert status(store, run.id) == "KILLED"


def test_without_a_journal_on_disk_metrics_still_arrive(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (store.root / "runs").write_text("a file where the folder should be")
    with store.start_run("thirty_one", "ppo") as run:
        run.log_metrics({"loss": 1.0}, 0)
    assert history(store, run.id, "loss") == [(0, 1.0)]
    assert caplog.text.count("cannot be kept on disk") == 1


def test_a_folder_remembers_its_run_until_it_is_finished(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "one"
    killed = store.start_or_resume(folder, "thirty_one", "ppo", params={"seed": 1})
    killed.log_metrics({"loss": 1.0}, 1)
    killed.finish("KILLED")
    resumed = store.start_or_resume(folder, "thirty_one", "ppo", params={"seed": 1})
    resumed.log_metrics({"loss": 1.0}, 1)
    resumed.log_metrics({"loss": 2.0}, 2)
    resumed.finish()
    anew = store.start_or_resume(folder, "thirty_one", "ppo", params={"seed": 1})
    anew.finish()
    assert killed.id == resumed.id != anew.id
    assert history(store, killed.id, "loss") == [(1, 1.0), (2, 2.0)]
