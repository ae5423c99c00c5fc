"""Progress of trainings: a bar for each in a terminal, elsewhere a line at each point of the learning curve."""

import re
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from functools import partial
from multiprocessing import parent_process
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from cardlab.evaluation.progress import is_quiet, terminal, terminal_of_parent
from cardlab.training.curve_evaluation import MEAN_SCORE

NOT_IN_DIGEST = "shows progress in a terminal"

TrainingProgress = Callable[[int, int, Mapping[str, float]], None]
"""Called after each iteration with its number, the decisions so far, and scores if it is a point of the curve."""
_SCORE = "score/"
_SECONDS_BETWEEN = 0.5
_NAME = re.compile(r"^[^:]*: (?=iteration \d)")  # the experiment's, with which a child's line begins


class _Pace:
    """Speed and remaining time, measured since the first iteration of this process, which may compile kernels."""

    def __init__(self, last_iteration: int) -> None:
        self._last = last_iteration
        self._before: int | None = None  # iterations that are not measured
        self._began = time.monotonic()

    def text(self, iteration: int, decisions: int) -> str:
        """Speed and remaining time after `iteration`."""
        now = time.monotonic()
        seconds = (now - self._began) / (1 if self._before is None else iteration - self._before)
        if self._before is None:
            self._before, self._began = iteration, now
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


class BarUpdate(str):
    """A line about a training in a child process, which the parent may show as a bar."""

    iteration: int
    last_iteration: int

    def __new__(cls, text: str, iteration: int, last_iteration: int) -> Self:
        """`text` has speed and score, for the end of the bar."""
        update = super().__new__(cls, text)
        update.iteration, update.last_iteration = iteration, last_iteration
        return update

    def __getnewargs__(self) -> tuple[str, int, int]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """What a pickle needs."""
        return str(self), self.iteration, self.last_iteration


@contextmanager
def training_progress(
    name: str, last_iteration: int, report: Callable[[str], None] = print
) -> Generator[TrainingProgress]:
    """A bar at stderr if it is a terminal, else lines by `report`; neither if progress is hidden.

    The bar has the share of the budget, decisions per second, the remaining time, and the last score against the
    strongest reference. A child process reports a BarUpdate in place of a bar.
    """
    if parent_process() is not None and terminal_of_parent() is not None:
        yield _bar_progress(last_iteration, report)
        return
    console = terminal()
    if console is None:
        yield plain_progress(last_iteration, lambda line: None if is_quiet() else report(f"{name}: {line}"))
        return
    with _bars(console) as progress:
        task = progress.add_task(name, total=last_iteration, text="")
        yield _bar_progress(last_iteration, partial(_update, progress, task))


@contextmanager
def child_progress(report: Callable[[str], None]) -> Generator[Callable[[str, str], None]]:
    """Called with the name of a child process and what it has reported: a bar for its BarUpdates, else lines."""
    console = terminal()
    with _bars(console) if console else nullcontext() as progress:
        tasks: dict[str, TaskID] = {}

        def show(name: str, line: str) -> None:
            if not isinstance(line, BarUpdate):
                report(f"{name}: {_NAME.sub('', line)}")
            elif progress:
                if name not in tasks:
                    tasks[name] = progress.add_task(name, total=line.last_iteration, text="")
                _update(progress, tasks[name], line)

        yield show


def _bars(console: Console) -> Progress:
    text = TextColumn("{task.percentage:.0f} % {task.fields[text]}", markup=False)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(20), text)
    return Progress(*columns, console=console, refresh_per_second=2, redirect_stdout=sys.stdout.isatty())


def _bar_progress(last_iteration: int, report: Callable[[BarUpdate], None]) -> TrainingProgress:
    """Report a BarUpdate twice a second, and at the end."""
    pace, score, reported = _Pace(last_iteration), "", 0.0

    def show(iteration: int, decisions: int, scores: Mapping[str, float]) -> None:
        nonlocal score, reported
        score, now = _score_text(scores) or score, time.monotonic()
        text = pace.text(iteration, decisions)
        if now - reported >= _SECONDS_BETWEEN or iteration == last_iteration:
            report(BarUpdate(f"{text}{score}", iteration, last_iteration))
            reported = now

    return show


def _update(progress: Progress, task: TaskID, update: BarUpdate) -> None:
    progress.update(task, completed=update.iteration, text=str(update))


def _score_text(scores: Mapping[str, float]) -> str:
    """The lowest score, which is the one against the strongest reference; empty without scores."""
    found = {name: value for name, value in scores.items() if name.startswith(_SCORE) and name != MEAN_SCORE}
    if not found:
        return ""
    name = min(found, key=lambda each: found[each])
    against = name.removeprefix(_SCORE)
    return f", score {found[name]:.3f}" + ("" if against == "self" else f" against {against}")
