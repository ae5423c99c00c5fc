"""Progress of a training: lines without a terminal, a bar in one, nothing if it is hidden."""

import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from cardlab.evaluation.progress import QUIET
from cardlab.training.progress import plain_progress, training_progress

PROGRAM = """
from cardlab.training.progress import training_progress
with training_progress("duel", 4) as progress:
    for iteration in range(1, 5):
        scores = {"score/mean": 0.5, "score/greedy": 0.25, "score/random": 0.75} if iteration == 2 else {}
        progress(iteration, 100 * iteration, scores)
"""

CHILDREN = """
from cardlab.core.child_processes import ChildProcess, stop
from cardlab.training.progress import child_progress, training_progress

def train(name, report):
    report("begins")
    with training_progress("duel", 4, report) as progress:
        for iteration in range(1, 5):
            progress(iteration, 100 * iteration, {"score/self": 0.5})

if __name__ == "__main__":
    children = [ChildProcess.start(name, train, name) for name in ("seed 1", "seed 2")]
    with child_progress(print) as show:
        for child in children:
            child.process.join()
            child.receive(lambda line: show(child.name, line))
"""


def in_terminal(program: str, folder: Path) -> str:
    """What `program` writes to a terminal."""
    path = folder / "program.py"
    path.write_text(program, encoding="utf-8")
    main, other = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "120"}
    subprocess.run([sys.executable, path], stdout=other, stderr=other, env=environment, check=True)
    os.close(other)
    shown = b""
    with suppress(OSError):  # the end of a pseudo terminal
        while part := os.read(main, 4096):
            shown += part
    return shown.decode()


def test_each_line_has_share_speed_remaining_time_and_scores() -> None:
    lines: list[str] = []
    show = plain_progress(4, lines.append)
    show(1, 100, {})
    show(2, 200, {"score/mean": 0.5, "score/greedy": 0.25, "interval/score/greedy_low": 0.2})
    (line,) = lines
    assert line.startswith("iteration 2/4 (50 %), ")
    assert "decisions/s, 0:00:00 left, score: mean 0.500, greedy 0.250" in line


def test_a_pipe_gets_lines_that_name_the_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    with training_progress("duel", 4) as progress:
        progress(4, 400, {"score/self": 1.0})
    assert capsys.readouterr().out.startswith("duel: iteration 4/4 (100 %), ")


def test_quiet_hides_the_lines(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(QUIET, "1")
    with training_progress("duel", 4) as progress:
        progress(4, 400, {"score/self": 1.0})
    assert capsys.readouterr() == ("", "")


def test_a_terminal_gets_one_bar_with_the_last_score_against_the_strongest_reference(tmp_path: Path) -> None:
    text = in_terminal(PROGRAM, tmp_path)
    assert "100 %" in text
    assert "decisions/s, 0:00:00 left, score 0.250 against greedy" in text
    assert "iteration" not in text


def test_a_terminal_gets_one_bar_for_each_training_in_a_child_process(tmp_path: Path) -> None:
    text = in_terminal(CHILDREN, tmp_path)
    for name in ("seed 1", "seed 2"):
        assert f"{name}: begins" in text
        assert re.search(rf"{name} \S+━\S* 100 % [\d,]+ decisions/s, 0:00:00 left, score 0\.500", text)
    assert "iteration" not in text


def test_without_a_terminal_child_processes_get_lines_that_name_each_once(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(CHILDREN, encoding="utf-8")
    said = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True).stdout
    assert "seed 2: begins\n" in said
    assert re.search(r"^seed 1: iteration 4/4 \(100 %\), [\d,]+ decisions/s", said, re.MULTILINE)
