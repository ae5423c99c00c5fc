"""What a sweep shows: a line when a trial begins and when it ends, and the running trials."""

import time
from types import TracebackType

from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState
from rich.console import Console
from rich.text import Text

from cardlab.evaluation.progress import is_quiet
from cardlab.experiments.sweep.options import SweepOptions
from cardlab.experiments.sweep.retries import RETRY_OF, SURPLUS
from cardlab.experiments.sweep.space import Space, values_text
from cardlab.experiments.sweep.study import FINISHED, PRUNED, score_text
from cardlab.experiments.sweep.trials import INTERVAL, RUN

NOT_IN_DIGEST = "shows progress in a terminal"

_SECONDS_BETWEEN = 1.0  # two looks at the study


class SweepProgress:
    """Prints what happens in a study, whichever process runs its trials. A context manager.

    A trial has Optuna's number. A retry has a number of its own; its line names the first attempt.
    """

    def __init__(self, study: Study, space: Space, options: SweepOptions) -> None:
        self._study, self._space, self._options = study, space, options
        self._console = Console(stderr=True, quiet=is_quiet())
        self._status = self._console.status("") if self._console.is_terminal and not is_quiet() else None
        trials = study.get_trials(deepcopy=False)
        self._seen = {trial.number: trial.state for trial in trials if trial.state.is_finished()}
        self._done = sum(trial.state in FINISHED for trial in trials)
        self._best = max((trial.values[0] for trial in trials if trial.state == TrialState.COMPLETE), default=None)
        self._next_look = 0.0

    @property
    def counts(self) -> str:
        """How many of the trials are done."""
        return f"{self._done} of {self._options.trials} done"

    def __enter__(self) -> "SweepProgress":
        workers = f", {self._options.workers} workers" if self._options.workers > 1 else ""
        most = self._options.trials
        full = f"{self._done} trials done before; sweep.trials={self._done + most} adds {most}"
        self.print(f"study {self._study.study_name}: {full if self._done >= most else self.counts + workers}")
        if self._status:
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status:
            self._status.stop()
        if isinstance(error, KeyboardInterrupt | SystemExit):  # Lightning makes the second of the first
            self.update()
            self.print(f"study {self._study.study_name}: {self.counts}")

    def print(self, text: str, style: str = "") -> None:
        """Print a line."""
        self._console.print(Text(text, style), soft_wrap=True)

    def show(self, text: str) -> None:
        """Show the status of the running trial; at most once a second, look at the study."""
        if time.monotonic() >= self._next_look:
            self.update(text)

    def update(self, text: str = "") -> int:
        """Print what has happened since the last call; the number of finished trials."""
        trials = self._study.get_trials(deepcopy=False)
        for trial in trials:
            begun = trial.state == TrialState.RUNNING and RUN in trial.user_attrs
            if (begun or trial.state.is_finished()) and self._seen.get(trial.number) != trial.state:
                self._print_trial(trial)
        running = [str(trial.number) for trial in trials if self._seen.get(trial.number) == TrialState.RUNNING]
        if self._status:
            names = f"running: {', '.join(running)}" if running else "starting"
            self._status.update(Text("  ".join(filter(None, [self.counts, names, text]))))
        self._next_look = time.monotonic() + _SECONDS_BETWEEN
        return self._done

    def _print_trial(self, trial: FrozenTrial) -> None:
        if SURPLUS in trial.user_attrs:
            return
        if trial.number not in self._seen:
            retry = f" (retry of trial {trial.user_attrs[RETRY_OF]})" if RETRY_OF in trial.user_attrs else ""
            self.print(f"trial {trial.number} begins{retry}  {values_text(self._space.decode(trial.params))}")
        self._seen[trial.number] = trial.state
        if trial.state == TrialState.FAIL:
            self.print(f"trial {trial.number} interrupted", "yellow")
        elif trial.state.is_finished():
            self._done += 1
            seconds = trial.duration.total_seconds() if trial.duration else 0.0
            best = trial.state == TrialState.COMPLETE and (self._best is None or trial.values[0] > self._best)
            self._best = trial.values[0] if best else self._best
            text = f"trial {trial.number} {self._outcome(trial)}  {seconds:.0f} s  {self.counts}"
            style = "bold green" if best else "yellow" if trial.state == TrialState.PRUNED else ""
            self.print(f"{text}  best so far" if best else text, style)

    def _outcome(self, trial: FrozenTrial) -> str:
        if trial.state == TrialState.PRUNED:
            return f"pruned: {trial.user_attrs.get(PRUNED, 'by its pruner')}"
        cost = "".join(f"  {seconds:.1f} s of CPU" for seconds in trial.values[1:])
        return f"complete  {score_text(self._options.metric, trial.values[0], trial.user_attrs.get(INTERVAL))}{cost}"
