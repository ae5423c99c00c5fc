"""Where the store is, and how it is made when several processes come first."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from cardlab.agents.policy_descriptions import policy_digest
from cardlab.core.messages import InvalidOption, without_password
from cardlab.games.make_game import game_data, make_game
from cardlab.tracking import Store, TrackingUnavailable
from cardlab.tracking.connection import project_root
from cardlab.tracking.experiment_tags import update_experiments
from cardlab.tracking.policy_lookup import deleted_policies
from cardlab.tracking.policy_models import PolicyToLog
from cardlab.tracking.registry import Registry
from failures.children import Child
from stores import untrained_policy
from tracking.child_runs import die_making_a_store, log_together


def test_importing_the_door_does_not_open_it() -> None:
    code = "import sys, cardlab.tracking as t; t.Store('sqlite:////nowhere/x.db'); assert 'mlflow' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def start_together(folder: Path, roots: Sequence[Path]) -> None:
    """One process for each root begins, feeds and ends a run, all at the same moment."""
    go = folder / "go"
    kept = {name: value for name, value in os.environ.items() if name.startswith("MLFLOW_")}
    children = [
        Child(root, [str(go), str(number)], log=folder / f"{number}.log", body=log_together, **kept)
        for number, root in enumerate(roots)
    ]
    time.sleep(0.5)
    go.touch()
    statuses = [child.wait() for child in children]
    printed = [child.log.read_text() for child in children]
    assert statuses == [0] * 4, printed
    assert all(re.fullmatch(r"file operations: \d+\n", text) for text in printed), printed


def check_four_runs(store: Store, artifacts: Path) -> None:
    client = store.client
    experiments = [experiment.name for experiment in client.search_experiments()]
    assert [name for name in experiments if name != "Default"] == ["thirty_one"]
    runs = client.search_runs([store.experiment_id("thirty_one")])
    assert sorted(run.info.run_name for run in runs) == ["0", "1", "2", "3"]
    assert {run.info.status for run in runs} == {"FINISHED"}
    for run in runs:
        assert len(client.get_metric_history(run.info.run_id, "loss")) == 20
        assert run.info.artifact_uri.startswith(f"{artifacts.as_uri()}/thirty_one/")


def test_four_processes_make_one_fresh_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    start_together(tmp_path, [tmp_path] * 4)
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    check_four_runs(Store(), tmp_path / "mlartifacts")
    with closing(sqlite3.connect(tmp_path / "mlflow.db")) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.parametrize("moment", ["first tables", "moving"])
def test_a_kill_while_a_fresh_store_is_made_leaves_none_half_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    assert Child(tmp_path, [moment], log=tmp_path / "log", body=die_making_a_store).wait() == -signal.SIGKILL
    assert (tmp_path / "mlflow.db.new").exists()
    assert not (tmp_path / "mlflow.db").exists()
    with Store().start_run("thirty_one", "ppo") as run:
        run.log_metrics({"loss": 1.0}, 0)
    assert Store().client.get_run(run.id).info.status == "FINISHED"
    assert not list(tmp_path.glob("mlflow.db.new*"))


@pytest.mark.parametrize("moment", ["first tables", "migrations"])
def test_a_kill_while_a_fresh_store_is_made_in_postgresql_leaves_a_usable_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgresql: str, moment: str
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", postgresql)
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    child = Child(tmp_path, [moment], log=tmp_path / "log", body=die_making_a_store, MLFLOW_TRACKING_URI=postgresql)
    assert child.wait() == -signal.SIGKILL
    store, policy = Store(), untrained_policy(tmp_path / "squares")
    with store.start_run("poker_squares", "td") as run:
        run.log_metrics({"loss": 1.0}, 0)
        run.log_policy(PolicyToLog(policy, "policy", game_data(make_game("poker_squares"))))
    assert store.client.get_run(run.id).info.status == "FINISHED"
    (model,) = store.client.search_logged_models([store.experiment_id("poker_squares")])
    assert (model.name, model.status) == ("policy", "READY")
    import mlflow  # noqa: PLC0415  after the store has set its environment

    assert mlflow.pyfunc.load_model(f"runs:/{run.id}/policy") is not None
    assert policy_digest(Registry(store).fetch(f"runs:/{run.id}/policy")) == policy_digest(policy)


def test_a_store_that_is_half_made_is_named_with_what_to_do(tmp_path: Path) -> None:
    """As an earlier version of cardlab left it."""
    with closing(sqlite3.connect(tmp_path / "mlflow.db")) as connection:
        connection.execute("CREATE TABLE registered_models (name VARCHAR(256) NOT NULL)")
    with pytest.raises(TrackingUnavailable, match=r"the schema is incomplete.*; move .*/mlflow\.db away$"):
        Store(f"sqlite:///{tmp_path}/mlflow.db", tmp_path).check()


@pytest.mark.usefixtures("root")
def test_telemetry_is_off() -> None:
    code = (
        "from cardlab.tracking import Store\nStore().client\n"
        "from mlflow.telemetry import get_telemetry_client as telemetry\nassert telemetry() is None"
    )
    switches = ("MLFLOW_DISABLE_TELEMETRY", "DO_NOT_TRACK", "CI", "PYTEST_CURRENT_TEST")
    plain = {key: value for key, value in os.environ.items() if key not in switches}
    subprocess.run([sys.executable, "-c", code], check=True, env=plain)


def test_the_store_is_at_the_root_of_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.delenv("DVC_ROOT", raising=False)
    (tmp_path / ".dvc").mkdir()
    (tmp_path / "src" / "deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "src" / "deep")
    assert project_root() == tmp_path
    assert Store().address == f"sqlite:///{tmp_path}/mlflow.db"
    copy = tmp_path / ".dvc" / "tmp" / "exps" / "abc"
    (copy / ".dvc").mkdir(parents=True)
    monkeypatch.chdir(copy)
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    assert Store().address == f"sqlite:///{tmp_path}/mlflow.db"


def test_an_address_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    for address, expected in {
        "sqlite:///other.db": f"sqlite:///{tmp_path}/other.db",
        "sqlite:////data/x.db": "sqlite:////data/x.db",
        "postgresql+psycopg://me:secret@db/mlflow": "postgresql+psycopg://me:secret@db/mlflow",
        "http://tracking:5000": "http://tracking:5000",
    }.items():
        monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
        assert Store().address == expected


@pytest.mark.parametrize("address", ["mlruns", "./mlruns", "file:///tmp/mlruns", "/tmp/mlruns", "ftp://x/y"])
def test_a_folder_is_no_store(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
    with pytest.raises(InvalidOption, match=r"^MLFLOW_TRACKING_URI=.*: must be the address of a database"):
        Store()


def test_a_store_that_cannot_be_reached_is_one_line_without_the_password(tmp_path: Path) -> None:
    store = Store("http://me:secret@127.0.0.1:9", tmp_path)
    with pytest.raises(TrackingUnavailable) as raised:
        store.start_run("thirty_one", "ppo")
    assert "\n" not in str(raised.value)
    assert "secret" not in str(raised.value)
    assert "me:…@127.0.0.1:9" in str(raised.value)
    assert without_password("sqlite:////a/b.db") == "sqlite:////a/b.db"


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "mlflow.db").write_text("not a database, but long enough to be read as one" * 10)
    with pytest.raises(TrackingUnavailable, match=r"mlflow\.db: .*file is not a database"):
        Store(f"sqlite:///{tmp_path}/mlflow.db", tmp_path).start_run("thirty_one", "ppo")


def test_a_run_of_dvc_exp_is_found_by_the_name_of_the_experiment(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DVC_EXP_NAME", "brown-cow")
    run = store.start_run("thirty_one", "duel · seed 7")
    ((_, found),) = store.search_runs("attributes.run_name LIKE '%brown-cow%'")
    assert (found.info.run_id, found.info.run_name) == (run.id, "duel · seed 7 · brown-cow")
    trial = store.start_run("thirty_one", "trial 0", tags={"mlflow.runName": "trial 0"})
    assert store.client.get_run(trial.id).info.run_name == "trial 0"


def test_trials_stand_under_their_parent(store: Store) -> None:
    study = store.start_run("thirty_one", "study")
    trial = store.start_run("thirty_one", "trial 0", parent=study.id)
    trial.finish()
    study.finish()
    assert store.client.get_run(trial.id).data.tags["mlflow.parentRunId"] == study.id


def test_artifacts_lie_beside_the_database(store: Store, tmp_path: Path) -> None:
    with store.start_run("a name with spaces", "run") as run:
        run.log_text("x", "note.txt")
    assert len(list((tmp_path / "mlartifacts" / "a name with spaces").rglob("note.txt"))) == 1


def test_all_deleted_runs_are_seen(store: Store) -> None:
    experiment, ids = store.experiment_id("thirty_one"), [f"{number:032x}" for number in range(1001)]
    assert store.file is not None
    with closing(sqlite3.connect(store.file)) as connection, connection:
        connection.executemany(
            "INSERT INTO runs (run_uuid, name, user_id, status, start_time, lifecycle_stage, experiment_id,"
            " artifact_uri) VALUES (?, 'run', 'me', 'FINISHED', 1, 'deleted', ?, 'x')",
            [(run, experiment) for run in ids],
        )
        connection.executemany("INSERT INTO tags VALUES ('kind', 'training', ?)", [(run,) for run in ids])
        connection.executemany("INSERT INTO tags VALUES ('policy.digest', ?, ?)", [(run, run) for run in ids])
    assert deleted_policies(store) == set(ids)


def test_a_deleted_experiment_comes_back(store: Store) -> None:
    store.client.delete_experiment(store.experiment_id("thirty_one"))
    with store.start_run("thirty_one", "ppo") as run:
        pass
    assert store.client.get_run(run.id).info.status == "FINISHED"


def test_an_experiment_says_what_its_scores_mean_and_opens_on_its_trainings(store: Store) -> None:
    """Also one of an earlier version; what a user wrote stays, and MLflow's empty `Default` goes."""
    client = store.client
    assert client.search_experiments() == []
    client.restore_experiment("0")
    new, old = store.experiment_id("thirty_one"), client.create_experiment("big2", tags={"mlflow.note.content": "mine"})
    other = client.create_experiment("of others", tags={"mlflow.experimentKind": "genai_development"})
    update_experiments(client, is_own=False)
    assert "Default" in {one.name for one in client.search_experiments()}
    update_experiments(client)
    assert {one.name for one in client.search_experiments()} == {"thirty_one", "big2", "of others"}
    assert client.get_experiment(other).tags == {"mlflow.experimentKind": "genai_development"}
    tags = [client.get_experiment(number).tags for number in (new, old)]
    assert "0 is as strong as NAME" in tags[0]["mlflow.note.content"]
    assert tags[1]["mlflow.note.content"] == "mine"
    view = json.loads(tags[1]["mlflow.sharedViewState.cardlab"])
    assert view["searchFilter"] == "tags.kind = 'training'"
    assert view["selectedColumns"][0] == "metrics.`score/evaluation`"
    assert view["orderByKey"] != "attributes.start_time", "by which MLflow folds trainings under their parents"


def test_a_locked_store_is_named_with_what_to_do(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cardlab.tracking.connection._TIMEOUT", 0.1)
    with closing(sqlite3.connect(store.root / "mlflow.db")) as writer:
        writer.execute("PRAGMA locking_mode = EXCLUSIVE")
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(TrackingUnavailable, match=r"is locked: another process is writing; stop it, or run the"):
            store.check()
