"""A recipe GAME/LEARNER by a sweep from the general options of the learner; writes it to conf/, and its study here."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import yaml

import cardlab

FOLDER = Path(__file__).parent


def find(key: str) -> None:
    """Run or resume the sweep of the pair `key`, apply its best values, and write KEY.json."""
    params = yaml.safe_load((FOLDER / "params.yaml").read_text())
    game, agent = key.rsplit("_", 1)
    pair = {"agent": agent, "sweep": agent, **params["pairs"][key]}
    space = params["spaces"][agent]
    options = {**pair, **params["options"], "sweep.apply": f"{game}/{agent}"}
    result = cardlab.sweep(f"{game}/default", space=space, trials=params["trials"], **options)
    best, confirmation = result.best, result.confirmation
    study: dict[str, Any] = {
        "options": pair,
        "trials": result.trials,
        "pruned": result.pruned,
        "best": {"trial": best.number, "score": best.mean, "interval": best.interval, "values": best.values},
        "importances": result.importances,
    }
    if confirmation:
        score = confirmation.score
        bias = confirmation.selection_bias
        study |= {"confirmed": {"score": score.mean, "low": score.low, "high": score.high}, "selection_bias": bias}
    times = os.times()
    study["cpu_minutes"] = round((times.user + times.system + times.children_user + times.children_system) / 60, 1)
    (FOLDER / f"{key}.json").write_text(json.dumps(study, indent=1, default=str) + "\n")


if __name__ == "__main__":
    find(sys.argv[1])
