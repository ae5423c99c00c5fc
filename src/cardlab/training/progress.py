"""Progress of a training: one bar in a terminal, elsewhere a line at each point of the learning curve."""

import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from datetime import timedelta

from rich.progress import BarColumn, Progress, TextColumn

from cardlab.evaluation.progress import is_quiet, terminal
from cardlab.training.curve_evaluation import MEAN_SCORE

NOT_IN_DIGEST = "shows progress in a terminal"

TrainingProgress = Callable[[int, int, Mapping[str, float]], None]
"""Called after each iteration with its number, the decisions so far, and scores if it is a point of the curve."""

_SCORE = "score/"


class _Pace:
    """Speed and remaining time, measured since this process began; a resumed training begins later than 0."""

    def __init__(self, last_iteration: int) -> None:
        self._last = last_iteration
        self._before: int | None = None  # iterations done before this process
        self._began = time.monotonic()

    def text(self, iteration: int, decisions: int) -> str:
        """Speed and remaining time after `iteration`."""
        if self._before is None:
            self._before = iteration - 1
        seconds = (time.monotonic() - self._began) / (iteration - self._before)
        left = timedelta(seconds=round(seconds * (self._last - iteration)))
        return f"{decisions / iteration / max(seconds, 1e-6):,.0f} decisions/s, {left} left"


def plain_progress(last_iteration: int, report: Callable[[str], None]) -> TrainingProgress:
    """Report a line at each point of the learning curve."""
    pace = _Pace(last_iteration)

    def show(iteration: int, decisions: int, scores: Mapping[str, float]) -> None:
        speed = pace.text(iteration, decisions)
        if scores:
            points = {name: value for name, value in scores.items() if name.startswith(_SCORE)}
            shown = [f"{name.removeprefix(_SCORE)} {value:.3f}" for name, value in points.items()]
            share = f"{100 * iteration / last_iteration:.0f} %"
            report(f"iteration {iteration}/{last_iteration} ({share}), {speed}, score: {', '.join(shown)}")

    return show


@contextmanager
def training_progress(
    name: str, last_iteration: int, report: Callable[[str], None] = print
) -> Generator[TrainingProgress]:
    """A bar at stderr if it is a terminal, else lines by `report`; neither if progress is hidden.

    The bar has the share of the budget, decisions per second, the remaining time, and the last score against the
    strongest reference.
    """
    console = terminal()
    if console is None:
        yield plain_progress(last_iteration, lambda line: None if is_quiet() else report(f"{name}: {line}"))
        return
    text = TextColumn("{task.percentage:.0f} % {task.fields[text]}")
    columns = (TextColumn("{task.description}"), BarColumn(20), text)
    pace, score = _Pace(last_iteration), ""
    with Progress(*columns, console=console, refresh_per_second=2, redirect_stdout=sys.stdout.isatty()) as progress:
        task = progress.add_task(name, total=last_iteration, text="")

        def show(iteration: int, decisions: int, scores: Mapping[str, float]) -> None:
            nonlocal score
            score = _score_text(scores) or score
            progress.update(task, completed=iteration, text=f"{pace.text(iteration, decisions)}{score}")

        yield show


def _score_text(scores: Mapping[str, float]) -> str:
    """The lowest score, which is the one against the strongest reference; empty without scores."""
    found = {name: value for name, value in scores.items() if name.startswith(_SCORE) and name != MEAN_SCORE}
    if not found:
        return ""
    name = min(found, key=lambda each: found[each])
    against = name.removeprefix(_SCORE)
    return f", score {found[name]:.3f}" + ("" if against == "self" else f" against {against}")
