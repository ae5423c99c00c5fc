"""A store that dies and comes back in the middle of a run costs one warning, no metric and no training."""

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from cardlab.tracking import Run, Store, TrackingUnavailable
from cardlab.tracking import run as run_module
from postgresql import Server
from services import free_port

STEPS = 60


@pytest.fixture
def always_send(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each round is sent at once, and a store that was away is asked again at the next."""
    monkeypatch.setattr(run_module, "_SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr(run_module, "_SECONDS_AFTER_FAILURE", 0.0)


def log_rounds(run: Run, first: int, last: int) -> None:
    for step in range(first, last):
        run.log_metrics({"loss": float(step), "decisions": 512.0 * step}, step)


def check_all_there(client: Any, run_id: str) -> None:
    for name, scale in {"loss": 1.0, "decisions": 512.0}.items():
        found = sorted((metric.step, metric.value) for metric in client.get_metric_history(run_id, name))
        assert found == [(step, scale * step) for step in range(STEPS)]
    assert client.get_run(run_id).info.status == "FINISHED"


@contextmanager
def mlflow_server(root: Path, port: int) -> Iterator[None]:
    """A real tracking server, which answers; it is killed with -9, with all its workers."""
    where = ["--host", "127.0.0.1", "--port", str(port), "--backend-store-uri", f"sqlite:///{root}/mlflow.db"]
    command = [sys.executable, "-m", "mlflow", "server", *where, "--workers", "1", "--artifacts-destination"]
    log = root / "server.log"
    environment = os.environ | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}
    with log.open("ab") as sink:
        process = subprocess.Popen(
            [*command, str(root / "files")], stdout=sink, stderr=sink, env=environment, cwd=root, start_new_session=True
        )
    try:
        client = Store(f"http://127.0.0.1:{port}", root / "client").client
        for _ in range(600):
            try:
                client.search_experiments(max_results=1)
                break
            except Exception:
                assert process.poll() is None, log.read_text()
                time.sleep(0.2)
        else:
            pytest.fail(log.read_text())
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.slow
@pytest.mark.usefixtures("always_send")
def test_a_server_killed_and_started_again(root: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    port = free_port()
    with mlflow_server(root, port):
        store = Store(f"http://127.0.0.1:{port}", tmp_path / "client")
        run = store.start_run("thirty_one", "ppo", params={"seed": 1})
        log_rounds(run, 0, 20)
    began = time.monotonic()
    log_rounds(run, 20, 40)
    run.log_text("written while it was away", "note.txt")
    assert time.monotonic() - began < 60, "twenty rounds without a server, each of which asks for it"
    with mlflow_server(root, port):
        log_rounds(run, 40, STEPS)
        run.finish()
        check_all_there(store.client, run.id)
        path = store.client.download_artifacts(run.id, "note.txt", str(tmp_path))
        assert Path(path).read_text() == "written while it was away"
    warnings = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(warnings) == 1, warnings
    assert "kept and sent later" in warnings[0]


@pytest.mark.usefixtures("always_send")
def test_postgresql_away_for_a_while(
    postgresql: str, postgresql_server: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    database = postgresql.rpartition("/")[2]
    store = Store(postgresql, tmp_path)
    run = store.start_run("thirty_one", "ppo", params={"seed": 1})
    log_rounds(run, 0, 20)
    postgresql_server.execute(f"ALTER DATABASE {database} ALLOW_CONNECTIONS false")
    postgresql_server.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'")
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(postgresql)
    log_rounds(run, 20, 40)
    with pytest.raises(TrackingUnavailable, match=r"not currently accepting connections") as raised:
        Store(postgresql, tmp_path).start_run("thirty_one", "another")
    assert "\n" not in str(raised.value)
    postgresql_server.execute(f"ALTER DATABASE {database} ALLOW_CONNECTIONS true")
    log_rounds(run, 40, STEPS)
    run.finish()
    check_all_there(store.client, run.id)
    warnings = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(warnings) == 1, warnings
    assert "kept and sent later" in warnings[0]
