"""The report: what it shows, and that equal results give equal bytes."""

import copy
import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from cardlab.experiments.config.values import compare_parameters
from cardlab.experiments.report.curves import (
    draw_calibration,
    draw_game_lengths,
    draw_learning_curves,
    draw_snapshot_scores,
)
from cardlab.experiments.report.drawing import inline_svg, report_style
from cardlab.experiments.report.page import GAME_PICTURES, write_report
from cardlab.experiments.report.ranking import by_game
from cardlab.experiments.report.read_results import (
    Result,
    ResultError,
    read_comparisons,
    read_exploitability,
    read_methods,
    read_results,
    read_tournaments,
)
from cardlab.experiments.report.score_pictures import draw_cross_table, draw_score_intervals, draw_snapshot_table

if TYPE_CHECKING:
    from playwright.sync_api import Page as BrowserPage

CONFIG: dict[str, Any] = {
    "name": "duel",
    "seed": 0,
    "game": {"name": "thirty_one"},
    "agent": {"name": "dqn", "gamma": 0.97, "clip": None},
    "network": {"name": "mlp", "widths": [64, 64]},
    "opponents": {"name": "self_play"},
    "trainer": {"parallel_games": 64, "evaluation_deals": 500},
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
        "seeds": [7, 8, 9], "references": references,
        "by_seed": {str(seed): {"policy_digest": f"abc12{seed - 4}", "references": references} for seed in (7, 8, 9)},
    }  # fmt: skip
    (folder / name / "evaluation.json").write_text(json.dumps(evaluation))
    with (folder / name / "curve.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["iteration", "decisions", "train/value_loss", *columns])
        for point in range(1, 6):
            writer.writerow([point * 10, point * 81920, 1 / point, *(0.5 + 0.05 * point for _ in columns)])


def write_more(folder: Path, name: str, references: list[str]) -> None:
    """Files of the optional stages for a training with three snapshots."""

    def row(mean: float) -> dict[str, float]:
        return {"mean": mean, "low": mean - 0.1, "high": mean + 0.1}

    history = {
        "format": 1, "deals": 200, "decisions": [1000, 2000, 30_500],
        "references": {reference: [row(0.1 * n) for n in range(3)] for reference in references},
        "margins": [[1, 0, 0.5, 0.3, 0.7], [2, 0, -0.1, -0.3, 0.1], [2, 1, 0.25, 0.05, 0.45]],
        "cycles": [{"places": [0, 2, 1], "sure": False}],
    }  # fmt: skip
    outcomes = [
        {"title": "cards left", "labels": ["0", "1", "2"], "policy": [0.5, 0.5, 0], "others": [0.25, 0.75, 0]},
    ]
    forecasts = {"games": 1000, "decisions": 5000, "bias": -0.25, "explained": 0.5}
    survey = {
        "format": 1, "against": "greedy", "games": 400, "length": {"mean": 20.5, "counts": {"20": 200, "21": 200}},
        "outcomes": outcomes, "calibration": forecasts,
    }  # fmt: skip
    curves = ["seed,iteration,decisions,score/greedy", *(f"{seed},10,81920,0.{seed}" for seed in (7, 8, 9))]
    (folder / name / "seed_curves.csv").write_text("\n".join(curves) + "\n")
    for file, content in (("snapshot_matches", history), ("game_statistics", survey)):
        (folder / name / f"{file}.json").write_text(json.dumps(content))
    rows = ["predicted,paid,low,high,decisions", "-1,-0.9,-1.1,-0.7,2500", "1,0.8,0.6,1.0,2500"]
    (folder / name / "calibration.csv").write_text("\n".join(rows) + "\n")


def tournament(
    game: str = "thirty_one", names: tuple[str, str, str] = ("models/duel/seed_7", "greedy", "random")
) -> dict[str, Any]:
    def cell(agent: str, opponent: str, points: float) -> dict[str, Any]:
        ends = {"low": points - 0.1, "high": points + 0.1}
        return {"agent": agent, "opponent": opponent, "points": points, **ends, "deals": 200}

    pairs = [(0, 1, 0.2), (0, 2, 0.9), (1, 2, 0.05)]
    cells = [cell(names[i], names[j], x) for i, j, x in pairs] + [cell(names[j], names[i], -x) for i, j, x in pairs]
    return {
        "format": 1, "game": game, "num_players": 2, "deals": 200, "cells": cells,
        "standings": [{"agent": name} for name in names], "cycles": [{"agents": [*names], "sure": True}],
    }  # fmt: skip


@pytest.fixture
def full_results(results: list[Result], tmp_path: Path) -> list[Result]:
    folder = tmp_path / "results"
    write_more(folder, "duel", ["random", "greedy"])
    write_more(folder, "squares", ["self", "random"])
    return read_results(folder, {result.name: result.config for result in results})


@pytest.fixture
def results(tmp_path: Path) -> list[Result]:
    folder = tmp_path / "results"
    bands = ["win_rate/greedy", *(f"interval/win_rate/greedy_{end}" for end in ("low", "high"))]
    write_results(
        folder, "duel", "thirty_one", {"random": figures(0.9, 0.97), "greedy": figures(0.2, 0.61)},
        [*bands, "score/greedy", "interval/score/greedy_low", "interval/score/greedy_high"],
    )  # fmt: skip
    own = ["score/self", *(f"interval/score/self_{end}" for end in ("low", "high"))]
    write_results(folder, "squares", "poker_squares", {"self": figures(112.3), "random": figures(14.5)}, own)
    squares = {**copy.deepcopy(CONFIG), "name": "squares", "game": {"name": "poker_squares"}}
    return read_results(folder, {"duel": CONFIG, "squares": squares})


def drawn(draw: Any, result: Any) -> Any:
    with report_style():
        return draw(result)[0]


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
    path = write_report(results, tmp_path / "report")
    text = path.read_text()
    page = Page(text)
    runs = [link for link in page.links if not link.startswith("#")]
    assert runs == ["http://127.0.0.1:5000/policy/abc123"] * 2
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    assert "url(http" not in text
    assert "@import" not in text
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links if link not in runs} <= set(page.ids)
    assert page.tags.count("svg") == 6  # a row of the table and two pictures for each game
    words = " ".join(" ".join(page.words).split())
    for figure in ("0.20 0.10 to 0.30", "61.0 % 59.0 to 63.0", "112.30 112.20 to 112.40", "random makes 14.50"):
        assert figure in words
    for fact in ("abc123", "0.97", "only experiment"):
        assert fact in words


