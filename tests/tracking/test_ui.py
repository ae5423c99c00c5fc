"""The real server on the real store, asked as a browser asks it."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from cardlab.core.options import InvalidOption
from cardlab.tracking import Store
from cardlab.tracking.ui import check_free, compare_links
from services import free_port

SERVE = """
import signal, sys
from cardlab.tracking import Store, ui
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs are started deaf to Ctrl-C
sys.exit(ui.serve(Store(), port=int(sys.argv[1])))
"""


def test_a_taken_port_is_one_line_with_a_free_one(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InvalidOption, match=rf"^port={port}: must be free on 127.0.0.1 .*, e.g. port=\d+$"):
            check_free("127.0.0.1", port)
    check_free("127.0.0.1", port)
    with pytest.raises(InvalidOption, match="port=0"):
        check_free("127.0.0.1", 0)


@pytest.mark.parametrize("host", ["no.such.host.invalid", "192.0.2.1", "a" * 80 + ".invalid"])
def test_a_host_that_is_not_this_machine_is_one_line(host: str) -> None:
    with pytest.raises(InvalidOption, match=rf"^host={host}: must be an address of this machine \("):
        check_free(host, 5000)


def test_links_lead_to_the_compare_view_of_experiments_with_runs(store: Store) -> None:
    store.experiment_id("empty")
    store.start_run("thirty_one", "ppo").finish()
    number = store.experiment_id("thirty_one")
    assert list(compare_links(store, "http://host:1")) == [
        (
            "thirty_one",
            f"http://host:1/#/experiments/{number}/runs?workflowType=machine_learning&compareRunsMode=CHART",
        )
    ]


def test_the_server_shows_the_runs_and_ends_on_interrupt(store: Store, tmp_path: Path) -> None:
    with store.start_run("thirty_one", "ppo") as run:
        run.log_text("hello", "notes/hello.txt")
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    command = [sys.executable, "-u", "-c", SERVE, str(port)]
    server = subprocess.Popen(
        command, cwd=elsewhere, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == f"MLflow UI on {base} (Ctrl-C ends it)\n"
        assert "compareRunsMode=CHART" in server.stdout.readline()
        assert "<html" in get(f"{base}/").lower()
        assert get(f"{base}/get-artifact?path=notes/hello.txt&run_id={run.id}") == "hello"
        remote = Store(base, tmp_path / "other")
        with remote.start_run("thirty_one", "over http", params={"seed": 1}) as over:
            over.log_metrics({"loss": 1.0}, 0)
            over.log_text("far", "far.txt")
        assert store.client.get_run(over.id).data.metrics == {"loss": 1.0}
    finally:
        os.killpg(server.pid, signal.SIGINT)
        output = server.communicate(timeout=30)[0]
    assert server.returncode == 0, output
    assert output == ""
    time.sleep(0.1)
    check_free("127.0.0.1", port)


@pytest.mark.parametrize("moment", ["at once", "serving"])
def test_sigterm_ends_the_server_too(store: Store, moment: str) -> None:
    """A service manager tells the one process that it knows; no server may stay on the port."""
    port = free_port()
    server = subprocess.Popen([sys.executable, "-u", "-c", SERVE, str(port)], stdout=subprocess.PIPE, text=True)
    if moment == "serving":
        assert server.stdout is not None
        assert "MLflow UI on" in server.stdout.readline()
    else:
        while not is_served_by(server.pid):
            assert server.poll() is None
            time.sleep(0.01)
    started = children(server.pid)
    assert is_served_by(server.pid)
    server.terminate()
    server.communicate(timeout=300)
    assert server.returncode == 0
    assert not [process for process in started if is_alive(process)]
    check_free("127.0.0.1", port)


def children(process: int) -> list[int]:
    """Its children and theirs."""
    listed = read(process, f"task/{process}/children")
    found = [int(number) for number in listed.split()]
    return found + [inner for number in found for inner in children(number)]


def is_served_by(process: int) -> bool:
    return any("mlflow" in read(child, "cmdline") for child in children(process))


def is_alive(process: int) -> bool:
    return "(zombie)" not in read(process, "status", gone="(zombie)")


def read(process: int, name: str, gone: str = "") -> str:
    """What the kernel tells of a process."""
    try:
        return Path(f"/proc/{process}/{name}").read_text()
    except OSError:
        return gone


def get(address: str) -> str:
    with urllib.request.urlopen(address, timeout=20) as answer:
        return answer.read().decode()
