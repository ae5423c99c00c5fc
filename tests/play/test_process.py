"""`cardlab play` as a process: address, exit and error lines."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cardlab.cli import main
from play_server import TABLE_REQUESTS, ApiClient

COMMAND = [str(Path(sys.executable).with_name("cardlab")), "play", "play.warm=false"]
ROOT = Path(__file__).parents[2]


@contextmanager
def inherited(reaction: signal.Handlers) -> Iterator[None]:
    """Programs that start within the block react so to SIGINT and SIGHUP: `&` in a script and nohup ignore them."""
    before = {number: signal.signal(number, reaction) for number in (signal.SIGINT, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def started(
    folder: Path, *overrides: str, reaction: signal.Handlers = signal.SIG_DFL
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A running program in `folder` and its address. `reaction` as in `inherited`."""
    environment = {**os.environ, "PYTHONFAULTHANDLER": "1"}
    command = [*COMMAND, "play.port=0", *overrides]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with inherited(reaction):
        process = subprocess.Popen(command, cwd=folder, env=environment, text=True, **pipes)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://[\w.:\[\]]+", line)
        assert found, line
        yield process, found[0]
    finally:
        process.kill()
        process.wait()


def errors_at_exit(process: subprocess.Popen[str], seconds: float) -> str:
    """What it prints until it exits; of one that does not, where its threads are."""
    try:
        return process.communicate(timeout=seconds)[1]
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)
        return process.communicate(timeout=seconds)[1]


STOPPED = {signal.SIGTERM: "terminated", signal.SIGHUP: "hung up", signal.SIGINT: "interrupted"}


@pytest.mark.slow
def test_it_exits_cleanly_and_restores_open_tables(tmp_path):
    client, tables = ApiClient(""), []
    for number in (*STOPPED, signal.SIGKILL, None):
        with started(tmp_path) as (process, client.base):
            for table in tables:
                assert client.get(f"/api/tables/{table['id']}") == table
            if number is None:
                break
            table = client.open(TABLE_REQUESTS["big2"])
            tables.append(client.move(table, table["legal"][-1]["action"]))
            process.send_signal(number)
            errors = errors_at_exit(process, 200)
            if number in STOPPED:
                assert (process.returncode, errors) == (128 + number, f"cardlab: {STOPPED[number]}\n")


def test_it_ignores_signals_that_were_ignored_when_it_started(tmp_path):
    with started(tmp_path, reaction=signal.SIG_IGN) as (process, address):
        client = ApiClient(address)
        for number in (signal.SIGHUP, signal.SIGINT):
            client.get("/api/games")
            process.send_signal(number)
            time.sleep(0.5)  # a server that stops closes its port within 0.1 s
        client.get("/api/games")
        process.terminate()
        errors = errors_at_exit(process, 60)
        assert (process.returncode, errors) == (128 + signal.SIGTERM, "cardlab: terminated\n")


_MOMENTS = [0.1, 0.7, 1.3, 2.2, 3.5, 4.8]  # seconds after the address is printed


@pytest.mark.slow
@pytest.mark.parametrize("moment", _MOMENTS)
def test_it_exits_cleanly_during_the_warm_up(tmp_path, moment):
    with started(ROOT, "play.warm=true", f"play.folder={tmp_path}") as (process, _):
        time.sleep(moment)
        process.terminate()
        errors = errors_at_exit(process, 60)
        assert (process.returncode, errors) == (128 + signal.SIGTERM, "cardlab: terminated\n")


@pytest.mark.parametrize(
    ("overrides", "reported"),
    [
        (["play.port={taken}"], r"play\.port={taken}: must be free on 127\.0\.0\.1"),
        (["play.port=70000"], r"play\.port=70000: must be a whole number in \[0, 65535\]"),
        (
            ["play.host=no.such.host.invalid", "play.hosts=[x]"],
            r"play\.host=no\.such\.host\.invalid: must be an address of this machine",
        ),
        (["play.database=nonsense"], r"play\.database=…: must be an address"),
        (["play.host=0.0.0.0"], r"play\.host=0\.0\.0\.0: must be a loopback address .* play\.hosts="),
        (["play.proxies=[nginx]"], r"play\.proxies=nginx: must be addresses or networks"),
        (["play.host=192.0.2.1", "play.hosts=[x]"], r"play\.host=192\.0\.2\.1: must be an address of this machine"),
        (["play.belief.whist=nowhere"], r"play\.belief=whist: must be one of "),
        (["play.limits.tables=0"], r"play\.limits\.tables=0: must be"),
        (["play.prot=1"], r"play\.prot"),
        (["play.advisor=nobody"], r"play\.advisor=nobody: must be one of champion, .*planner.*reflex_1.*random"),
        (
            ["play.searches.monte_carlo=bogus"],
            r"play\.searches\.monte_carlo=bogus: must be a search .*e\.g\. .*one of monte_carlo, ",
        ),
        (["play.searches.tree='tree:simulation:9'"], r"play\.searches\.tree=tree:simulation:9: .*simulation"),
        (["play.searches.tree='tree:simulations:0'"], r"play\.searches\.tree=tree:simulations:0: .*at least 1"),
    ],
)
def test_an_invalid_option_prints_one_line_and_writes_nothing(tmp_path, monkeypatch, capsys, overrides, reported):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("uvicorn.Server.run", lambda *_, **__: pytest.fail("it serves"))
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = str(other.getsockname()[1])
        status = main(["play", *(override.replace("{taken}", taken) for override in overrides)])
    errors = capsys.readouterr().err
    assert status == 2
    assert len(errors.splitlines()) == 1
    assert re.search(reported.replace("{taken}", taken), errors), errors
    assert not os.listdir(tmp_path)


_UNUSED = ("mlflow", "lightning", "ray", "optuna", "torch._dynamo", "torch._inductor")
_MEGABYTES = 635  # half of what the server once took
_PLAY_ALL = """
import json, re, sys
import uvicorn
from cardlab.cli import main
from cardlab_play.advice import advice_message
from cardlab_play.leaderboards import leaderboard_message
from cardlab_play.offered_games import OFFERED_GAMES
from cardlab_play.request_guards import TableRequest

def play(server, sockets):
    dispatcher = server.config.app.app.state.dispatcher
    store = dispatcher.store
    user_id, _ = dispatcher.sessions.create("")
    tables = [store.open(user_id, TableRequest(game=game, practice=True)) for game in OFFERED_GAMES]
    for live in tables:
        advice_message(store.agents, live, None, None)
        leaderboard_message(store.engine, store.agents, live.row.deal.game, user_id)
    highest = re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())  # ru_maxrss is that of the parent too
    print(json.dumps([[live.par.agent for live in tables], list(sys.modules), int(highest[1]) // 1024]))

uvicorn.Server.run = play
main(["play", "play.port=0", "play.warm=false", "play.folder=" + sys.argv[1]])
"""


@pytest.mark.slow
def test_the_server_with_champions_loads_no_package_of_trainings_and_little_memory(tmp_path):
    script = [sys.executable, "-c", _PLAY_ALL, str(tmp_path)]
    for _ in range(2):  # a first run may compile, which takes memory
        printed = subprocess.run(script, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        agents, modules, megabytes = json.loads(printed.splitlines()[-1])
        assert set(agents) == {"champion"}
        assert [name for name in _UNUSED if name in modules] == []
        if megabytes <= _MEGABYTES:
            return
    assert megabytes <= _MEGABYTES
