"""The page about the seeds: its pictures can be drawn, and those that it shows are there."""

import importlib.util
import re
from pathlib import Path

import pytest

from cardlab.experiments.report.drawing import house_style

DOCS = Path(__file__).parents[2] / "docs"
SPEC = importlib.util.spec_from_file_location("draw", DOCS / "seeds" / "draw.py")
assert SPEC is not None
assert SPEC.loader is not None
draw = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(draw)


@pytest.mark.parametrize("name", sorted(draw.PICTURES))
def test_every_picture_is_drawn_from_its_curves(name: str) -> None:
    with house_style():
        figure = draw.PICTURES[name][0]()
    assert any(len(line.get_xdata()) > 2 for line in figure.axes[0].lines)


def test_the_page_shows_every_picture() -> None:
    shown = re.findall(r"!\[[^\]]+\]\(seeds/(\w+)\.svg\)", (DOCS / "seeds.md").read_text())
    assert sorted(shown) == sorted(draw.PICTURES)
    for name in shown:
        assert (DOCS / "seeds" / f"{name}.svg").read_text().startswith("<svg")


def test_every_curve_is_used() -> None:
    text = (DOCS / "seeds" / "draw.py").read_text()
    for path in (DOCS / "seeds" / "curves").glob("*.csv"):
        assert f'"{path.stem}"' in text, path