def rival(results: list[Result], score: float) -> Result:
    """A second experiment of the first game."""
    config = {**CONFIG, "name": "rival", "agent": {"name": "ppo", "gamma": 0.97, "clip": 0.2}}
    references = {"random": figures(0.95, 0.98), "greedy": figures(score, 0.6)}
    return Result("rival", config, {**results[0].evaluation, "references": references}, results[0].curve)


def test_exact_exploitability_is_shown_where_it_was_measured(tmp_path: Path) -> None:
    bands = ["exploitability", "interval/exploitability_low", "interval/exploitability_high"]
    write_results(tmp_path / "results", "duel", "thirty_one", {"random": figures(0.9, 0.97)}, ["score/random", *bands])
    page = write_report(read_results(tmp_path / "results", {"duel": CONFIG}), tmp_path / "report").read_text()
    assert "duel: exploitability 0.750 at the end of the training" in " ".join(Page(page).words)


@pytest.mark.parametrize(
    ("margin", "verdict"), [(-0.3, "best"), (0.05, "not decided"), (0.3, "loses to duel"), (None, "not decided")]
)
def test_head_to_head_decides_which_experiment_is_best(
    results: list[Result], tmp_path: Path, margin: float | None, verdict: str
) -> None:
    tables = [tournament(names=("models/duel/seed_7", "models/rival/seed_7", "greedy"))] if margin is not None else []
    for table in tables:
        cell = next(cell for cell in table["cells"] if cell["agent"] == "models/duel/seed_7")
        cell |= {"points": margin, "low": (margin or 0) - 0.1, "high": (margin or 0) + 0.1}
    both = [*results, rival(results, 0.25)]
    game = by_game(both, tables)[0]
    assert [result.name for result in game.results] == ["rival", "duel"]
    assert game.verdict == verdict
    words = " ".join(Page(write_report(both, tmp_path / "report", tables).read_text()).words)
    assert verdict in words
    assert ("not played" in words) == (margin is None)


