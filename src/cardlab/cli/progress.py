"""Bars while matches are played, for people only: a log gets none."""

from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console

from cardlab.evaluation.progress import Watch, bars, watch_nothing


@contextmanager
def progress_bars() -> Generator[Watch]:
    """What tells of progress on stderr where that is a terminal, and nowhere else."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield watch_nothing
        return
    with bars(console) as watch:
        yield watch
