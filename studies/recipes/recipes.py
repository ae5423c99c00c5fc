"""A recipe GAME/LEARNER by a sweep from the general options of the learner; writes it to conf/, and its study here.

Usage: recipes.py GAME_LEARNER; without it, prints the table of all.
"""

import json
import sys
from pathlib import Path
from typing import Any

import optuna
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
    trials = optuna.load_study(study_name=result.study, storage="sqlite:///studies.db").trials
    study: dict[str, Any] = {
        "study": result.study,
        "options": pair,
        "base": trials[0].value,  # by the general options of the learner
        "trials": result.trials,
        "pruned": result.pruned,
        "best": {"trial": best.number, "score": best.mean, "interval": best.interval, "values": best.values},
        "importances": result.importances,
    }
    if confirmation:
        score = confirmation.score
        bias = confirmation.selection_bias
        study |= {"confirmed": {"score": score.mean, "low": score.low, "high": score.high}, "selection_bias": bias}
    spent = sum(trial.user_attrs.get("cpu_seconds", 0) for trial in trials)  # of their trainings
    study["cpu_minutes"] = round(spent / 60, 1)
    (FOLDER / f"{key}.json").write_text(json.dumps(study, indent=1, default=str) + "\n")


def table() -> str:
    """The table of README.md."""
    lines = [
        "| recipe | general options | best trial | three fresh seeds | selection bias | mattered most | CPU minutes |",
        "|---|---|---|---|---|---|---|",
    ]
    for path in sorted(FOLDER.glob("*.json")):
        study = json.loads(path.read_text())
        score, shares = study["confirmed"], study["importances"]
        confirmed = f"{score['score']:.2f} ({score['low']:.2f} to {score['high']:.2f})"
        key = max(shares, key=shares.get).removeprefix("agent.")
        figures = f"{study['base']:.2f} | {study['best']['score']:.2f} | {confirmed} | {study['selection_bias']:.2f}"
        lines.append(f"| `{path.stem}` | {figures} | `{key}` | {study['cpu_minutes']:.0f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[1:]:
        find(sys.argv[1])
    else:
        print(table())
