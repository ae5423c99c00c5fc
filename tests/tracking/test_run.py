"""What a run logs arrives exactly once, whatever fails in between."""

import logging
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from cardlab.tracking import Run, Store
from cardlab.tracking import run as run_module
from failures.children import Child
from stores import Lost
from tracking.child_runs import log_until_killed


def history(store: Store, run_id: str, key: str) -> list[tuple[int, float]]:
    return sorted((metric.step, metric.value) for metric in store.client.get_metric_history(run_id, key))


def status(store: Store, run_id: str) -> str:
    return store.client.get_run(run_id).info.status


def log_steps(run: Run, first: int, last: int) -> None:
    for step in range(first, last):
        run.log_metrics({"loss": float(step)}, step)


def losses(first: int, last: int) -> list[tuple[int, float]]:
    return [(step, float(step)) for step in range(first, last)]


@pytest.fixture
def lost(store: Store) -> Iterator[Lost]:
    assert store.client
    lost = Lost(store.client)
    store.__dict__["client"] = lost
    yield lost
    lost.cut = ""


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits of seconds take tenths of it."""
    monkeypatch.setattr(run_module, "_SECONDS_AT_END", 2.0)


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


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
        run.log_artifact(tmp_path / "policy" / "policy.json")
        run.log_artifact(tmp_path / "nothing there")
        run.log_text("hello", "notes/hello.txt")
        run.log_figure(Figure(), "curve.svg")
        (tmp_path / "policy" / "policy.json").unlink()
    stored = store.client.get_run(run.id)
    assert (run.complete, stored.info.status, stored.info.run_name) == (True, "FINISHED", "ppo")
    assert stored.data.params == {
        "agent.gamma": "0.99", "agent.layers": "[64, 64]", "agent.clip": "null", "seed": "0",
    }  # fmt: skip
    assert stored.data.metrics == {"loss/value": 0.5, "score/greedy": 0.8}
    assert stored.data.tags["policy.digest"] == "abc"
    assert stored.data.tags["kind"] == "training"
    assert "python" in stored.data.tags
    names = {file.path for file in store.client.list_artifacts(run.id)}
    assert names == {"card", "champion", "config.json", "curve.svg", "notes", "policy", "policy.json"}
    for folder in ("policy", "champion/of", "card"):
        assert [file.path for file in store.client.list_artifacts(run.id, folder)] == [f"{folder}/policy.json"]


def test_a_running_run_is_found_by_its_kind_and_says_what_it_is(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DVC_STAGE", raising=False)
    monkeypatch.setattr(sys, "argv", ["/bin/cardlab", "train", "agents=[a,b]", "storage=postgresql://me:secret@db/x"])
    params = {"name": "duel", "agent": {"name": "dqn"}, "seed": 7}
    run = store.start_run("thirty_one", "duel · seed 7", tags={"kind": "training"}, params=params)
    condition = "tags.kind = 'training' and tags.experiment = 'duel' and tags.agent = 'dqn' and tags.seed = '7'"
    ((_, found),) = store.search_runs(condition)
    assert (found.info.run_id, found.info.status) == (run.id, "RUNNING")
    what, _, command = found.data.tags["mlflow.note.content"].splitlines()
    assert what == "training of dqn on thirty_one, experiment duel, seed 7"
    assert command == "`cardlab train 'agents=[a,b]' storage=postgresql://me:…@db/x`"
    run.finish()


def test_metrics_go_in_batches(store: Store, lost: Lost) -> None:
    run = store.start_run("thirty_one", "ppo")
    lost.calls = 0
    log_steps(run, 0, 200)
    assert lost.calls == 0
    run.finish()
    assert lost.calls == 2
    assert history(store, run.id, "loss") == losses(0, 200)


def test_a_large_step_is_split(store: Store) -> None:
    with store.start_run("thirty_one", "ppo") as run:
        run.log_metrics({f"m{index}": float(index) for index in range(2500)}, 0)
    assert store.client.get_run(run.id).data.metrics == {f"m{index}": float(index) for index in range(2500)}


def test_rows_that_are_sent_twice_are_stored_once(store: Store) -> None:
    """As after kill -9 between the store's commit and the next checkpoint; NaN and infinity too."""
    run = store.start_run("thirty_one", "ppo")
    run.in_checkpoints = True
    log_steps(run, 0, 5)
    run.log_metrics({"nan": float("nan"), "infinite": float("inf")}, 0)
    state = run.state_dict()
    assert run.flush()
    again = Run(lambda: store.client, run.id)  # knows nothing of what the store has
    again.load_state_dict(state)
    assert again.flush()
    assert history(store, run.id, "loss") == losses(0, 5)
    assert len(history(store, run.id, "nan")) == 1
    assert len(history(store, run.id, "infinite")) == 1
    assert history(store, run.id, "infinite")[0][1] > 1e300


