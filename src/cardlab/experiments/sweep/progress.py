"""The output of a worker: a line for each trial, and in a terminal the status of the running one."""

import time
from collections.abc import Sequence

from rich.console import Console
from rich.status import Status
from rich.text import Text

from cardlab.evaluation.intervals import Estimate
from cardlab.experiments.sweep.space import Values

NOT_IN_DIGEST = "shows progress in a terminal"


class Progress:
    """Prints the trials of one worker."""

    def __init__(self, console: Console, total: int, status: Status | None) -> None:
        """`total` is the number of trials of the sweep; `status` shows the running trial."""
        self._console = console
        self._total = total
        self._status = status
        self._heading = ""
        self._began = 0.0

    def begin(self, number: int, values: Values, retry_of: int | None = None) -> None:
        """Trial `number` of the total begins; `retry_of` is the number of its first attempt if it was interrupted."""
        retry = "" if retry_of is None else f"  (retry of trial {retry_of})"
        texts = [
            f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}" for key, value in values.items()
        ]
        self._heading = f"trial {number}/{self._total}{retry}  {' '.join(texts)}"
        self._began = time.monotonic()
        self.show("")

    def show(self, text: str) -> None:
        """Show the status of the running trial."""
        if self._status is not None:
            self._status.update(Text(f"{self._heading}  {text}"))

    def complete(self, metric: str, score: Estimate, costs: Sequence[float], *, best: bool) -> None:
        """The trial is complete; `costs` are CPU seconds, and `best` means of all so far."""
        cost = "".join(f"  {seconds:.1f} s of CPU" for seconds in costs)
        text = f"{metric} {score.mean:.3f} [{score.low:.3f}, {score.high:.3f}]{cost}"
        self._print(f"{text}  best so far" if best else text, "bold green" if best else "")

    def pruned(self, reason: str) -> None:
        """The trial was pruned."""
        self._print(f"pruned: {reason}", "yellow")

    def _print(self, text: str, style: str) -> None:
        seconds = time.monotonic() - self._began
        self._console.print(Text(f"{self._heading}  {text}  {seconds:.0f} s", style), soft_wrap=True)
