"""A `python` that starts in no time: what it runs is a fork of a process that has imported the large packages.

Programs of PyTorch, Lightning and MLflow take seconds to start. Tests that start dozens, and whose subject is not the
start, put the folder of `quick_python` first in PATH. The client hands its files, folder, environment and arguments on,
passes signals on, and ends as the fork ends; the fork is killed when the client is. No module of cardlab is imported
beforehand: a clone runs its own code.

As a program: `quick_python.py SOCKET PYTHON` serves until its input ends.
"""

import gc
import importlib
import json
import multiprocessing.process
import multiprocessing.spawn
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

LARGE = (
    "mlflow", "mlflow.store.tracking.sqlalchemy_store", "mlflow.tracking", "optuna", "torch", "torch._dynamo",
    "lightning", "numba", "scipy.stats", "matplotlib.pyplot", "hydra", "omegaconf", "pydantic", "rich.console",
    "dvc.cli", "dvc.commands.repro", "dvc.commands.experiments.run", "dvc.repo", "dvc.repo.experiments", "jinja2",
)  # fmt: skip
CLIENT = """#!{python} -IS
import json, os, signal, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
files = [int(name) for name in os.listdir("/proc/self/fd")]
files = [file for file in files if file != server.fileno() and os.path.lexists(f"/proc/self/fd/{{file}}")]
said = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ), files]).encode()
socket.send_fds(server, [len(said).to_bytes(8, "big")], files)
server.sendall(said)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda number, _: server.send(bytes([number])))
for file in files:
    if file > 2:
        os.close(file)
status = int.from_bytes(server.recv(4), "big", signed=True)
if status < 0:
    if -status != signal.SIGKILL:
        signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
os._exit(status)
"""
FLAGS_WITH_VALUE = ("-X", "-W")


@pytest.fixture(scope="session")
def quick_python(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    """The folder with `python`, and with `cardlab` and `dvc`."""
    folder = tmp_path_factory.mktemp("quick")
    address, python = folder / "socket", folder / "python"
    python.write_text(CLIENT.format(python=sys.executable, address=str(address)))
    for name in ("cardlab", "dvc"):
        (folder / name).write_text(f'#!/bin/sh\nexec "{python}" -m {name} "$@"\n')
    for path in (python, folder / "cardlab", folder / "dvc"):
        path.chmod(0o755)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [sys.executable, "-P", __file__, str(address), str(python)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        assert server.stdout.readline() == b"ready\n"
        yield folder
        server.stdin.close()


@pytest.fixture
def quick_children(quick_python: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What this process starts, and what a `Child` starts, is run by `quick_python`."""
    monkeypatch.setattr(sys, "executable", str(quick_python / "python"))
    monkeypatch.setattr(multiprocessing.spawn, "_python_exe", os.fsencode(quick_python / "python"))


def serve(address: str, python: str) -> None:
    """Fork for each client until the input ends."""
    from cardlab.tracking.connection import quiet_environment  # noqa: PLC0415  before MLflow

    quiet_environment()
    for name in LARGE:
        importlib.import_module(name)
    for name in [name for name in sys.modules if name.partition(".")[0] == "cardlab"]:
        del sys.modules[name]
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(64)
        print("ready", flush=True)
        while listener in select.select([listener, sys.stdin], [], [])[0]:
            client, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                watch(client, python)
            client.close()


def watch(client: socket.socket, python: str) -> None:
    """Run what the client asks for in a fork, forward its signals, and send back the exit status."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    head, files, *_ = socket.recv_fds(client, 8, 250)
    size, said = int.from_bytes(head, "big"), b""
    while len(said) < size:
        said += client.recv(size - len(said))
    arguments, folder, environment, numbers = json.loads(said)
    child = os.fork()
    if child == 0:
        client.close()
        os.setpgid(0, 0)
        place_files(files, numbers)
        run(arguments, folder, environment, python)
    for file in (*files, 0, 1, 2):
        os.close(file)
    ended = os.pidfd_open(child)
    while ended not in (ready := select.select([client, ended], [], [])[0]):
        if client in ready:
            number = client.recv(1)
            os.kill(child, number[0] if number else signal.SIGKILL)
            if not number:
                break
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        client.sendall(status.to_bytes(4, "big", signed=True))
    finally:
        os._exit(0)


def place_files(files: list[int], numbers: list[int]) -> None:
    """Give the files the numbers that they have in the client; first out of the way."""
    above = max(*files, *numbers, 2) + 1
    moved = [os.dup2(file, above + place) for place, file in enumerate(files)]
    for number in range(above):
        if number not in numbers:
            try:
                os.close(number)
            except OSError:
                continue
    for file, number in zip(moved, numbers, strict=True):
        os.dup2(file, number)
        os.close(file)


def run(arguments: list[str], folder: str, environment: dict[str, str], python: str) -> None:
    """What `python ARGUMENTS` does."""
    os.chdir(folder)
    multiprocessing.process.ORIGINAL_DIR = folder  # type: ignore[attr-defined]
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.executable = python
    multiprocessing.spawn.set_executable(python)
    flags: list[str] = []
    while arguments[0].startswith("-") and arguments[0] not in ("-c", "-m"):
        flags.append(arguments.pop(0))
        if flags[-1] in FLAGS_WITH_VALUE:
            arguments.pop(0)
    at_once = "-u" in flags or bool(environment.get("PYTHONUNBUFFERED"))
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    for number, name in ((1, "stdout"), (2, "stderr")):
        stream: Any = open(number, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        stream.reconfigure(line_buffering=at_once or number == 2 or stream.isatty(), write_through=at_once)
        setattr(sys, name, stream)
    own = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path]
    code, safe = 0, bool(environment.get("PYTHONSAFEPATH"))
    try:
        if arguments[0] == "-c":
            sys.argv, sys.path[:0] = ["-c", *arguments[2:]], [*([] if safe else [""]), *own]
            main = sys.modules["__main__"] = type(sys)("__main__")
            exec(compile(arguments[1], "<string>", "exec"), main.__dict__)
        elif arguments[0] == "-m":
            sys.argv, sys.path[:0] = arguments[1:], [*([] if safe else [folder]), *own]
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv, sys.path[:0] = arguments, [str(Path(arguments[0]).absolute().parent), *own]
            runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        code = 1
    leave(code)


def leave(code: int) -> None:
    """End as the interpreter ends."""
    import atexit  # noqa: PLC0415
    import threading  # noqa: PLC0415

    threading._shutdown()  # type: ignore[attr-defined]  # joins the threads
    atexit._run_exitfuncs()  # type: ignore[attr-defined]
    for stream in (sys.stdout, sys.stderr):
        if not stream.closed:
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    serve(*sys.argv[1:])