ODD = ["loss#1", "agents[0]:level=30", "a/../b", "a//b", "/a", "../a", "..", ".", "", "a/", "k" * 300, "k" * 299 + "x"]


def test_names_that_mlflow_refuses_are_mapped_and_block_nothing(store: Store) -> None:
    params = {**dict.fromkeys(ODD, 1), "lr": 0.1, "b": dict.fromkeys(ODD[:3], 2)}
    with store.start_run("thirty_one", "ppo", params=params, tags={"best.a[0]": 1}) as run:
        run.log_metrics({name: float(index) for index, name in enumerate(ODD)}, 0)
        run.set_tags({"best.b=1": 2})
        run.log_metrics({"loss": 1.0}, 1)
    stored = store.client.get_run(run.id)
    assert sorted(stored.data.metrics.values()) == sorted([*map(float, range(len(ODD))), 1.0])
    assert len(stored.data.params) == len(ODD) + 4
    assert stored.data.params["lr"] == "0.1"
    assert stored.data.metrics["loss"] == 1.0
    assert {"1", "2"} <= {value for key, value in stored.data.tags.items() if key.startswith("best.")}
    assert run.complete


def test_a_resumed_run_sends_no_step_twice(store: Store) -> None:
    run = store.start_run("thirty_one", "ppo", params={"seed": 1})
    log_steps(run, 0, 10)
    run.finish("KILLED")
    again = store.start_run("thirty_one", "ppo", params={"seed": 1}, resume=run.id)
    assert (again.id, again.resumed, run.resumed) == (run.id, True, False)
    assert status(store, run.id) == "RUNNING"
    log_steps(again, 6, 15)  # the checkpoint was of iteration 6
    again.finish()
    assert history(store, run.id, "loss") == losses(0, 15)
    assert status(store, run.id) == "FINISHED"


def test_a_run_is_tagged_with_the_versions_that_resume_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run = store.start_run("thirty_one", "ppo", params={"seed": 1})
    run.finish("KILLED")
    store.start_run("thirty_one", "ppo", params={"seed": 1}, resume=run.id).finish("KILLED")
    before = store.client.get_run(run.id).data.tags
    monkeypatch.setattr("cardlab.tracking.store.lineage", lambda: {"versions": "others"})
    store.start_run("thirty_one", "ppo", params={"seed": 1}, resume=run.id).finish()
    after = store.client.get_run(run.id).data.tags
    assert "versions.resumed" not in before
    assert (after["versions"], after["versions.resumed"]) == (before["versions"], "others")


