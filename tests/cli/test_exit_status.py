"""A signal decides the exit status of a program, whatever a library makes of it."""

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cardlab.core.child_processes import ChildProcess, stop
from cardlab.core.exit_status import FAILED, USAGE_ERROR, run_program
from cardlab.core.messages import ConfigurationError

PIPELINES = Path(__file__).parents[2] / "pipelines"
NAMES = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}
PROGRAM = """
import signal, sys, time
from cardlab.core.exit_status import run_program

signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore Ctrl-C
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it

def sleep():
    for _ in range(600):  # a signal just before the call of a sleep is handled after it
        time.sleep(0.1)

def wait():
    print("ready", flush=True)
    sleep()

def run():
    try:
        wait()
    except KeyboardInterrupt:
        {reaction}

sys.exit(run_program(run, "resume so"))
"""


@pytest.mark.parametrize(
    "reaction", ["raise", "sys.exit(1)", "sys.exit(0)", "return 0", "raise RuntimeError('broken')"]
)
@pytest.mark.parametrize("number", NAMES)
def test_a_signal_decides_the_status(number: signal.Signals, reaction: str) -> None:
    program = start(PROGRAM.format(reaction=reaction))
    program.send_signal(number)
    _, errors = program.communicate(timeout=60)
    assert (program.returncode, errors) == (128 + number, f"cardlab: {NAMES[number]}; resume so\n")


@pytest.mark.parametrize("number", NAMES)
def test_a_signal_in_a_finalizer_is_not_lost(number: signal.Signals) -> None:
    """Python ignores exceptions there."""
    slow = """
class Slow:
    def __del__(self):
        print("ready", flush=True)
        sleep()

def wait():
    Slow()
    sleep()
"""
    program = start(PROGRAM.replace("def run():", f"{slow}\ndef run():").format(reaction="raise"))
    program.send_signal(number)
    _, errors = program.communicate(timeout=30)
    assert (program.returncode, errors) == (128 + number, f"cardlab: {NAMES[number]}; resume so\n")


IMPORTING = """
import os, runpy, signal, sys

class Finder:
    def find_spec(name, path, target=None):
        if name == "{module}":
            os.kill(os.getpid(), {number})

signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
sys.meta_path.insert(0, Finder)
{program}
"""
VERB = "from cardlab.cli import main; sys.exit(main(['runs']))"


@pytest.mark.parametrize("number", NAMES)
def test_a_signal_during_the_imports_decides_the_status(number: signal.Signals) -> None:
    code = IMPORTING.format(module="cardlab.cli.program", number=int(number), program=VERB)
    program = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (program.returncode, program.stderr) == (128 + number, f"cardlab: {NAMES[number]}\n")


@pytest.mark.parametrize("stage", [path.stem for path in sorted(PIPELINES.glob("*.py"))])
def test_a_signal_during_the_imports_of_a_stage_decides_its_status(stage: str) -> None:
    number = list(NAMES)[len(stage) % len(NAMES)]
    run = f"runpy.run_path({str(PIPELINES / stage)!r} + '.py', run_name='__main__')"
    code = IMPORTING.format(module="omegaconf", number=int(number), program=run)
    program = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    line = f"cardlab: {NAMES[number]}; run dvc repro again to resume\n"
    assert (program.returncode, program.stderr) == (128 + number, line)


def test_an_ignored_signal_stays_ignored() -> None:
    program = start(PROGRAM.replace("signal.SIG_DFL", "signal.SIG_IGN").format(reaction="raise"))
    program.send_signal(signal.SIGHUP)
    program.terminate()
    assert program.wait(60) == 128 + signal.SIGTERM


def test_a_library_decides_no_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(lambda: sys.exit(3)) == FAILED
    assert capsys.readouterr().err == "cardlab: error: a library has ended the program (3)\n"
    assert run_program(lambda: sys.exit(0)) == 0


def test_a_table_whose_reader_has_exited_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """As of `cardlab runs | head`."""

    def print_table() -> int:
        try:
            raise BrokenPipeError
        except BrokenPipeError:
            sys.exit(1)  # as Rich does

    assert run_program(print_table) == FAILED
    assert capsys.readouterr().err == ""


def test_handlers_are_restored() -> None:
    before = signal.getsignal(signal.SIGTERM)
    assert run_program(lambda: int(signal.getsignal(signal.SIGTERM) is before)) == 0
    assert signal.getsignal(signal.SIGTERM) is before


def start(code: str) -> "subprocess.Popen[str]":
    """The program, once it waits."""
    program = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert program.stdout is not None
    assert program.stdout.readline() == "ready\n"
    return program


def test_a_full_disk_that_no_file_names_is_found(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As multiprocessing raises it when /dev/shm is full."""

    def fail() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("cardlab.core.exit_status._free_bytes", lambda place: 0 if place == "/dev/shm" else 10**9)
    assert run_program(fail) == FAILED
    assert capsys.readouterr().err == "cardlab: error: no space left on device: /dev/shm\n"


def test_a_message_that_repeats_a_long_argument_is_cut(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise ConfigurationError("x" * 100_000)

    assert run_program(fail) == USAGE_ERROR
    assert len(capsys.readouterr().err) < 5000


class InterruptsImports:
    """Interrupts the process that unpickles it, as Ctrl-C in a terminal interrupts a child that still imports."""

    def __reduce__(self) -> tuple[Callable[[int], None], tuple[int]]:
        return signal.raise_signal, (signal.SIGINT,)


def test_a_program_ends_without_a_last_collection() -> None:
    """Which takes more than a second after the imports of torch and Lightning."""
    code = """
import sys
class Ring:
    def __init__(self): self.ring = self
    def __del__(self): print("collected")
if len(sys.argv) > 1:
    from cardlab.core.exit_status import start_program
    start_program()
rings = [Ring(), Ring()]
"""
    said = [subprocess.check_output([sys.executable, "-c", code, *given], text=True) for given in ([], ["program"])]
    assert said == ["collected\ncollected\n", ""]


def test_ctrl_c_during_the_imports_of_a_child_is_left_to_its_parent() -> None:
    child = ChildProcess.start("a child", report_and_interrupt, InterruptsImports())
    child.process.join(60)
    messages: list[str] = []
    child.receive(messages.append)
    assert (child.process.exitcode, messages) == (130, ["ready"])


class SlowImports:
    """Keeps the process that unpickles it busy for a minute."""

    def __reduce__(self) -> tuple[Callable[[float], None], tuple[float]]:
        return time.sleep, (60.0,)


def test_a_child_that_still_imports_is_not_waited_for() -> None:
    began = time.monotonic()
    child = ChildProcess.start("a child", report_and_interrupt, SlowImports())
    stop([child])
    assert time.monotonic() - began < 30
    assert not child.process.is_alive()


def report_and_interrupt(_: object, report: Callable[[str], None]) -> None:
    report("ready")
    signal.raise_signal(signal.SIGINT)
