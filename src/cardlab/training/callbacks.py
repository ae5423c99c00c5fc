"""What happens between rounds: the field of opponents moves on, curves are kept, checkpoints are written.

All state is in the callbacks' `state_dict`s, so a checkpoint after round n is all that a run after round n is.
"""

import os
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import lightning
from lightning.pytorch.callbacks import Callback

from cardlab.learners.base import Metrics, Played, RoundLearner
from cardlab.learners.distributed import Ranks
from cardlab.learners.rollouts.collector import Collector
from cardlab.learners.rollouts.experience import Experience
from cardlab.training.snapshots import is_point

ROLLING_ROUNDS = 20
ROLLING_POINTS = 5

Row = dict[str, float]


class CheckpointError(RuntimeError):
    """A checkpoint cannot be read or written; the message is one line that names the file."""


class MetricsLog(Protocol):
    """Where curves go while they grow, e.g. a run of the tracking store."""

    def log_metrics(self, metrics: Mapping[str, float], step: int) -> None:
        """Keep the metrics of one round."""
        ...


class TrackedRun(Protocol):
    """A run whose unsent metrics are part of the checkpoint: kill -9 and resume then lose and double none."""

    in_checkpoints: bool

    def state_dict(self) -> dict[str, Any]:
        """What has not been sent."""
        ...

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from it."""
        ...

    def flush(self) -> bool:
        """Send what the checkpoint now holds."""
        ...


class TrackingState(Callback):
    """Keeps what a run has not sent in the checkpoint."""

    def __init__(self, run: TrackedRun) -> None:
        self.run = run
        run.in_checkpoints = True

    def state_dict(self) -> dict[str, Any]:
        """See TrackedRun."""
        return self.run.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """See TrackedRun."""
        self.run.load_state_dict(state_dict)


class Field(Callback):
    """Moves the opponents on, and keeps the games under way in the checkpoint, those of all processes."""

    def __init__(self, collector: Collector, ranks: Ranks | None = None) -> None:
        self.collector = collector
        self.ranks = ranks or Ranks()

    def on_train_batch_end(
        self,
        trainer: lightning.Trainer,
        pl_module: lightning.LightningModule,
        outputs: Any,
        batch: Experience,
        batch_idx: int,
    ) -> None:
        """After each round."""
        assert isinstance(pl_module, RoundLearner)
        opponents, network = self.collector.opponents, pl_module.network
        opponents.update(pl_module.rounds_done, network, batch.payoffs, batch.seats)

    def state_dict(self) -> dict[str, Any]:
        """The collector's state."""
        return {"collector": self.ranks.keep(self.collector.state_dict())}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from it."""
        self.collector.load_state_dict(self.ranks.own(state_dict["collector"]))


class Curve(Callback):
    """Logs every round, and measures strength at evenly spaced points; stops at the plateau when asked to."""

    def __init__(
        self,
        measure: Callable[[], Mapping[str, float]],
        points: int,
        last_round: int,
        patience: int,
        sink: MetricsLog | None,
        tell: Callable[[str], None],
        readings: Callable[[], Mapping[str, float]],
    ) -> None:
        self.measure = measure
        self.points = points
        self.last_round = last_round
        self.patience = patience
        self.sink = sink  # not `log`: Lightning puts a method of its own there
        self.tell = tell
        self.readings = readings  # what is logged beside the metrics, and stands in no row
        self.rows: list[Row] = []
        self._since: list[Metrics] = []
        self._payoffs: deque[float] = deque(maxlen=ROLLING_ROUNDS)  # of the last rounds
        self._clock = time.perf_counter()

    def on_train_batch_end(
        self,
        trainer: lightning.Trainer,
        pl_module: lightning.LightningModule,
        outputs: Any,
        batch: Experience,
        batch_idx: int,
    ) -> None:
        """After each round."""
        assert isinstance(pl_module, RoundLearner)
        played: Played = outputs["played"]
        self._payoffs.append(played.payoff)
        metrics: Metrics = {
            **outputs["metrics"],
            "payoff": played.payoff,
            "payoff/rolling": sum(self._payoffs) / len(self._payoffs),
            "game_decisions": played.decisions / max(1, played.seats),
        }
        self._since.append(metrics)
        speed = played.decisions / (time.perf_counter() - self._clock)
        counts = {"decisions": float(pl_module.decisions_done), "decisions_per_second": speed}
        logged = {**metrics, **counts, **self.readings()}
        if is_point(pl_module.rounds_done, self.points, self.last_round):
            logged |= self._add_row(pl_module)
            if self._is_plateau():
                trainer.should_stop = True
        if self.sink is not None:
            self.sink.log_metrics(logged, pl_module.rounds_done)
        self._clock = time.perf_counter()

    def _add_row(self, learner: RoundLearner) -> Mapping[str, float]:
        learner.network.eval()
        strength = self.measure()
        keys = list(self._since[-1])
        means = {key: sum(metrics[key] for metrics in self._since) / len(self._since) for key in keys}
        counters = {"round": float(learner.rounds_done), "decisions": float(learner.decisions_done)}
        overall = {"score": _overall(strength)}
        self.rows.append({**counters, **overall, **means, **strength})
        self._since.clear()
        shown = [f"{name.split('/', 1)[1]} {value:.3f}" for name, value in strength.items() if _is_mean(name)]
        self.tell(f"round {learner.rounds_done}/{self.last_round}: " + ", ".join(shown))
        return {**strength, **overall, **self._rolling(strength)}

    def _rolling(self, strength: Mapping[str, float]) -> Mapping[str, float]:
        """Means of the last points, of what the references measure."""
        recent = self.rows[-ROLLING_POINTS:]
        names = [name for name in strength if not name.endswith(("_low", "_high"))]
        return {f"{name}/rolling": sum(row[name] for row in recent) / len(recent) for name in names}

    def _is_plateau(self) -> bool:
        """Whether the last `patience` points brought no new best of the mean strength over the references."""
        if not self.patience or len(self.rows) <= self.patience:
            return False
        scores = [row["score"] for row in self.rows]
        return max(scores[-self.patience :]) <= max(scores[: -self.patience])

    def state_dict(self) -> dict[str, Any]:
        """The curve so far."""
        return {"rows": self.rows, "since": self._since, "payoffs": list(self._payoffs)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from it."""
        self.rows = list(state_dict["rows"])
        self._since = list(state_dict["since"])
        self._payoffs = deque(state_dict["payoffs"], maxlen=ROLLING_ROUNDS)


