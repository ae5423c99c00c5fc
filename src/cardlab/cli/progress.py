"""Progress bars of matches, if stderr is a terminal."""

from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console

from cardlab.evaluation.progress import ProgressCallback, bars, no_progress


@contextmanager
def progress_bars() -> Generator[ProgressCallback]:
    """Bars on stderr if it is a terminal, otherwise a no-op."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield no_progress
        return
    with bars(console) as progress:
        yield progress
