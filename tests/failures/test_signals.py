"""Signals at random moments to the process group of commands with workers, as a closed terminal or `docker stop` sends.

The number of the kill seeds the signal and its moment.
"""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

KILLS = 1
NAMES = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}
TRAIN = ["experiment=thirty_one/dqn", "trainer.decisions=1000000", "trainer.threads=1"]
COMMANDS = {
    "evaluate": ["evaluate", "game=thirty_one", "policy=greedy", "arena.deals=3000000", "arena.processes=2"],
    "tournament": [
        "tournament",
        "game=thirty_one",
        "agents=[random,greedy]",
        "arena.deals=3000000",
        "arena.processes=2",
    ],
    "sweep": ["sweep", *TRAIN, "sweep.workers=2"],
    "train seeds": ["train", *TRAIN, "seeds=2"],
    "train processes": ["train", *TRAIN, "trainer.processes=2"],
    "exploit": ["exploit", "policy=greedy", "game=thirty_one", "agent=dqn", "seeds=2", "trainer.decisions=1000000"],
}
SECONDS = 15.0  # within which the signal is sent
START = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore Ctrl-C
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it
from cardlab.cli import main
sys.exit(main())
"""


def processes(session: int) -> list[str]:
    """The command lines of the processes of a session."""
    found: list[str] = []
    for process in psutil.process_iter():
        try:
            if os.getsid(process.pid) == session and process.status() != psutil.STATUS_ZOMBIE:
                found.append(" ".join(process.cmdline()))
        except (psutil.Error, OSError):
            continue
    return found


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_signal_to_the_group_leaves_one_line_and_no_process(command: str, kill: int, root: Path) -> None:
    chance = random.Random(f"{command} {kill}")
    number, moment = chance.choice([*NAMES]), chance.uniform(1.0, SECONDS)
    before = {*Path("/dev/shm").glob("sem.*")}
    with (root / "errors").open("w+") as errors:
        arguments = [sys.executable, "-c", START, *COMMANDS[command], "-q"]
        program = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True)
        time.sleep(moment)
        os.killpg(program.pid, number)
        status = program.wait(90)
        deadline = time.monotonic() + 10
        while (still := processes(program.pid)) and time.monotonic() < deadline:
            time.sleep(0.1)
        errors.seek(0)
        lines = errors.read().splitlines()
    assert not still
    assert {*Path("/dev/shm").glob("sem.*")} <= before
    assert status == 128 + number, lines
    assert [line for line in lines if NAMES[number] in line] == lines[-1:], lines
    assert len(lines) == 1, lines
