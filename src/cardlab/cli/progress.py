"""Bars while matches are played, for people only: a log gets none."""

from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console

from cardlab.evaluation.progress import ProgressCallback, bars, no_progress


@contextmanager
def progress_bars() -> Generator[ProgressCallback]:
    """What tells of progress on stderr where that is a terminal, and nowhere else."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield no_progress
        return
    with bars(console) as progress:
        yield progress