def test_single_players_are_compared_by_the_evaluations_with_more_deals(results: list[Result]) -> None:
    squares = results[1]
    table = tournament("poker_squares", ("models/squares/seed_7", "models/other/seed_7", "random"))
    other = Result("other", squares.config, {**squares.evaluation, "references": {"self": figures(100.0)}}, {})
    margin = by_game([squares, other], [table])[0].margin(other)
    assert margin is not None
    assert (margin.mean, margin.deals) == (pytest.approx(-12.3), 2000)
    assert margin.half_width == pytest.approx(0.1 * 2**0.5)
    elsewhere = Result("other", other.config, {**other.evaluation, "seed": 1}, {})
    margin = by_game([squares, elsewhere], [table])[0].margin(elsewhere)
    assert margin is not None
    assert (margin.mean, margin.deals) == (pytest.approx(-0.2), 200)


def test_parameters_that_differ_come_first(results: list[Result]) -> None:
    differing, common = compare_parameters([results[0].config, rival(results, 0.1).config])
    assert differing == [("agent.clip", ["null", "0.2"]), ("agent.name", ["dqn", "ppo"])]
    assert ("agent.gamma", ["0.97", "0.97"]) in common


def test_the_same_results_give_the_same_bytes(results: list[Result], tmp_path: Path) -> None:
    first = write_report(results, tmp_path / "one").read_bytes()
    second = write_report(results, tmp_path / "two").read_bytes()
    assert first == second
    assert not re.search(rb"20\d\d-\d\d-\d\d|dc:date|\d\d:\d\d:\d\d", first)


def test_names_are_escaped(results: list[Result], tmp_path: Path) -> None:
    evil = Result("<script>x</script>", results[0].config, results[0].evaluation, results[0].curve)
    text = write_report([evil], tmp_path / "report").read_text()
    assert "<script>" not in text


@pytest.mark.parametrize("draw", [draw_learning_curves, draw_score_intervals])
def test_pictures_are_well_formed_and_named(results: list[Result], draw: Any) -> None:
    for result in results:
        with report_style():
            figure, caption = draw([result])
            svg = inline_svg(figure, 'A "name" & <more>')
        root = ElementTree.fromstring(svg)
        assert root.get("aria-label") == 'A "name" & <more>'
        assert root.get("viewBox")
        assert root.get("width") is None
        assert caption.endswith(".")
        assert "var(--c0, #0072b2)" in svg  # the page has another value on a dark screen


def test_the_experiments_of_a_game_share_the_charts(results: list[Result]) -> None:
    both = [rival(results, 0.25), results[0]]
    axes = drawn(draw_learning_curves, both).axes[0]
    assert [line.get_label() for line in axes.lines] == ["rival", "duel", "greedy"]
    assert list(axes.lines[0].get_xdata()) == [81920 * point for point in range(1, 6)]
    assert list(axes.lines[0].get_ydata()) == pytest.approx([0.55, 0.6, 0.65, 0.7, 0.75])
    assert len(axes.collections) == 2
    scores = drawn(draw_score_intervals, both).axes[0]
    assert [label.get_text() for label in scores.get_yticklabels()] == ["random", "greedy"]
    assert [text.get_text() for text in scores.texts][2:] == ["0.25 ± 0.10", "0.20 ± 0.10"]
    alone = drawn(draw_score_intervals, results[1:]).axes[0]
    assert [label.get_text() for label in alone.get_yticklabels()] == ["squares", "random"]


def test_the_curve_against_a_reference_with_options_is_drawn(results: list[Result]) -> None:
    """Its column has the name that MLflow accepts."""
    duel = results[0]
    text, column = "threshold:level:29", "threshold.level.29"
    references = {text if name == "greedy" else name: row for name, row in duel.evaluation["references"].items()}
    curve = {name.replace("greedy", column): values for name, values in duel.curve.items()}
    renamed = Result("duel", duel.config, {**duel.evaluation, "references": references}, curve)
    lines = drawn(draw_learning_curves, [renamed]).axes[0].lines
    assert [line.get_label() for line in lines] == ["duel", text]


def test_a_chart_has_a_faint_line_for_each_seed(full_results: list[Result]) -> None:
    axes = drawn(draw_learning_curves, [full_results[0]]).axes[0]
    assert [list(line.get_ydata()) for line in axes.lines[:3]] == [[0.7], [0.8], [0.9]]
    caption: Any = draw_learning_curves([full_results[0]])
    assert "mean over 3 seeds with 95 % band" in caption[1]


def test_a_run_without_points_has_no_curve(results: list[Result], tmp_path: Path) -> None:
    bare = Result("duel", CONFIG, results[0].evaluation, {})
    assert draw_learning_curves([bare]) is None
    assert Page(write_report([bare], tmp_path / "report").read_text()).tags.count("svg") == 2


