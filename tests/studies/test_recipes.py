"""The page of the recipes says what their sweeps found, and conf/ has their best values."""

import json
import runpy
from pathlib import Path

import pytest

from cardlab.core.parts import read_option

STUDY = Path(__file__).parents[2] / "studies" / "recipes"


def test_the_page_has_the_table_of_the_script() -> None:
    assert runpy.run_path(str(STUDY / "recipes.py"))["table"]() in (STUDY / "README.md").read_text(encoding="utf-8")


APPLIED = [path for path in sorted(STUDY.glob("*.json")) if path.stem != "poker_squares_dqn"]  # see its README


@pytest.mark.parametrize("found", APPLIED, ids=lambda path: path.stem)
def test_the_recipe_has_the_best_values(found: Path) -> None:
    game, _, learner = found.stem.rpartition("_")
    agent = read_option("agent", f"{game}/{learner}")
    values = json.loads(found.read_text(encoding="utf-8"))["best"]["values"]
    assert values
    assert {key: agent[key.removeprefix("agent.")] for key in values} == values
