"""What is shown in a terminal while matches are played."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

Watch = Callable[[str, int, int], None]
"""Told (what is played, how much of it is done, how much at most)."""


def watch_nothing(label: str, done: int, most: int) -> None:
    """Show nothing."""


@contextmanager
def bars(console: Console) -> Generator[Watch, None, None]:
    """A bar for each thing that is played, which goes when it is done."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=console, transient=True) as progress:

        def watch(label: str, done: int, most: int) -> None:
            if label not in tasks:
                tasks[label] = progress.add_task(label, total=most)
            progress.update(tasks[label], completed=done, visible=done < most)

        yield watch
