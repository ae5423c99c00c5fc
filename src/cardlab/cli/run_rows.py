"""One run of the tracking store as a row of `cardlab runs`: what it is, its score, its cost and its state."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from cardlab.tracking.policy_lookup import DIGEST

if TYPE_CHECKING:
    from mlflow.entities import Run

_SCORES = {  # metric → what it is the score of; the first that a run has
    "score/evaluation": "evaluation",
    "sweep/best": "best trial",
    "sweep/objective": "trial",
    "score/mean": "training",
}
_SWEEP_METRICS = ("sweep/points", "sweep/win_rate")  # with the interval of a trial
_CPU = "system/cpu_seconds"
_UNITS = ((86_400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))


@dataclass(frozen=True)
class RunRow:
    """A run; None where it has no such value."""

    id: str
    name: str
    kind: str
    game: str
    agent: str
    experiment: str
    state: str  # running, finished, failed, killed or pruned
    score: float | None
    score_low: float | None  # both ends of the 95 % interval
    score_high: float | None
    score_of: str  # what the score was measured in: evaluation, training, trial or best trial
    seeds: str
    decisions: int | None
    cpu_seconds: float | None
    started: str  # ISO 8601
    ended: str | None
    policy: str  # digests, with spaces between them
    commit: str

    @property
    def cells(self) -> dict[str, str]:
        """Heading → text of the table."""
        half = "" if self.score_low is None or self.score_high is None else (self.score_high - self.score_low) / 2
        score = "" if self.score is None else f"{self.score:.3f}" + (f" ± {half:.3f}" if half != "" else "")
        seconds = time.time() - datetime.fromisoformat(self.started).timestamp()
        return {
            "name": self.name,
            "kind": self.kind,
            "game": self.game,
            "agent": self.agent,
            "score": score,
            "of": self.score_of,
            "seeds": self.seeds,
            "decisions": _count(self.decisions),
            "CPU": "" if self.cpu_seconds is None else _duration(self.cpu_seconds),
            "state": self.state,
            "age": _duration(seconds),
            "run": self.id[:8],
        }


def run_row(stored: "Run", game: str) -> RunRow:
    """The row of a run of the experiment `game`."""
    tags: Mapping[str, str] = stored.data.tags
    params: Mapping[str, str] = stored.data.params
    rows = {row.key: row for row in stored.data.to_proto().metrics}
    metrics = {key: row.value for key, row in rows.items()}
    score = next((name for name in _SCORES if name in metrics), None)
    interval = score
    if score == "sweep/objective":
        interval = next((name for name in _SWEEP_METRICS if name in metrics), score)
    info = stored.info
    return RunRow(
        id=info.run_id,
        name=info.run_name or "",
        kind=tags.get("kind", ""),
        game=game,
        agent=tags.get("agent") or params.get("agent.name", ""),
        experiment=tags.get("experiment") or params.get("name", ""),
        state="pruned" if tags.get("sweep.state") == "pruned" else info.status.lower(),
        score=None if score is None else metrics[score],
        score_low=metrics.get(f"interval/{interval}_low"),
        score_high=metrics.get(f"interval/{interval}_high"),
        score_of="" if score is None else _SCORES[score],
        seeds=tags.get("seeds") or tags.get("seed") or params.get("seed", ""),
        decisions=max((row.step for key, row in rows.items() if "train/" in key), default=None),
        cpu_seconds=sum(metrics[key] for key in metrics if key.endswith(_CPU)) or None,
        started=_iso(info.start_time),
        ended=_iso(info.end_time) if info.end_time else None,
        policy=tags.get(DIGEST, ""),
        commit=tags.get("git.commit", ""),
    )


def _iso(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000).astimezone().isoformat(timespec="seconds")


def _duration(seconds: float) -> str:
    """`3 h`, `52 s`: in the largest unit of which there are two."""
    size, unit = next((size, unit) for size, unit in _UNITS if seconds >= 2 * size or unit == "s")
    return f"{seconds / size:.0f} {unit}"


def _count(number: int | None) -> str:
    """`1.0M`, `256k`, `12`."""
    if number is None:
        return ""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:.1f}{unit}" if number < 10 * size else f"{number / size:.0f}{unit}"
    return str(number)
