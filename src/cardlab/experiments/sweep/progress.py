"""What a sweep shows: a line for each trial that is done, and in a terminal what the running one is at."""

import time
from types import TracebackType

from rich.console import Console
from rich.status import Status
from rich.text import Text

from cardlab.experiments.sweep.space import Values
from cardlab.experiments.sweep.trials import Outcome

NOT_IN_DIGEST = "shows progress in a terminal"


class Progress:
    """Lines of the trials of one worker; as a context manager it ends the spinner, which it has when it is `live`."""

    def __init__(self, console: Console, total: int, *, live: bool = True) -> None:
        self.console = console
        self.total = total
        self._status: Status | None = console.status("") if live and console.is_terminal else None
        self._heading = ""
        self._began = 0.0

    def begin(self, count: int, values: Values, retry_of: int | None = None) -> None:
        """Number `count` of the trials that were asked for begins; `retry_of` is the trial that was interrupted."""
        again = "" if retry_of is None else f"  (retry of trial {retry_of})"
        self._heading = f"trial {count}/{self.total}{again}  {values_text(values)}"
        self._began = time.monotonic()
        if self._status is not None:
            self._status.update(Text(self._heading))
            self._status.start()

    def tell(self, text: str) -> None:
        """Something about the trial that is running."""
        if self._status is not None:
            self._status.update(Text(f"{self._heading}  {text}"))

    def end(self, metric: str, outcome: Outcome, *, best: bool) -> None:
        """It is finished; `best` of all so far."""
        figure = outcome.strength.overall
        cost = "".join(f"  {seconds:.1f} s of CPU" for seconds in outcome.values[1:])
        text = (
            f"{metric} {figure.mean:.3f} [{figure.low:.3f}, {figure.high:.3f}]{cost}{'  best so far' if best else ''}"
        )
        self._print(text, "bold green" if best else "")

    def give_up(self, reason: str) -> None:
        """The trial was pruned."""
        self._print(f"pruned: {reason}", "yellow")

    def _print(self, text: str, style: str) -> None:
        seconds = time.monotonic() - self._began
        self.console.print(Text(f"{self._heading}  {text}  {seconds:.0f} s", style), soft_wrap=True)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()


def values_text(values: Values) -> str:
    """`agent.gamma=0.97 agent.epsilon=0.0312`."""
    return " ".join(
        f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}" for key, value in values.items()
    )
