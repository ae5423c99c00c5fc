"""The report: what it shows, and that the same results give the same bytes."""

import copy
import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from cardlab.reporting import learning_curve, strength
from cardlab.reporting.drawing import house_style, inline_svg
from cardlab.reporting.page import write_report
from cardlab.reporting.results import Result, ResultError, read_results

CONFIG: dict[str, Any] = {
    "name": "duel",
    "seed": 0,
    "game": {"name": "thirty_one"},
    "agent": {"name": "dqn", "gamma": 0.97, "clip": None},
    "network": {"name": "mlp", "widths": [64, 64]},
    "opponents": {"name": "self_play"},
    "trainer": {"tables": 64, "evaluation_deals": 500},
    "arena": {"deals": 2000},
}


def figures(mean: float, rate: float | None = None) -> dict[str, float | int]:
    entry: dict[str, float | int] = {"mean": mean, "low": mean - 0.1, "high": mean + 0.1, "deals": 2000}
    return entry if rate is None else entry | {
        "win_rate": rate, "win_rate_low": rate - 0.02, "win_rate_high": rate + 0.02,
    }  # fmt: skip


def write_results(folder: Path, name: str, game: str, references: dict[str, Any], columns: list[str]) -> None:
    (folder / name).mkdir(parents=True)
    evaluation = {
        "format": 1, "experiment": name, "game": game, "policy_digest": "abc123", "deals": 2000, "seed": 20_000_001,
        "references": references,
    }  # fmt: skip
    (folder / name / "evaluation.json").write_text(json.dumps(evaluation))
    with (folder / name / "curve.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["round", "decisions", "loss/value", *columns])
        for point in range(1, 6):
            writer.writerow([point * 10, point * 81920, 1 / point, *(0.5 + 0.05 * point for _ in columns)])


@pytest.fixture
def results(tmp_path: Path) -> list[Result]:
    folder = tmp_path / "results"
    bands = [f"win_rate/greedy{end}" for end in ("", "_low", "_high")]
    write_results(
        folder, "duel", "thirty_one", {"random": figures(0.9, 0.97), "greedy": figures(0.2, 0.61)},
        [*bands, "strength/greedy", "strength/greedy_low", "strength/greedy_high"],
    )  # fmt: skip
    own = [f"strength/self{end}" for end in ("", "_low", "_high")]
    write_results(folder, "squares", "poker_squares", {"self": figures(112.3), "random": figures(14.5)}, own)
    squares = {**copy.deepcopy(CONFIG), "name": "squares", "game": {"name": "poker_squares"}}
    return read_results(folder, {"duel": CONFIG, "squares": squares})


class Page(HTMLParser):
    """What a browser would fetch, which names are given, and what is read."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for key, value in attrs:
            if key == "id":
                self.ids.append(value or "")
            if key in ("src", "href", "xlink:href"):
                self.links.append(value or "")

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_the_page_holds_every_figure_and_fetches_nothing(results: list[Result], tmp_path: Path) -> None:
    path = write_report(results, {"git.commit": "deadbeef"}, tmp_path / "report")
    text = path.read_text()
    page = Page(text)
    assert all(link.startswith("#") for link in page.links)
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    assert "url(http" not in text
    assert "@import" not in text
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert page.tags.count("svg") == 4
    words = " ".join(" ".join(page.words).split())
    for figure in ("61.0 % 59.0 to 63.0", "97.0 %", "112.30 112.20 to 112.40", "14.50", "409,600 decisions"):
        assert figure in words
    for fact in ("abc123", "deadbeef", "0.97", "greedy", "policy.digest"):
        assert fact in words


def test_the_same_results_give_the_same_bytes(results: list[Result], tmp_path: Path) -> None:
    first = write_report(results, {"git.commit": "a"}, tmp_path / "one").read_bytes()
    second = write_report(results, {"git.commit": "a"}, tmp_path / "two").read_bytes()
    assert first == second
    assert not re.search(rb"20\d\d-\d\d-\d\d|dc:date|\d\d:\d\d:\d\d", first)


def test_names_are_escaped(results: list[Result], tmp_path: Path) -> None:
    evil = Result("<script>x</script>", results[0].config, results[0].evaluation, results[0].curve)
    text = write_report([evil], {}, tmp_path / "report").read_text()
    assert "<script>" not in text


@pytest.mark.parametrize("picture", [learning_curve, strength])
def test_pictures_are_well_formed_and_named(results: list[Result], picture: Any) -> None:
    for result in results:
        with house_style():
            figure = picture.draw(result)
            assert figure is not None
            svg = inline_svg(figure, 'A "name" & <more>')
        root = ElementTree.fromstring(svg)
        assert root.get("aria-label") == 'A "name" & <more>'
        assert root.get("viewBox")
        assert root.get("width") is None
        assert picture.caption(result).endswith(".")


def test_the_curve_shows_each_reference_with_its_band(results: list[Result]) -> None:
    with house_style():
        duel = learning_curve.draw(results[0])
        squares = learning_curve.draw(results[1])
    assert duel is not None
    assert squares is not None
    line = duel.axes[0].lines[0]
    assert line.get_label() == "greedy"
    assert list(line.get_xdata()) == [81920 * point for point in range(1, 6)]
    assert list(line.get_ydata()) == pytest.approx([0.55, 0.6, 0.65, 0.7, 0.75])
    assert len(duel.axes[0].collections) == 1
    assert squares.axes[0].get_ylabel() == "points"


def test_a_run_without_points_has_no_curve(results: list[Result], tmp_path: Path) -> None:
    bare = Result("duel", CONFIG, results[0].evaluation, {})
    assert learning_curve.draw(bare) is None
    assert Page(write_report([bare], {}, tmp_path / "report").read_text()).tags.count("svg") == 1


def test_what_is_missing_or_torn_is_named_in_one_line(results: list[Result], tmp_path: Path) -> None:
    folder = tmp_path / "results"
    evaluation, curve = folder / "duel" / "evaluation.json", folder / "duel" / "curve.csv"
    whole = evaluation.read_text()
    for text in (whole[:50], "[]", whole.replace('"format": 1', '"format": 2')):
        evaluation.write_text(text)
        with pytest.raises(ResultError, match=r"^\S+duel/evaluation\.json: [^\n]*run `dvc repro`$"):
            read_results(folder, {"duel": CONFIG})
    evaluation.write_text(whole)
    curve.write_text("round,decisions\n1,many\n")
    with pytest.raises(ResultError, match=r"^\S+duel/curve\.csv: [^\n]*$"):
        read_results(folder, {"duel": CONFIG})
    curve.unlink()
    with pytest.raises(ResultError, match=r"curve\.csv: [^\n]*No such file"):
        read_results(folder, {"duel": CONFIG})
