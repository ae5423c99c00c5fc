"""Runs `dvc repro` and numbers its stages: [3/31] Running stage 'train@big2_ppo':."""

import os
import pty
import re
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator, Sequence
from contextlib import suppress

_STAGE = re.compile(r"(Running stage|Stage) '[\w@./:-]+'")  # a line of DVC on each stage, also on one that is skipped


def main(arguments: Sequence[str]) -> int:
    """Run `dvc repro` with `arguments` and return its exit status."""
    stages = subprocess.run(["dvc", "stage", "list", "--name-only"], stdout=subprocess.PIPE, text=True, check=False)
    if stages.returncode:  # DVC has said why
        return stages.returncode
    total = len(stages.stdout.splitlines())
    signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C also reaches DVC and the stage, which print what to do
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    output, other_end = _pipe()
    with subprocess.Popen(["dvc", "repro", *arguments], stdout=other_end, env=environment) as process:
        os.close(other_end)
        number = 0
        for line in _lines(output):
            is_stage = _STAGE.match(line) is not None
            number += is_stage
            print(f"[{number}/{total}] {line}" if is_stage else line, end="", flush=True)
    return process.returncode


def _pipe() -> tuple[int, int]:
    """Both ends of a pipe; of a pseudo terminal if the output is a terminal, so that stages print above their bars."""
    if not sys.stdout.isatty():
        return os.pipe()
    output, other_end = pty.openpty()
    termios.tcsetwinsize(other_end, termios.tcgetwinsize(sys.stdout))
    return output, other_end


def _lines(output: int) -> Iterator[str]:
    with open(output, errors="replace") as file, suppress(OSError):  # a pseudo terminal ends with an error
        yield from file


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
