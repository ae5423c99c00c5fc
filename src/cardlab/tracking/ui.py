"""MLflow's own pages on this project's store."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

from cardlab.core.options import check_whole
from cardlab.core.sockets import connect_host, open_listener, url_host
from cardlab.tracking.client import quiet_environment
from cardlab.tracking.store import Store

# MLflow opens on its pages for language models; this is the view that compares training runs.
_COMPARE = "#/experiments/{id}/runs?workflowType=machine_learning&compareRunsMode=CHART"
_Process = subprocess.Popen[bytes]


def serve(store: Store, host: str = "127.0.0.1", port: int = 5000, tell: Callable[[str], None] = print) -> int:
    """Serve the UI until Ctrl-C or SIGTERM and print the links to compare runs; the exit status.

    A store that is a server has its own pages: only the links are printed. Raises InvalidOption for a port that is
    taken or a host that is not this machine's, and TrackingUnavailable.
    """
    remote = store.address.startswith("http")
    if not remote:
        check_free(host, port)
    store.check()  # before anything starts
    store.mark_killed()
    base = store.address.rstrip("/") if remote else f"http://{url_host(host)}:{port}"
    lines = [f"MLflow UI on {base}{'' if remote else ' (Ctrl-C ends it)'}"]
    lines += [f"compare the runs of {name}: {link}" for name, link in compare_links(store, base)]
    if remote:
        tell("\n".join(lines))
        return 0
    log = store.root / "runs" / "tracking" / "ui.log"
    stopped: list[int] = []
    try:
        with _server(store, host, port, log, stopped) as process:
            if _answers(process, host, port):
                tell("\n".join(lines))
            status = process.wait()
    except KeyboardInterrupt:
        return 0
    if stopped:
        return 0
    tell(f"the MLflow server exited; its last messages are in {log}")
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
    check_whole("port", port, 1, 65535)
    open_listener(host, port).close()


@contextmanager
def _server(store: Store, host: str, port: int, log: Path, stopped: list[int]) -> Generator[_Process]:
    """MLflow's server, for as long as the block lasts; SIGTERM, as of a service, ends it and is added to `stopped`."""
    process: _Process | None = None

    def stop(number: int, _: object) -> None:  # raises nothing: that could lose the process being started
        stopped.append(number)
        if process is not None:
            process.terminate()

    quiet_environment()
    environment = os.environ | {  # the address is not in the command, which every user of the machine can read
        "MLFLOW_BACKEND_STORE_URI": store.address,
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        "MLFLOW_LOGGING_LEVEL": "ERROR",
    }
    where = ["--host", host, "--port", str(port), "--artifacts-destination", str(store.root / "mlartifacts")]
    command = [sys.executable, "-m", "mlflow", "server", *where, "--workers", "1"]
    log.parent.mkdir(parents=True, exist_ok=True)
    before = signal.signal(signal.SIGTERM, stop)
    try:
        with log.open("wb") as sink:
            options = ["--uvicorn-opts", "--log-level warning"]
            process = subprocess.Popen([*command, *options], env=environment, cwd=store.root, stdout=sink, stderr=sink)
        if stopped:
            process.terminate()
        yield process
    finally:
        if process is not None:
            process.terminate()
            process.wait()
        signal.signal(signal.SIGTERM, before)


def _answers(process: _Process, host: str, port: int) -> bool:
    """Wait until the server listens, however slow the machine; False when it has exited."""
    while process.poll() is None:
        try:
            with socket.create_connection((connect_host(host), port), timeout=1.0):
                return True
        except OSError:
            time.sleep(0.2)
    return False
