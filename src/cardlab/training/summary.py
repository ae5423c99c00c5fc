"""training.json: what a finished training, or the trainings of several seeds, cost and what they were made from."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cardlab.core.files import write_atomically
from cardlab.training.run import Trained

FORMAT = 2
TOTAL_FORMAT = 3


def write_summary(trained: Trained, origin: Mapping[str, str], path: Path) -> None:
    """Write budget, time, speed and `origin` (tags of the lineage) as JSON. Times are those of this machine."""
    spent = trained.spent
    content = {
        "format": FORMAT,
        "policy_digest": trained.digest,
        "decisions": trained.decisions,
        "iterations": trained.iterations,
        "cpu_seconds": round(spent.cpu, 1),
        "wall_seconds": round(spent.wall, 1),
        "decisions_per_second": round(trained.decisions / max(spent.wall, 1e-3)),
        "origin": dict(origin),
    }
    write_atomically(path, json.dumps(content, indent=2) + "\n")


def total_summary(summaries: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
    """Sums over the trainings of several seeds, and each by its seed. `origin` is that of the first."""
    sums = {key: sum(each[key] for each in summaries.values()) for key in ("decisions", "cpu_seconds")}
    return {
        "format": TOTAL_FORMAT,
        "decisions": sums["decisions"],
        "cpu_seconds": round(sums["cpu_seconds"], 1),
        "origin": next(iter(summaries.values()))["origin"],
        "seeds": {str(seed): summary for seed, summary in summaries.items()},
    }
