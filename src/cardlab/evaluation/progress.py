"""Progress bars of matches, if stderr is a terminal."""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from multiprocessing import parent_process
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TaskID

NOT_IN_DIGEST = "shows progress in a terminal"

QUIET = "CARDLAB_QUIET"
"""Environment variable: any text but an empty one hides progress, also in the stages of the pipeline."""

ProgressCallback = Callable[[str, int, int], None]  # called with (label, done, at most)


def no_progress(label: str, done: int, most: int) -> None:
    """Show nothing."""


def is_quiet() -> bool:
    """Whether progress is hidden."""
    return bool(os.environ.get(QUIET))


def terminal() -> "Console | None":
    """The terminal at stderr; None if stderr is a file or a pipe, in a child process, or if progress is hidden."""
    # Bars of several processes would overwrite each other.
    return terminal_of_parent() if parent_process() is None else None


def terminal_of_parent() -> "Console | None":
    """The terminal of this process or of its parent, which may draw there; None without one."""
    from rich.console import Console  # noqa: PLC0415  not needed by `cardlab --help`

    console = Console(stderr=True)
    return console if console.is_interactive and not is_quiet() else None


@contextmanager
def progress_bars() -> Generator[ProgressCallback]:
    """Bars in the terminal, one per label, removed when it is done; without a terminal a no-op."""
    console = terminal()
    if console is None:
        yield no_progress
        return
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=console, transient=True, redirect_stdout=False) as progress:

        def watch(label: str, done: int, most: int) -> None:
            if label not in tasks:
                tasks[label] = progress.add_task(label, total=most)
            progress.update(tasks[label], completed=done, visible=done < most)

        yield watch
