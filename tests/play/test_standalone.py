"""The table is an extra: cardlab runs without it, and `cardlab play` without it prints one line."""

import subprocess
import sys

import pytest

PROGRAM = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Hidden())
from cardlab.cli import main
sys.exit(main({arguments!r}))
"""


def run_without(hidden, *arguments):
    """`cardlab ARGUMENTS` in a process in which the packages `hidden` are not installed."""
    program = PROGRAM.format(hidden=hidden, arguments=[*arguments])
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.parametrize(
    "missing", [("fastapi",), ("uvicorn",), ("limits",), ("fastapi", "uvicorn", "limits", "starlette")]
)
def test_play_without_the_extra_prints_one_line(missing):
    done = run_without(missing, "play")
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert any(
        line == f"cardlab: error: play: {name} is not installed; run: pip install 'cardlab[play]'" for name in missing
    )


def test_an_invalid_option_is_reported_without_the_extra():
    done = run_without(("fastapi", "uvicorn"), "play", "play.port=70000")
    assert done.returncode == 2
    assert done.stderr == "cardlab: error: play.port=70000: must be a whole number in [0, 65535]\n"


def test_cardlab_runs_without_the_package_of_the_table():
    done = run_without(("cardlab_play", "fastapi"), "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "play" in done.stdout