class Checkpoints(Callback):
    """Writes the one checkpoint of a run every so many seconds; when to do so, and to stop, rank 0 says for all."""

    def __init__(self, path: Path, seconds: float, ranks: Ranks | None = None) -> None:
        self.path = path
        self.seconds = seconds
        self.ranks = ranks or Ranks()
        self.tell: Callable[[str], None] = print
        self.after_save: Callable[[], object] = bool  # by default nothing
        self._complained = False
        self._last = time.monotonic()

    def on_train_batch_end(
        self,
        trainer: lightning.Trainer,
        pl_module: lightning.LightningModule,
        outputs: Any,
        batch: Experience,
        batch_idx: int,
    ) -> None:
        """After each round, the last of the callbacks: the others wait here until the first has measured.

        One that cannot be written costs no training: the next may have room. Several processes cannot go on alone.
        """
        is_time = time.monotonic() - self._last >= self.seconds
        is_time, trainer.should_stop = self.ranks.told(is_time, trainer.should_stop)
        if not is_time:
            return
        try:
            self.save(trainer)
        except CheckpointError as error:
            if self.ranks.size > 1:
                raise
            if not self._complained:
                self.tell(f"{error}; training goes on")
            self._complained = True

    def save(self, trainer: lightning.Trainer) -> None:
        """Write beside, then move over: whatever happens, a whole checkpoint stands at `path`, the old or the new.

        Raises CheckpointError.
        """
        part = self.path.with_suffix(".part")  # of that name: what a kill leaves is overwritten by the next
        try:
            trainer.save_checkpoint(part)  # the first process writes, with what the others have
            if self.ranks.first:
                with part.open("rb") as file:
                    os.fsync(file.fileno())
                part.replace(self.path)
                self.after_save()
        except OSError as error:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            reason = (error.strerror or str(error)).splitlines()[0]
            stays = "the last good one stays" if self.path.exists() else "there is none yet"
            raise CheckpointError(f"{self.path}: cannot be written ({reason}); {stays}") from error
        finally:
            self._last = time.monotonic()


def _overall(strength: Mapping[str, float]) -> float:
    """The mean over the references, of points."""
    means = [value for name, value in strength.items() if _is_mean(name)]
    return sum(means) / len(means)


def _is_mean(name: str) -> bool:
    return name.startswith("score/") and not name.endswith(("_low", "_high"))
