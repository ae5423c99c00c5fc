"""The effect of one option on a recipe: its values are trained with the same seeds and compared on the same deals."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from cardlab.experiments.report.drawing import COLOURS, new_figure

FOLDER = Path(__file__).parent


def measure(key: str) -> None:
    """Train and compare the methods of the effect `key`, and write KEY.json and KEY.svg."""
    params = yaml.safe_load((FOLDER / "params.yaml").read_text())
    effect, output = params["effects"][key], f"runs/effects/{key}"
    methods = {f"{key}_{name}": options for name, options in effect["methods"].items()}
    for name, options in methods.items():
        recipe = [f"experiment={effect['experiment']}", *effect["options"], *options]
        _cardlab("train", *recipe, f"name={name}", f"seeds={params['seeds']}")
    arena = [f"arena.references=[{effect['reference']}]", f"arena.deals={params['deals']}"]
    _cardlab("compare", *methods, *arena, f"output={output}")
    figures = json.loads(Path(output, "comparison.json").read_text())
    (FOLDER / f"{key}.json").write_text(json.dumps(figures, indent=2) + "\n")
    _draw(figures, [*methods], FOLDER / f"{key}.svg")


def _cardlab(verb: str, *words: str) -> None:
    subprocess.run([sys.executable, "-m", "cardlab", verb, *words], check=True)


def _draw(figures: dict[str, Any], methods: Sequence[str], path: Path) -> None:
    found = {method["name"]: method for method in figures["methods"]}
    scores = [found[name] for name in methods]
    figure, axes = new_figure(3.2)
    means = [score["score"] for score in scores]
    ends = [[score["score"] - score["low"] for score in scores], [score["high"] - score["score"] for score in scores]]
    for place, score in enumerate(scores):
        axes.plot([place] * score["seeds"], score["by_seed"], "o", color=COLOURS[1], alpha=0.6)
    axes.errorbar(range(len(scores)), means, yerr=ends, fmt="o", color=COLOURS[0], capsize=4)
    axes.set_xticks(range(len(scores)), [name.removeprefix(f"{path.stem}_").replace("_", " ") for name in methods])
    axes.set_ylabel(f"points a game against {figures['against']}")
    figure.savefig(path)


if __name__ == "__main__":
    measure(sys.argv[1])