def test_what_is_missing_or_torn_is_named_in_one_line(results: list[Result], tmp_path: Path) -> None:
    folder = tmp_path / "results"
    evaluation, curve = folder / "duel" / "evaluation.json", folder / "duel" / "curve.csv"
    whole = evaluation.read_text()
    for text in (whole[:50], "[]", whole.replace('"format": 1', '"format": 2')):
        evaluation.write_text(text)
        with pytest.raises(ResultError, match=r"^\S+duel/evaluation\.json: [^\n]*run `dvc repro`$"):
            read_results(folder, {"duel": CONFIG})
    evaluation.write_text(whole.replace('"references"', '"others"'))
    with pytest.raises(ResultError, match=r"evaluation\.json: is an evaluation without references: run `dvc repro`$"):
        read_results(folder, {"duel": CONFIG})
    evaluation.write_text(whole)
    curve.write_text("iteration,decisions\n1,many\n")
    with pytest.raises(ResultError, match=r"^\S+duel/curve\.csv: [^\n]*$"):
        read_results(folder, {"duel": CONFIG})
    curve.unlink()
    with pytest.raises(ResultError, match=r"curve\.csv: a learning curve is missing: run `dvc repro`$"):
        read_results(folder, {"duel": CONFIG})


def test_a_full_page_has_every_picture_as_a_file_too(full_results: list[Result], tmp_path: Path) -> None:
    path = write_report(full_results, tmp_path / "report", [tournament()])
    page = Page(path.read_text())
    assert page.tags.count("svg") == 2 + 13  # the table has two
    assert len(page.ids) == len(set(page.ids))
    words = " ".join(" ".join(page.words).split())
    for fact in (
        "dvc repro train@duel",
        "explained variance 50 %",
    ):
        assert fact in words
    assert "Not transitive: duel beats greedy beats random beats duel." in words
    files = sorted(str(file.relative_to(path.parent / "figures")) for file in path.parent.rglob("*.svg"))
    names = ("calibration", "game_lengths", "snapshot_scores", "snapshot_table")
    own = [f"{folder}/{name}.svg" for folder in ("duel", "squares") for name in names]
    games = [f"{game}/{name}.svg" for game in ("poker_squares", "thirty_one") for name in GAME_PICTURES]
    assert files == sorted([*own, *games, "thirty_one/cross_table_1.svg"])
    for file in files:
        ElementTree.parse(path.parent / "figures" / file)


def test_pictures_of_experiments_that_are_gone_go(full_results: list[Result], tmp_path: Path) -> None:
    write_report(full_results, tmp_path / "report")
    write_report(full_results[:1], tmp_path / "report")
    assert sorted(path.name for path in (tmp_path / "report" / "figures").iterdir()) == ["duel", "thirty_one"]


def test_tables_of_games_without_experiments_are_left_out(full_results: list[Result], tmp_path: Path) -> None:
    path = write_report(full_results, tmp_path / "report", [tournament("big2")])
    assert "Cross table" not in path.read_text()


def cells(figure: Any) -> list[tuple[str, bool]]:
    return [(text.get_text(), text.get_fontweight() == "bold") for text in figure.axes[0].texts]