def test_a_run_the_store_does_not_know_begins_again(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    run = store.start_run("thirty_one", "ppo", resume="0" * 32, params={"seed": 1})
    run.finish()
    assert run.id != "0" * 32
    assert store.client.get_run(run.id).data.params == {"seed": "1"}
    assert "is not in the store" in caplog.text


@pytest.mark.parametrize(
    "kills",
    [
        ["step 5", "step 15", "step 16"],
        ["before 9", "before 19"],
        ["after 9", "after 19", "before 39"],
        [f"commit {number}" for number in (1, 2, 3, 5, 4, 2)],
    ],
    ids=["between checkpoints", "before sending", "after sending", "before commits"],
)
def test_kill_9_doubles_and_loses_no_metric(store: Store, tmp_path: Path, kills: list[str]) -> None:
    folder = tmp_path / "runs" / "ppo" / "one"
    log, checkpoint = tmp_path / "log", str(folder / "checkpoint.json")
    for kill in kills:
        child = Child(store.root, [checkpoint, kill], log=log, body=log_until_killed)
        assert child.wait() in (-signal.SIGKILL, *([] if kill.startswith("commit") else [0]))
        for _, made in store.search_runs():  # no write is there in part
            steps = [[step for step, _ in history(store, made.info.run_id, key)] for key in ("loss", "other")]
            assert steps[0] == steps[1]
    assert Child(store.root, [checkpoint, ""], log=log, body=log_until_killed).wait() == 0, log.read_text()
    (run,) = store.client.search_runs([store.experiment_id("thirty_one")])
    assert run.info.status == "FINISHED"
    assert history(store, run.info.run_id, "loss") == losses(0, 40)
    assert len(history(store, run.info.run_id, "other")) == 40


def test_a_run_that_was_interrupted_while_it_was_made_is_killed_with_its_parent(store: Store) -> None:
    parent, other = (store.start_run("thirty_one", "sweep") for _ in range(2))
    ours, theirs = (store.start_run("thirty_one", "trial", parent=run.id) for run in (parent, other))
    store.mark_killed(parent.id)
    assert [status(store, run.id) for run in (parent, other, ours, theirs)] == [
        "RUNNING",
        "RUNNING",
        "KILLED",
        "RUNNING",
    ]


def test_a_run_whose_process_was_killed_is_shown_as_killed(store: Store, tmp_path: Path) -> None:
    folders = [tmp_path / "runs" / "ppo" / name for name in ("dead", "alive", "elsewhere")]
    runs = [store.start_or_resume(folder, "thirty_one", "ppo") for folder in folders]
    own = store.client.get_run(runs[0].id).data.tags["process"]
    host, pid, _ = own.rsplit(":", 2)
    store.client.set_tag(runs[0].id, "process", f"{host}:{pid}:1")  # another process had this number
    store.client.set_tag(runs[2].id, "process", f"other{own}")
    store.client.log_metric(runs[0].id, "loss", 1.0, timestamp=2_000_000_000_000)
    store.mark_killed()
    assert [status(store, run.id) for run in runs] == ["KILLED", "RUNNING", "RUNNING"]
    assert store.client.get_run(runs[0].id).info.end_time == 2_000_000_000_000, "the time of the last metric"
    again = store.start_or_resume(folders[0], "thirty_one", "ppo")
    assert (again.id, status(store, again.id)) == (runs[0].id, "RUNNING")
    store.mark_killed()
    assert status(store, again.id) == "RUNNING"


def test_nothing_is_sent_before_a_checkpoint_holds_it(store: Store, lost: Lost) -> None:
    run = store.start_run("thirty_one", "ppo")
    run.in_checkpoints = True
    lost.cut = "hangs"
    log_steps(run, 0, 10)
    run.flush(0.05)
    log_steps(run, 10, 20)  # while the sender is at work on the first ten
    lost.cut = ""
    assert run._sender is not None
    run._sender.join()
    assert history(store, run.id, "loss") == losses(0, 10)
    run.finish()
    assert history(store, run.id, "loss") == losses(0, 20)


def test_another_run_copies_the_history_of_the_one_that_began_the_training(store: Store) -> None:
    """As a retried trial does, whose run is a new one."""
    first = store.start_run("thirty_one", "trial 0")
    log_steps(first, 0, 10)
    first.log_metrics({"agents[0]": 0.5}, 3)
    first.flush()
    log_steps(first, 10, 14)
    state = first.state_dict()
    log_steps(first, 14, 16)  # sent, and not in the checkpoint
    first.finish("KILLED")
    retried = store.start_run("thirty_one", "trial 1")
    retried.load_state_dict(state)
    log_steps(retried, 14, 20)
    retried.finish()
    assert history(store, retried.id, "loss") == losses(0, 20)
    times = [
        {metric.step: metric.timestamp for metric in store.client.get_metric_history(run.id, "loss")}
        for run in (first, retried)
    ]
    assert times[1].items() >= times[0].items()
    assert len(store.client.get_run(retried.id).data.metrics) == 2


def test_a_history_that_is_gone_is_reported(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    with store.start_run("thirty_one", "ppo") as run:
        run.load_state_dict({"run": "0" * 32, "rows": [(7, 1, {"loss": 7.0})]})
    stored = store.client.get_run(run.id)
    assert stored.data.metrics == {"loss": 7.0}
    assert stored.data.tags["record"].startswith("incomplete: ")
    assert len(warnings_of(caplog)) == 1


def test_a_lost_store_costs_one_warning_and_no_metric(
    store: Store, lost: Lost, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    run = store.start_run("thirty_one", "ppo")
    run.in_checkpoints = True
    for step in range(30):
        lost.cut = {5: "before", 15: "after", 20: ""}.get(step, lost.cut)
        run.log_metrics({"loss": float(step)}, step)
        if step == 8:
            run.log_text("kept", "deep/note.txt")
            run.set_tags({"policy.digest": "abc"})
        run.flush()
    run.finish()
    assert history(store, run.id, "loss") == losses(0, 30)
    assert store.client.get_run(run.id).data.tags["policy.digest"] == "abc"
    path = store.client.download_artifacts(run.id, "deep/note.txt", str(tmp_path))
    assert Path(path).read_text() == "kept"
    (warning,) = warnings_of(caplog)
    assert "cannot be sent (no route to host); it is kept and sent later" in warning
    assert run.complete


def test_a_store_that_is_back_at_the_end_gets_everything(store: Store, lost: Lost) -> None:
    run = store.start_run("thirty_one", "ppo")
    run.in_checkpoints = True
    log_steps(run, 0, 3)
    lost.cut = "hangs"
    began = time.monotonic()
    run.flush(0.2)
    log_steps(run, 3, 6)
    run.flush(60.0)  # the first still hangs: it is not waited for again
    assert time.monotonic() - began < 5
    lost.cut = ""
    run.finish()
    assert (run.complete, status(store, run.id)) == (True, "FINISHED")
    assert history(store, run.id, "loss") == losses(0, 6)


def test_a_run_that_ends_while_a_tag_is_sent_has_its_last_metrics(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, log_batch = threading.Event(), store.client.log_batch

    def slow(*arguments: Any, **named: Any) -> None:
        answer.wait(60)
        log_batch(*arguments, **named)

    monkeypatch.setattr(store.client, "log_batch", slow)
    run = store.start_run("thirty_one", "ppo")
    run.set_tags({"note": "slow"})
    run.flush(0.1)
    log_steps(run, 0, 3)
    threading.Timer(0.3, answer.set).start()
    run.finish()
    assert (run.complete, status(store, run.id)) == (True, "FINISHED")
    assert history(store, run.id, "loss") == losses(0, 3)


@pytest.mark.parametrize("cut", ["before", "hangs"])
def test_what_is_left_at_the_end_is_sent_by_a_resumed_run(
    store: Store, lost: Lost, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, cut: str
) -> None:
    folder = store.root / "runs" / "ppo" / "one"
    run = store.start_or_resume(folder, "thirty_one", "ppo")
    run.in_checkpoints = True
    log_steps(run, 0, 10)
    state = run.state_dict()
    lost.cut = cut
    with monkeypatch.context() as patch:
        patch.setattr(run_module, "_SECONDS_AT_END", 1.0)
        began = time.monotonic()
        run.finish()
        assert time.monotonic() - began < 3
    (warning,) = warnings_of(caplog)
    assert "its record in the store is incomplete (no " in warning
    assert not run.complete
    lost.cut = ""
    again = store.start_or_resume(folder, "thirty_one", "ppo")
    again.load_state_dict(state)
    again.finish()
    assert (again.id, again.complete, status(store, run.id)) == (run.id, True, "FINISHED")
    assert history(store, run.id, "loss") == losses(0, 10)


def test_a_server_that_never_answers_costs_five_seconds_at_a_checkpoint(tmp_path: Path) -> None:
    """A real socket that accepts: the limits hold for whatever the client does. Two seconds here."""
    with closing(socket.create_server(("127.0.0.1", 0), backlog=50)) as server:
        store = Store(f"http://127.0.0.1:{server.getsockname()[1]}", tmp_path)
        run = Run(store.connected, "0" * 32)
        run.in_checkpoints = True
        spent: list[float] = []
        for step in range(3):
            log_steps(run, step, step + 1)
            began = time.monotonic()
            assert not run.flush(2.0)
            spent.append(time.monotonic() - began)
        assert max(spent) < 2.5
        assert sum(spent) < 4.4
        assert signature(Run.flush).parameters["seconds"].default == 5


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("what", ["deleted", "replaced"])
def test_a_store_that_is_gone_in_mid_run_is_reported(
    store: Store, fresh_database: Path, caplog: pytest.LogCaptureFixture, what: str
) -> None:
    run = store.start_run("thirty_one", "ppo")
    log_steps(run, 0, 5)
    assert run.flush()
    file = store.root / "mlflow.db"
    for side in ("-wal", "-shm"):
        Path(f"{file}{side}").unlink(missing_ok=True)
    file.unlink()
    if what == "replaced":
        file.write_bytes(fresh_database.read_bytes())
    log_steps(run, 5, 8)
    assert not run.flush()
    run.finish()
    assert not run.complete
    assert all("was deleted or replaced while in use" in warning for warning in warnings_of(caplog))
    assert "its record in the store is incomplete" in caplog.text
    assert file.exists() == (what != "deleted"), "nothing makes another store in its place"


@pytest.mark.usefixtures("quick")
def test_a_run_whose_files_cannot_be_stored_reads_failed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("disk full")

    run = store.start_run("thirty_one", "ppo")
    monkeypatch.setattr(store.client, "log_artifacts", refuse)
    run.log_metrics({"loss": 1.0}, 0)
    run.log_text("lost", "note.txt")
    run.finish()
    assert (run.complete, status(store, run.id)) == (False, "FAILED")
    assert history(store, run.id, "loss") == [(0, 1.0)]


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
def test_a_run_stopped_before_anyone_has_it_is_ended_and_can_be_resumed(
    store: Store, monkeypatch: pytest.MonkeyPatch, error: BaseException, expected: str
) -> None:
    def stop(*_: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(store, "_log_params", stop)
        with pytest.raises((KeyboardInterrupt, RuntimeError)):
            store.start_run("thirty_one", "ppo", params={"seed": 1})
    (found,) = store.client.search_runs([store.experiment_id("thirty_one")])
    assert found.info.status == expected
    with store.start_run("thirty_one", "ppo", params={"seed": 1}, resume=found.info.run_id) as run:
        assert run.resumed
    assert store.client.get_run(run.id).data.params == {"seed": "1"}


@pytest.mark.parametrize("table", ["tags", "params"])
def test_ctrl_c_in_mid_write_does_not_lock_the_store(
    store: Store, table: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The frames of the interrupted call hold a cursor, and it the lock, for as long as the exception is handled."""
    from sqlalchemy import event  # noqa: PLC0415  imported with MLflow
    from sqlalchemy.engine import Engine  # noqa: PLC0415  imported with MLflow

    def interrupt(*arguments: Any) -> None:
        if arguments[2].startswith(f"INSERT INTO {table}"):
            raise KeyboardInterrupt

    def start_two() -> None:
        with store.start_run("big2", "parent"):
            event.listen(Engine, "after_cursor_execute", interrupt)
            try:
                store.start_run("big2", "trial", params={"seed": 1, "name": "x"})
            finally:
                event.remove(Engine, "after_cursor_execute", interrupt)

    with pytest.raises(KeyboardInterrupt):
        start_two()
    assert {run.info.status for _, run in store.search_runs()} == {"KILLED"}
    assert not caplog.records


def test_a_run_finished_inside_its_block_keeps_its_status(store: Store) -> None:
    with store.start_run("thirty_one", "ppo") as run:
        run.finish("KILLED")
    assert status(store, run.id) == "KILLED"


def test_a_folder_remembers_its_run_until_it_is_finished(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "one"
    killed = store.start_or_resume(folder, "thirty_one", "ppo", params={"seed": 1})
    killed.log_metrics({"loss": 1.0}, 1)
    killed.finish("KILLED")
    resumed = store.start_or_resume(folder, "thirty_one", "ppo", params={"seed": 1})
    resumed.log_metrics({"loss": 1.0}, 1)
    resumed.log_metrics({"loss": 2.0}, 2)
    resumed.finish()
    second = store.start_or_resume(folder, "thirty_one", "ppo", params={"seed": 1})
    second.finish()
    assert killed.id == resumed.id != second.id
    assert history(store, killed.id, "loss") == [(1, 1.0), (2, 2.0)]
    assert [status(store, run.id) for run in (killed, second)] == ["FINISHED", "FINISHED"]


def test_a_run_lists_its_metrics_with_the_score_first(store: Store) -> None:
    """MLflow's page of a run lists metrics as they were first stored."""
    with store.start_run("thirty_one", "ppo") as run:
        row = {"win_rate/greedy": 0.6, "train/grad_norm": 0.1, "usage/cpu_seconds": 3.0, "train/return": 0.5}
        run.log_metrics(row, 1)
        run.log_metrics(row | {"score/mean": 0.2}, 2)
    shown = [metric.key for metric in store.client.get_run(run.id).to_proto().data.metrics]
    assert shown == ["score/mean", "train/return", "usage/cpu_seconds", "win_rate/greedy", "train/grad_norm"]
