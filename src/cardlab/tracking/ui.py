"""MLflow's own pages on this project's store."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cardlab.core.options import check_range
from cardlab.core.sockets import in_url, listener, reached_at
from cardlab.tracking.client import quiet_environment
from cardlab.tracking.store import Store

# MLflow opens on its pages for language models; this is the view that compares training runs.
_COMPARE = "#/experiments/{id}/runs?workflowType=machine_learning&compareRunsMode=CHART"


def serve(store: Store, host: str = "127.0.0.1", port: int = 5000, tell: Callable[[str], None] = print) -> int:
    """Serve the UI until Ctrl-C or SIGTERM and tell the links to compare runs; the exit status.

    A store that is a server has its own pages: only the links are told. Raises InvalidOption for a port that is taken
    or a host that is not this machine's, and TrackingUnavailable.
    """
    elsewhere = store.address.startswith("http")
    if not elsewhere:
        check_free(host, port)
    store.check()  # before anything starts
    store.send_leftovers()
    if elsewhere:
        _tell_links(store, store.address.rstrip("/"), tell)
        return 0
    base = f"http://{in_url(host)}:{port}"
    log = store.root / "runs" / "tracking" / "ui.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    server = _Server(_command(store, host, port), _environment(store), store.root, log)
    try:
        with server.running() as process:
            if _answers(process, host, port):
                _tell_links(store, base, tell)
            status = process.wait()
    except KeyboardInterrupt:
        return 0
    if server.terminated:
        return 0
    tell(f"the MLflow server ended by itself; its last words are in {log}")
    return status


def compare_links(store: Store, base: str) -> Iterator[tuple[str, str]]:
    """(experiment, address of the view that compares its runs), for every experiment that has runs."""
    with store.asked():
        experiments = store.client.search_experiments()
        used = [one for one in experiments if store.client.search_runs([one.experiment_id], max_results=1)]
    for experiment in used:
        yield experiment.name, f"{base}/{_COMPARE.format(id=experiment.experiment_id)}"


def check_free(host: str, port: int) -> None:
    """Raise InvalidOption unless a server can listen there."""
    check_range("port", port, 1, 65535, whole=True)
    listener(host, port).close()


@dataclass
class _Server:
    """MLflow's server in a process of its own, which ends with this one: at Ctrl-C, and at the SIGTERM of a service."""

    command: list[str]
    environment: Mapping[str, str]
    folder: Path
    log: Path
    terminated: bool = False

    @contextmanager
    def running(self) -> Generator["subprocess.Popen[bytes]"]:
        """The process, for as long as the block lasts; after SIGTERM it ends, and `terminated` says so."""
        process: subprocess.Popen[bytes] | None = None

        def terminate(*_: object) -> None:
            self.terminated = True
            if process is not None:
                process.terminate()

        before = signal.signal(signal.SIGTERM, terminate)  # raises nothing: that could lose the process being started
        try:
            with self.log.open("wb") as sink:
                process = subprocess.Popen(
                    self.command, env=self.environment, cwd=self.folder, stdout=sink, stderr=sink
                )
            if self.terminated:
                process.terminate()
            yield process
        finally:
            if process is not None:
                process.terminate()
                process.wait()
            signal.signal(signal.SIGTERM, before)


def _tell_links(store: Store, base: str, tell: Callable[[str], None]) -> None:
    ends = "" if store.address.startswith("http") else " (Ctrl-C ends it)"
    tell(f"MLflow UI on {base}{ends}")
    for name, link in compare_links(store, base):
        tell(f"compare the runs of {name}: {link}")


def _command(store: Store, host: str, port: int) -> list[str]:
    where = ["--host", host, "--port", str(port), "--artifacts-destination", str(store.root / "mlartifacts")]
    how = ["--workers", "1", "--uvicorn-opts", "--log-level warning"]
    return [sys.executable, "-m", "mlflow", "server", *where, *how]


def _environment(store: Store) -> dict[str, str]:
    """The address goes here, not into the command, which every user of the machine can read."""
    quiet_environment()
    return os.environ | {
        "MLFLOW_BACKEND_STORE_URI": store.address,
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        "MLFLOW_LOGGING_LEVEL": "ERROR",
    }


def _answers(process: "subprocess.Popen[bytes]", host: str, port: int) -> bool:
    """Wait until the server listens, however slow the machine; False when it has ended."""
    while process.poll() is None:
        try:
            with socket.create_connection((reached_at(host), port), timeout=1.0):
                return True
        except OSError:
            time.sleep(0.2)
    return False
