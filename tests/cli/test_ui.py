"""The real server on the real store, asked as a browser asks it."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from cardlab.cli.ui import compare_links, serve, sweep_link
from cardlab.core.messages import InvalidOption
from cardlab.tracking import Store
from cardlab.tracking.lineage import DIGEST
from cardlab.tracking.policy_lookup import RUN_PATH, print_run
from services import free_port

SERVE = """
import signal, sys
from cardlab.cli import ui
from cardlab.core.exit_status import run_program
from cardlab.tracking import Store
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore Ctrl-C
sys.exit(run_program(lambda: ui.serve(Store(), port=int(sys.argv[1]))))
"""


NO_STORE = Store("sqlite:////proc/x/mlflow.db")


def test_a_used_port_is_one_line_with_a_free_one() -> None:
    with socket.socket() as used:
        used.bind(("127.0.0.1", 0))
        used.listen()
        port = used.getsockname()[1]
        with pytest.raises(InvalidOption, match=rf"^port={port}: must be free on 127.0.0.1 .*, e.g. port=\d+$"):
            serve(NO_STORE, port=port)
    with pytest.raises(InvalidOption, match="port=0"):
        serve(NO_STORE, port=0)


@pytest.mark.parametrize("host", ["no.such.host.invalid", "192.0.2.1", "a" * 80 + ".invalid"])
def test_a_host_that_is_not_this_machine_is_one_line(host: str) -> None:
    with pytest.raises(InvalidOption, match=rf"^host={host}: must be an address of this machine \("):
        serve(NO_STORE, host)


def test_links_lead_to_the_compare_view_of_experiments_with_trainings(store: Store) -> None:
    store.experiment_id("empty")
    store.start_run("big2", "registration", tags={"kind": "registration"}).finish()
    store.start_run("thirty_one", "ppo", tags={"kind": "training"}).finish()
    number = store.experiment_id("thirty_one")
    assert list(compare_links(store, "http://host:1")) == [
        (
            "thirty_one",
            f"http://host:1/#/experiments/{number}/runs?workflowType=machine_learning&compareRunsMode=CHART"
            "&viewStateShareKey=cardlab",
        )
    ]


def test_the_game_that_was_trained_last_has_the_first_link(store: Store) -> None:
    for game in ("big2", "thirty_one", "big2"):
        store.start_run(game, "ppo", tags={"kind": "training"}).finish()
        time.sleep(0.01)  # start times are in milliseconds
    assert [name for name, _ in compare_links(store, "http://host:1")] == ["big2", "thirty_one"]


def test_a_game_with_trainings_of_its_champion_alone_has_no_link_beside_those_of_the_user(store: Store) -> None:
    store.start_run("five_o", "champion", tags={"kind": "training", "restored_from": "0"}).finish()
    assert [name for name, _ in compare_links(store, "http://host:1")] == ["five_o"]
    store.start_run("big2", "ppo", tags={"kind": "training"}).finish()
    assert [name for name, _ in compare_links(store, "http://host:1")] == ["big2"]


def test_the_newest_sweep_has_a_link(store: Store) -> None:
    assert sweep_link(store, "http://host:1") is None
    for name in ("first", "second"):
        with store.start_run("thirty_one", name, tags={"kind": "sweep"}) as run:
            time.sleep(0.01)  # start times are in milliseconds
    page = f"#/experiments/{store.experiment_id('thirty_one')}/runs/{run.id}?workflowType=machine_learning"
    assert sweep_link(store, "http://host:1") == ("second", f"http://host:1/{page}")


def test_a_run_is_printed_with_its_page(
    store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with store.start_run("thirty_one", "ppo", tags={"kind": "training"}) as run:
        page = f"/#/experiments/{store.experiment_id('thirty_one')}/runs/{run.id}?workflowType=machine_learning"
    print_run(store, "tags.kind = 'training'")
    assert capsys.readouterr().out == f"run:    {run.id} (training), http://127.0.0.1:5000{page} (by cardlab ui)\n"
    monkeypatch.setattr(store, "address", "https://me:secret@host/mlflow/")
    print_run(store, f"attributes.run_id = '{run.id}'", ", recorded before")
    assert capsys.readouterr().out == f"run:    {run.id} (training, recorded before), https://host/mlflow{page}\n"


@pytest.mark.slow
@pytest.mark.parametrize(("project", "registered"), [("", "big2, five_o, "), ("conf", "thirty_one\n")])
def test_the_server_shows_the_runs_and_ends_on_interrupt(
    store: Store, tmp_path: Path, project: str, registered: str
) -> None:
    """In a project of one's own it registers the champions of the games that were trained there."""
    with store.start_run("thirty_one", "ppo", tags={"kind": "training"}) as run:
        run.log_text("hello", "notes/hello.txt")
        run.set_tags({DIGEST: "0123abcd"})
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / project).mkdir(parents=True)
    command = [sys.executable, "-u", "-c", SERVE, str(port)]
    server = subprocess.Popen(
        command, cwd=elsewhere, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    assert server.stdout is not None
    try:
        assert server.stdout.readline() == f"MLflow UI on {base} (Ctrl-C stops the server)\n"
        assert server.stdout.readline().startswith(f"registered the champions of {registered}")
        assert server.stdout.readline().startswith("open one of these pages")
        assert "viewStateShareKey=cardlab" in server.stdout.readline()
        assert "<html" in get(f"{base}/").lower()
        assert get(f"{base}/get-artifact?path=notes/hello.txt&run_id={run.id}") == "hello"
        with urllib.request.urlopen(f"{base}{RUN_PATH}0123abcd", timeout=20) as answer:
            number = store.experiment_id("thirty_one")
            assert answer.url == f"{base}/#/experiments/{number}/runs/{run.id}?workflowType=machine_learning"
        for unknown in ("0123abce", "%25"):  # a pattern that matches every digest is none
            with pytest.raises(urllib.error.HTTPError, match="404"):
                get(f"{base}{RUN_PATH}{unknown}")
        remote = Store(base, tmp_path / "other")
        with remote.start_run("thirty_one", "over http", params={"seed": 1}) as over:
            over.log_metrics({"loss": 1.0}, 0)
            over.log_text("far", "far.txt")
        assert store.client.get_run(over.id).data.metrics == {"loss": 1.0}
    finally:
        os.killpg(server.pid, signal.SIGINT)
        *pages, last = server.stdout.read().splitlines()  # communicate() would lose what readline() has buffered
    assert server.wait(timeout=30) == 130, last
    assert all(line.startswith("compare the trainings of ") for line in pages), pages
    assert last == "cardlab: interrupted"
    assert is_free(port)


@pytest.mark.parametrize("moment", ["starting", pytest.param("serving", marks=pytest.mark.slow)])
def test_sigterm_ends_the_server_too(store: Store, moment: str) -> None:
    port = free_port()
    server = subprocess.Popen([sys.executable, "-u", "-c", SERVE, str(port)], stdout=subprocess.PIPE, text=True)
    if moment == "serving":
        assert server.stdout is not None
        assert "MLflow UI on" in server.stdout.readline()
    else:
        while is_free(port):
            assert server.poll() is None
            time.sleep(0.01)
    server.terminate()
    server.communicate(timeout=300)
    assert server.returncode == 143
    assert is_free(port)


@pytest.mark.slow
def test_beyond_loopback_it_warns_and_accepts_named_hosts_only(store: Store) -> None:
    port = free_port()
    program = SERVE.replace("port=int(sys.argv[1])", "'0.0.0.0', int(sys.argv[1]), allowed_hosts=['its.name']")
    command, pipe = [sys.executable, "-u", "-c", program, str(port)], subprocess.PIPE
    server = subprocess.Popen(command, stdout=pipe, stderr=subprocess.STDOUT, text=True)
    try:
        assert server.stdout is not None
        assert server.stdout.readline().startswith("warning: host=0.0.0.0: all who reach this port can read and delete")
        assert server.stdout.readline().startswith("MLflow UI on http://127.0.0.1")
        for host, status in (("its.name", 200), (f"its.name:{port}", 200), ("localhost", 200), ("evil.name", 403)):
            assert status_of(f"http://127.0.0.1:{port}/", host) == status
    finally:
        server.terminate()
        server.communicate(timeout=300)


def status_of(address: str, host: str) -> int:
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers={"Host": host}), timeout=30) as reply:
            return reply.status
    except urllib.error.HTTPError as error:
        return error.code


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def get(address: str) -> str:
    with urllib.request.urlopen(address, timeout=20) as answer:
        return answer.read().decode()
