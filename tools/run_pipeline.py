"""Runs `dvc repro` and numbers its stages: [3/31] Running stage 'train@big2_ppo':."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence

_STAGE = re.compile(r"(Running stage|Stage) '[\w@./:-]+'")  # a line of DVC on each stage, also on one that is skipped


def main(arguments: Sequence[str]) -> int:
    """Run `dvc repro` with `arguments` and return its exit status."""
    stages = subprocess.run(["dvc", "stage", "list", "--name-only"], stdout=subprocess.PIPE, text=True, check=True)
    total = len(stages.stdout.splitlines())
    signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C also reaches DVC and the stage, which print what to do
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    command = ["dvc", "repro", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        number = 0
        for line in process.stdout:
            is_stage = _STAGE.match(line) is not None
            number += is_stage
            print(f"[{number}/{total}] {line}" if is_stage else line, end="", flush=True)
    return process.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
