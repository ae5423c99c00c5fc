"""What a sweep shows: a line when a trial begins and when it ends, the running trials, and plots by Optuna."""

import time
import warnings
from collections.abc import Callable, Generator, Mapping
from types import TracebackType
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState
from optuna.visualization import matplotlib as plots
from rich.console import Console
from rich.text import Text

from cardlab.evaluation.progress import is_quiet
from cardlab.experiments.sweep.options import SweepOptions
from cardlab.experiments.sweep.retries import RETRY_OF, SURPLUS
from cardlab.experiments.sweep.space import Space, values_text
from cardlab.experiments.sweep.study import FINISHED, PRUNED
from cardlab.experiments.sweep.trials import INTERVAL, RUN

NOT_IN_DIGEST = "shows progress in a terminal"


_SECONDS_BETWEEN = 1.0  # two looks at the study


class Progress:
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

    def __enter__(self) -> "Progress":
        workers = f", {self._options.workers} workers" if self._options.workers > 1 else ""
        self.print(f"study {self._study.study_name}: {self.counts}{workers}")
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


def score_text(metric: str, value: float, interval: tuple[float, float] | None) -> str:
    """`points 0.905 [0.887, 0.923]`: a score with its 95 % interval, which an exact one lacks."""
    return f"{metric} {value:.3f}" + (
        f" [{interval[0]:.3f}, {interval[1]:.3f}]" if interval and len({*interval}) > 1 else ""
    )


OVERVIEW = "overview"
MAX_RANKED = 4  # parameters in the overview
MIN_TRIALS = 4  # complete trials that importances need


def can_rank(study: Study) -> bool:
    """Whether there are enough different trials for the importance of each parameter."""
    complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    return len(complete) >= MIN_TRIALS and len({first_value(trial) for trial in complete}) > 1


def study_plots(study: Study, title: str = "", importances: Mapping[str, float] = {}) -> Generator[tuple[str, Figure]]:
    """Name and figure of each plot; a figure is closed before the next one is drawn.

    The overview shows `title` and `importances`. It is as low as what MLflow shows of a description before *Show more*
    is clicked.
    """
    name = (study.metric_names or ["value"])[0]
    target: Callable[[FrozenTrial], float] | None = None if len(study.directions) == 1 else first_value
    draw: dict[str, Callable[[], Any]] = {
        OVERVIEW: lambda: _overview(study, name, title, importances),
        "history": lambda: plots.plot_optimization_history(study, target=target, target_name=name),
        "parallel_coordinates": lambda: plots.plot_parallel_coordinate(study, target=target, target_name=name),
        "slices": lambda: plots.plot_slice(study, target=target, target_name=name),
    }
    if can_rank(study):
        draw["importances"] = lambda: plots.plot_param_importances(study)
    if len(study.directions) > 1:
        draw["pareto_front"] = lambda: plots.plot_pareto_front(study)
    for plot, drawn in draw.items():
        with matplotlib.rc_context({"savefig.bbox": "tight", "svg.fonttype": "none"}):  # undoes Optuna's style
            with warnings.catch_warnings(action="ignore"):  # about axes of a single trial
                figure = np.ravel(drawn())[0].figure
            yield plot, figure
        plt.close(figure)


def _overview(study: Study, name: str, title: str, importances: Mapping[str, float]) -> list[Axes]:
    """Two axes in a row: the value of each trial with the best so far, and the most important parameters."""
    trials = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    values = [first_value(trial) for trial in trials]
    with matplotlib.rc_context({"font.size": 8}):
        _, (left, right) = plt.subplots(1, 2, figsize=(7.4, 0.9), width_ratios=(3, 2), layout="constrained")
        left.plot([trial.number for trial in trials], values, ".", markersize=4)
        left.step([trial.number for trial in trials], np.maximum.accumulate(values), where="post", linewidth=1)
        left.set_ylabel(name)
        left.set_title(title, fontsize=8, loc="left")
        shown = [*importances.items()][:MAX_RANKED][::-1]
        right.barh([key for key, _ in shown], [share for _, share in shown])
        right.set_title("importance", fontsize=8, loc="left")
        right.set_visible(bool(shown))
    return [left, right]


def first_value(trial: FrozenTrial) -> float:
    """The score of a complete trial."""
    return trial.values[0]
