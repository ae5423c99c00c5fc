"""One run of the tracking store as a row of `cardlab runs`: what it is, its score, its cost and its state."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from rich.filesize import pick_unit_and_suffix

from cardlab.core.exit_status import printable
from cardlab.tracking.experiment_tags import AGAINST, DEALS, FINAL_SCORE
from cardlab.tracking.lineage import CPU_SECONDS, DIGEST, NOTE, PRUNED_TRIAL, described_command
from cardlab.tracking.store import was_killed

if TYPE_CHECKING:
    from mlflow.entities import Run

_STUDY = "sweep.study"
_SWEEPS = {"sweep/best": "best trial", "sweep/objective": "trial"}
_CURVE, _SCORE = "score/mean", "score/"  # of a training
_SWEEP_METRICS = ("sweep/points", "sweep/win_rate")  # with the interval of a trial
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
    against: str  # the reference of the score, the strongest of several; of trials all, with equal weights
    deals: int | None  # of the score, where it is that of an evaluation
    seeds: str
    decisions: int | None
    cpu_seconds: float | None
    started: str  # ISO 8601
    ended: str | None
    policy: str  # digests, with spaces between them
    commit: str
    command: str
    changed: str  # options that differ from the recipe; of a trial the searched values

    @property
    def cells(self) -> dict[str, str]:
        """Heading → text of the table."""
        score = "" if self.score is None else _number(self.score)
        if score and self.score_low is not None and self.score_high is not None:
            score += f" ± {_number((self.score_high - self.score_low) / 2)}"
        seconds = time.time() - datetime.fromisoformat(self.started).timestamp()
        return {
            "name": self.name,
            "kind": self.kind,
            "game": self.game,
            "agent": self.agent,
            "score": score,
            "of": self.score_of,
            "against": self.against,
            "deals": "" if self.deals is None else f"{self.deals:,}",
            "seeds": self.seeds,
            "changed": self.changed,
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
    metrics = {key: row.value for key, row in rows.items() if math.isfinite(row.value)}
    score, score_of, against = _main_score(metrics, tags)
    interval = score
    if score == "sweep/objective":
        interval = next((name for name in _SWEEP_METRICS if name in metrics), score)
    info = stored.info
    return RunRow(
        id=info.run_id,
        name=printable(_name(info.run_name or "", tags)),
        kind=printable(tags.get("kind", "")),
        game=printable(game),
        agent=printable(tags.get("agent") or params.get("agent.name", "")),
        experiment=printable(tags.get("experiment") or params.get("name", "")),
        state=_state(stored),
        score=metrics.get(score or ""),
        score_low=metrics.get(f"interval/{interval}_low"),
        score_high=metrics.get(f"interval/{interval}_high"),
        score_of=score_of,
        against=printable(against),
        deals=int(tags[DEALS]) if score == FINAL_SCORE and tags.get(DEALS, "").isdigit() else None,
        seeds=printable(tags.get("seeds") or tags.get("seed") or params.get("seed", "")),
        decisions=max((row.step for key, row in rows.items() if "train/" in key), default=None),
        cpu_seconds=sum(metrics[key] for key in metrics if key.endswith(CPU_SECONDS)) or None,
        started=_iso(info.start_time),
        ended=_iso(info.end_time) if info.end_time else None,
        policy=tags.get(DIGEST, ""),
        commit=tags.get("git.commit", ""),
        command=described_command(tags.get(NOTE, "")),
        changed=printable(tags.get("changed", "")),
    )


def _name(name: str, tags: Mapping[str, str]) -> str:
    """The name of a run; that of a trial with its study."""
    return f"{name} of {tags[_STUDY]}" if _STUDY in tags and tags.get("kind") == "trial" else name


def _main_score(metrics: Mapping[str, float], tags: Mapping[str, str]) -> tuple[str | None, str, str]:
    """Metric, what it is the score of, and the reference. A training without evaluation has the end of its curve.

    Of several references the strongest counts, the one against which the agent scores least; in a sweep their mean.
    """
    curve = {name: value for name, value in metrics.items() if name.startswith(_SCORE)}
    references = {name: value for name, value in curve.items() if name not in (FINAL_SCORE, _CURVE)}
    strongest = min(references, key=lambda name: references[name], default="")
    for name, what in _SWEEPS.items():
        if name in metrics and metrics.get(FINAL_SCORE, metrics[name]) == metrics[name]:  # else it was evaluated since
            return name, what, tags.get(AGAINST, "")
    if FINAL_SCORE in curve:
        return FINAL_SCORE, "evaluation", tags.get(AGAINST) or strongest.removeprefix(_SCORE)
    if _CURVE in curve and tags.get("kind") != "trial":  # the points of a pruned trial's curve are not its value
        return strongest or _CURVE, "training", strongest.removeprefix(_SCORE)
    return None, "", ""


def _number(value: float) -> str:
    """Three decimals, or three digits of a large number: MLflow stores infinity as the largest one."""
    return f"{value:.3f}" if abs(value) < 1e9 else f"{value:.3g}"


def _state(stored: "Run") -> str:
    """A run whose process was killed with -9 stays RUNNING in the store until a command resumes it."""
    if stored.data.tags.get("kind") == "trial" and PRUNED_TRIAL in stored.data.tags:
        return "pruned"
    return "killed" if was_killed(stored) else stored.info.status.lower()


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
    size, unit = pick_unit_and_suffix(number, ["", "k", "M", "G"], 1000)
    return f"{number / size:.1f}{unit}" if size > 1 and number < 9.95 * size else f"{number / size:.0f}{unit}"
