"""`make pipeline` numbers the stages, and gives them a terminal if it has one."""

import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "tools" / "run_pipeline.py"
DVC = """#!/bin/sh
if [ "$1" = stage ]; then printf 'code\\ntrain@duel\\n'; exit 0; fi
echo "Stage 'code' didn't change, skipping"
echo "Running stage 'train@duel':"
[ -t 1 ] && echo terminal || echo pipe
exit 3
"""
LINES = ["[1/2] Stage 'code' didn't change, skipping", "[2/2] Running stage 'train@duel':"]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """One in which `dvc` prints two stages and fails."""
    program = tmp_path / "dvc"
    program.write_text(DVC, encoding="utf-8")
    program.chmod(0o755)
    return os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}


def test_a_pipe_gets_numbered_stages_and_the_exit_status(environment: dict[str, str]) -> None:
    done = subprocess.run([sys.executable, PROGRAM], env=environment, stdout=subprocess.PIPE, text=True, check=False)
    assert done.stdout.splitlines() == [*LINES, "pipe"]
    assert done.returncode == 3


def test_stages_print_to_a_terminal_where_the_pipeline_does(environment: dict[str, str]) -> None:
    main, other = pty.openpty()
    done = subprocess.run([sys.executable, PROGRAM], env=environment, stdout=other, check=False)
    os.close(other)
    shown = b""
    with suppress(OSError):  # the end of a pseudo terminal
        while part := os.read(main, 4096):
            shown += part
    assert shown.decode().splitlines() == [*LINES, "terminal"]
    assert done.returncode == 3


def test_what_dvc_cannot_read_ends_with_its_status(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "dvc").write_text("#!/bin/sh\necho 'dvc.yaml is wrong' >&2\nexit 255\n", encoding="utf-8")
    done = subprocess.run([sys.executable, PROGRAM], env=environment, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (255, "dvc.yaml is wrong\n")
