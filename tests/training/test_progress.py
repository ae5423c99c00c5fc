"""Progress of a training: lines without a terminal, a bar in one, nothing if it is hidden."""

import os
import pty
import subprocess
import sys

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


def test_a_terminal_gets_one_bar_with_the_last_score_against_the_strongest_reference() -> None:
    main, other = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "120"}
    subprocess.run([sys.executable, "-c", PROGRAM], stdout=other, stderr=other, env=environment, check=True)
    os.close(other)
    shown = b""
    try:
        while part := os.read(main, 4096):
            shown += part
    except OSError:
        pass  # the end of a pseudo terminal
    text = shown.decode()
    assert "100 %" in text
    assert "decisions/s, 0:00:00 left, score 0.250 against greedy" in text
    assert "iteration" not in text
