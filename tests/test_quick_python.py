"""`quick_python` runs what `python` runs, and ends as it ends: tests of programs rely on it."""

import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

SPAWN = """
import multiprocessing, sys
def double(pipe, number):
    pipe.send([2 * number, sys.executable])
if __name__ == "__main__":
    spawning = multiprocessing.get_context("spawn")
    ours, theirs = spawning.Pipe()
    child = spawning.Process(target=double, args=(theirs, 21))
    child.start()
    print(*ours.recv())
    child.join()
"""
WAIT = """
import os, time
try:
    print(os.getpid(), flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    raise SystemExit(130)
"""


def run(folder: Path, *arguments: str, **rest: Any) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [folder / "python", *arguments], capture_output=True, text=True, check=False, timeout=120, **rest
    )


def test_it_runs_what_python_runs(quick_python: Path, tmp_path: Path) -> None:
    (tmp_path / "spawning.py").write_text(SPAWN)
    assert run(quick_python, "spawning.py", cwd=tmp_path).stdout == f"42 {quick_python / 'python'}\n"
    said = run(quick_python, "-c", "import sys; print(sys.stdin.read(), *sys.argv)", "word", input="given")
    assert said.stdout == "given -c word\n"
    loaded = run(quick_python, "-c", "import sys; print('torch' in sys.modules, 'cardlab' in sys.modules)")
    assert loaded.stdout == "True False\n", "a clone runs its own code"


def test_it_ends_as_its_program_ends(quick_python: Path) -> None:
    assert run(quick_python, "-c", "raise SystemExit(3)").returncode == 3
    failed = run(quick_python, "-c", "1 / 0")
    assert (failed.returncode, failed.stderr.splitlines()[-1]) == (1, "ZeroDivisionError: division by zero")
    assert run(quick_python, "-c", "import os; os.kill(os.getpid(), 9)").returncode == -signal.SIGKILL


@pytest.mark.parametrize(("blow", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, -15), (signal.SIGKILL, -9)])
def test_signals_reach_its_program(quick_python: Path, blow: signal.Signals, status: int) -> None:
    with subprocess.Popen([quick_python / "python", "-c", WAIT], stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None
        program = Path("/proc", client.stdout.readline().strip())
        client.send_signal(blow)
        assert client.wait(60) == status
    deadline = time.monotonic() + 10
    while program.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
