"""Progress bars of matches in a terminal."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

NOT_IN_DIGEST = "shows progress in a terminal"

ProgressCallback = Callable[[str, int, int], None]
"""Called with (label, done, at most)."""


def no_progress(label: str, done: int, most: int) -> None:
    """Show nothing."""


@contextmanager
def bars(console: Console) -> Generator[ProgressCallback, None, None]:
    """One bar per label, removed when it is done."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=console, transient=True) as progress:

        def watch(label: str, done: int, most: int) -> None:
            if label not in tasks:
                tasks[label] = progress.add_task(label, total=most)
            progress.update(tasks[label], completed=done, visible=done < most)

        yield watch
