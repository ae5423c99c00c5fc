"""A store's file that is deleted, truncated or overwritten during a run: the run is never taken for complete."""

import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from cardlab.tracking import Store
from failures.children import Child
from failures.test_killed_training import TRAIN


def delete(file: Path, _: Path) -> None:
    for part in file.parent.glob(f"{file.name}*"):
        part.unlink()


def replace(file: Path, other: Path) -> None:
    shutil.copyfile(other, file.with_name("other.db"))
    file.with_name("other.db").replace(file)


def empty(file: Path, _: Path) -> None:
    os.truncate(file, 0)


def halve(file: Path, _: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def scramble(file: Path, _: Path) -> None:
    file.write_bytes(os.urandom(100_000))


def drop_log(file: Path, _: Path) -> None:
    Path(f"{file}-wal").unlink()


def cut_log(file: Path, _: Path) -> None:
    os.truncate(f"{file}-wal", 0)


DAMAGE = [delete, replace, empty, halve, scramble, drop_log, cut_log]


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_store_is_reported(
    store: Store,
    fresh_database: Path,
    damage: Callable[[Path, Path], None],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if damage is cut_log:  # looks as if it could come back
        monkeypatch.setattr("cardlab.tracking.run._SECONDS_AT_END", 2.0)
    run = store.start_run("thirty_one", "run", params={"seed": 1})
    run.log_metrics({"loss": 1.0}, 0)
    assert run.flush()
    damage(store.root / "mlflow.db", fresh_database)
    run.log_metrics({"loss": 0.5}, 1)
    began = time.monotonic()
    run.finish()
    assert not run.complete
    assert "its record in the store is incomplete" in caplog.text
    assert time.monotonic() - began < 20, "it does not wait for what cannot come back"


def test_an_undamaged_store_is_not_reported(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    """Also while another process writes to it."""
    run, other = store.start_run("thirty_one", "run"), store.start_run("thirty_one", "other")
    run.log_metrics({"loss": 1.0}, 0)
    with closing(sqlite3.connect(store.root / "mlflow.db")) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM metrics").fetchone()
        run.finish()
    other.finish()
    assert run.complete
    assert other.complete
    assert not caplog.text


@pytest.mark.slow
@pytest.mark.parametrize("damage", [delete, halve, scramble, drop_log])
def test_a_training_whose_store_is_damaged_fails(
    fresh_database: Path, tmp_path: Path, damage: Callable[[Path, Path], None]
) -> None:
    root, log = tmp_path / "project", tmp_path / "log"
    root.mkdir()
    shutil.copyfile(fresh_database, root / "mlflow.db")
    child = Child(root, [*TRAIN, "trainer.checkpoint_seconds=0"], log=log, halt_at="squares: iteration ")
    child.wait_until_halted()
    damage(root / "mlflow.db", fresh_database)
    child.resume()
    assert child.wait() == 1
    assert "the store has not received all of it" in log.read_text()
    assert next(root.glob("runs/squares/*/policy/weights.safetensors")).stat().st_size, "the training itself is done"
