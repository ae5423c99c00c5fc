"""training.json: what a finished training cost and what it was made from."""

import json
from collections.abc import Mapping
from pathlib import Path

from cardlab.core.files import write_atomically
from cardlab.training.run import Trained

FORMAT = 2


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