def test_past_selves_are_a_triangle_with_what_is_sure_in_bold(full_results: list[Result]) -> None:
    figure = drawn(draw_snapshot_table, full_results[0])
    assert cells(figure) == [("+0.50", True), ("-0.10", False), ("+0.25", True)]
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["2k", "30.5k"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1k", "2k"]
    drawing: Any = draw_snapshot_table(full_results[0])
    assert "triples: 1, of which 0 with" in drawing[1]


def test_a_cross_table_has_both_sides_of_every_pair() -> None:
    figure = drawn(draw_cross_table, tournament())
    assert len(cells(figure)) == 6
    assert ("+0.05", False) in cells(figure)
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["duel", "greedy", "random"]


def test_strength_through_training_has_a_line_for_each_reference_and_one_for_the_past(
    full_results: list[Result],
) -> None:
    duel, squares = (drawn(draw_snapshot_scores, result).axes[0] for result in full_results)
    labels = [line.get_label() for line in duel.lines if not line.get_label().startswith("_")]
    assert labels == ["against random", "against greedy", "over the previous"]
    assert list(duel.lines[2].get_ydata()) == [0.5, 0.25]
    assert len(squares.lines) == 1


def test_calibration_shows_bins_and_the_diagonal(full_results: list[Result]) -> None:
    axes = drawn(draw_calibration, full_results[0]).axes[0]
    assert list(axes.lines[1].get_ydata()) == [-0.9, 0.8]
    assert list(axes.lines[0].get_xdata()) == list(axes.lines[0].get_ydata())
    drawing: Any = draw_calibration(full_results[0])
    assert "Mean error -0.25" in drawing[1]


def test_games_show_lengths_and_leave_out_what_never_happened(full_results: list[Result]) -> None:
    lengths, left = drawn(draw_game_lengths, full_results[0]).axes
    assert sum(bar.get_height() for bar in lengths.patches) == pytest.approx(1)
    assert [label.get_text() for label in left.get_yticklabels()] == ["0", "1"]
    assert [bar.get_width() for bar in left.patches] == [0.5, 0.5, 0.25, 0.75]


def test_more_results_that_are_torn_are_named(full_results: list[Result], tmp_path: Path) -> None:
    folder = tmp_path / "results"
    for name in ("snapshot_matches.json", "game_statistics.json", "calibration.csv"):
        path = folder / "duel" / name
        whole = path.read_text()
        path.write_text(whole[: len(whole) // 2].replace("-0.9", "much"))
        with pytest.raises(ResultError, match=rf"^\S+duel/{name}: [^\n]*run `dvc repro`$"):
            read_results(folder, {"duel": CONFIG})
        path.write_text(whole)
    tables = folder / "tournaments"
    tables.mkdir()
    (tables / "thirty_one.json").write_text("{")
    with pytest.raises(ResultError, match=r"thirty_one\.json: is not a tournament"):
        read_tournaments(tables)


def test_verdicts_over_seeds_and_the_table_of_learners_are_shown(results: list[Result], tmp_path: Path) -> None:
    (tmp_path / "comparisons").mkdir()
    pair = {"best": "duel", "other": "other", "decided": True, "verdict": "duel is better than other: +0.100"}
    comparison = {"format": 1, "game": "thirty_one", "pairs": [pair]}
    (tmp_path / "comparisons" / "thirty_one.json").write_text(json.dumps(comparison))
    row = {"name": "ppo", "score": 0.25, "low": 0.125, "high": 0.375, "seeds": 3, "cpu_minutes": 0.5}
    table = {"against": "greedy", "decisions": 500_000, "methods": [row]}
    (tmp_path / "methods.json").write_text(json.dumps({"format": 1, "games": {"thirty_one": table}}))
    (tmp_path / "comparisons" / "former.json").write_text("{}")  # of a pair that params.yaml no longer has
    comparisons = read_comparisons(tmp_path / "comparisons", ["thirty_one", "to_be_made"])
    methods = read_methods(tmp_path / "methods.json")
    path = write_report(results, tmp_path / "report", (), comparisons, methods)
    words = " ".join(" ".join(Page(path.read_text()).words).split())
    assert "Over seeds: duel is better than other: +0.100." in words
    assert re.search(r"over seeds: .*thirty_one : \w+ better than other", words)
    assert "ppo 0.25 0.12 to 0.38 greedy 3 500,000 0.5" in words
    assert read_methods(tmp_path / "nothing.json") == {}
    exploitability = read_exploitability(Path(__file__).parents[3] / "champions")
    assert list(exploitability) == ["big2", "five_o", "open_face", "thirty_one"]
    path = write_report(results, tmp_path / "report", exploitability=exploitability)
    words = " ".join(" ".join(Page(path.read_text()).words).split())
    assert "five_o from the champion's weights −0.016 −0.042 to +0.010" in words
    assert "Learners over seeds" not in write_report(results, tmp_path / "report").read_text()


@pytest.mark.slow
def test_a_phone_shows_the_whole_table_without_scrolling_sideways(
    full_results: list[Result], tmp_path: Path, page: "BrowserPage"
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(write_report(full_results, tmp_path / "report", [tournament()]).as_uri())
    tables = page.locator(".scroll:visible")
    widths = "divs => [document.documentElement, ...divs].map(one => one.scrollWidth - one.clientWidth)"
    assert set(tables.evaluate_all(widths)) == {0}
    score = page.locator("tr.first td[data-label=score]").first
    assert score.evaluate("cell => getComputedStyle(cell, '::before').content") == '"score "'
