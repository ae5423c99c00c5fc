"""The tables of the study of effects are those of its comparisons."""

import json
from pathlib import Path

import pytest

STUDY = Path(__file__).parents[2] / "studies" / "effects"


@pytest.mark.parametrize("measured", sorted(STUDY.glob("*.json")), ids=lambda path: path.stem)
def test_the_table_says_what_the_stage_found(measured: Path) -> None:
    page = (STUDY / "README.md").read_text(encoding="utf-8")
    assert f"]({measured.stem}.svg)" in page
    for method in json.loads(measured.read_text(encoding="utf-8"))["methods"]:
        name = method["name"].removeprefix(f"{measured.stem}_").replace("_", " ")
        row = f"| {name} | {method['score']:.2f} | {method['low']:.2f} to {method['high']:.2f} |"
        assert row in page, f"{measured.stem}: {row}"
