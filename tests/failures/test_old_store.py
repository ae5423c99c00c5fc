"""A store that another version of MLflow wrote is refused unchanged, and reading writes nothing."""

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from cardlab.cli import main
from cardlab.tracking import Store, TrackingUnavailable
from cardlab.tracking.connection import sqlite_address

OLD = "bda7b8c39065"  # a schema of an earlier MLflow 3


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with the store of an older MLflow, which has one run."""
    from alembic import command  # noqa: PLC0415
    from mlflow.store.db.utils import _get_alembic_config  # noqa: PLC0415
    from mlflow.store.tracking.dbmodels.initial_models import Base  # noqa: PLC0415

    file = tmp_path / "mlflow.db"
    engine = create_engine(sqlite_address(file))
    Base.metadata.create_all(engine)
    config = _get_alembic_config(sqlite_address(file))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, OLD)
    engine.dispose()
    with closing(sqlite3.connect(file)) as connection, connection:
        location = (tmp_path / "mlartifacts" / "big2").as_uri()
        connection.execute("INSERT INTO experiments VALUES (7, 'big2', ?, 'active', 1, 1)", (location,))
        connection.execute(
            "INSERT INTO runs (run_uuid, name, user_id, status, start_time, lifecycle_stage, experiment_id,"
            " artifact_uri)"
            " VALUES (?, 'from before', 'me', 'FINISHED', 1, 'active', 7, ?)",
            ("a" * 32, f"{location}/{'a' * 32}/artifacts"),
        )
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    return file


@pytest.mark.parametrize("version", [OLD, "ffffffffffff"])
def test_it_is_refused_and_unchanged(old: Path, version: str, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(sqlite3.connect(old)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", (version,))
    before = hashlib.sha256(old.read_bytes()).hexdigest()
    with pytest.raises(TrackingUnavailable, match=rf"found version {version}.* backup .* 'mlflow db upgrade"):
        Store().start_run("big2", "new")
    assert main(["runs", "kind=all"]) == 1
    assert "then run 'mlflow db upgrade" in capsys.readouterr().err
    assert hashlib.sha256(old.read_bytes()).hexdigest() == before
    assert [path.name for path in old.parent.iterdir()] == [old.name]


def test_after_the_upgrade_of_mlflow_it_has_its_runs(old: Path) -> None:
    from mlflow.store.db.utils import _upgrade_db  # noqa: PLC0415  as `mlflow db upgrade` does

    _upgrade_db(create_engine(sqlite_address(old)))
    with Store().start_run("big2", "new"):
        pass
    assert {run.info.run_name for _, run in Store().search_runs()} == {"from before", "new"}


def test_reading_makes_no_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    assert main(["runs"]) == 0
    assert "no runs in" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_listing_writes_nothing(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    """Not even that a run was killed, which it shows."""
    killed = store.start_run("thirty_one", "killed", tags={"kind": "training"})
    host, pid, _ = store.client.get_run(killed.id).data.tags["process"].rsplit(":", 2)
    store.client.set_tag(killed.id, "process", f"{host}:{pid}:1")  # a process that had this number before
    assert main(["runs"]) == 0
    assert " killed " in capsys.readouterr().out.splitlines()[1].removeprefix("killed")
    assert store.client.get_run(killed.id).info.status == "RUNNING"
    store.mark_killed()
    assert store.client.get_run(killed.id).info.status == "KILLED"
