"""Figures of the README and of experiments' files are those of results/, or of the page that they name."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("experiment", "reference"),
    [
        ("poker_squares_td", "self"),
        ("thirty_one_dqn", "greedy_stock_only"),
        ("five_o_td", "reflex_3"),
        ("open_face_td", "random_fills"),
        ("big2_ppo", "planner"),
    ],
)
def test_the_table_of_the_readme_says_what_the_pipeline_found(experiment: str, reference: str) -> None:
    evaluation = json.loads((ROOT / "results" / experiment / "evaluation.json").read_text(encoding="utf-8"))
    found, seeds = evaluation["references"][reference], len(evaluation.get("seeds", [7]))
    if reference in ("planner", "reflex_3", "random_fills"):  # in points, as the champions' figures
        row = f"| {found['mean']:.2f} | {found['low']:.2f} to {found['high']:.2f} | {seeds} |"
    elif reference == "self":
        row = f"| {found['mean']:.1f} | {found['low']:.1f} to {found['high']:.1f} | {seeds} |"
    else:
        mean, low, high = (100 * found[name] for name in ("win_rate", "win_rate_low", "win_rate_high"))
        row = f"| {mean:.1f} % | {low:.1f} to {high:.1f} | {seeds} |"
    assert row in (ROOT / "README.md").read_text(encoding="utf-8"), f"{experiment} against {reference}: {row}"


@pytest.mark.parametrize("evaluated", sorted((ROOT / "papers" / "results").glob("*/evaluation.json")))
def test_the_table_of_the_papers_says_what_their_stages_found(evaluated: Path) -> None:
    evaluation = json.loads(evaluated.read_text(encoding="utf-8"))
    references, digits = evaluation["references"], 1 if evaluation["num_players"] == 1 else 2
    found = references.get("self") or references["random"]
    mean, low, high = (f"{found[name]:.{digits}f}" for name in ("mean", "low", "high"))
    row = f"| {mean} | {low} to {high} | {len(evaluation['seeds'])} |"
    assert row in (ROOT / "docs" / "papers" / "README.md").read_text(encoding="utf-8"), f"{evaluated}: {row}"


@pytest.mark.parametrize("measured", sorted((ROOT / "papers" / "champions" / "results").glob("*/evaluation.json")))
def test_the_page_of_champions_says_what_their_stages_found(measured: Path) -> None:
    evaluation = json.loads(measured.read_text(encoding="utf-8"))
    (found,) = (score for name, score in evaluation["references"].items() if "champions/" in name)
    keys = ("difference", "difference_low", "difference_high") if "difference" in found else ("mean", "low", "high")
    mean, low, high = (f"{found[key]:.3f}" for key in keys)  # a game of one player has a difference, deal by deal
    row = f"| {mean} | {low} to {high} | {evaluation['deals']:,} |"
    assert row in (ROOT / "docs" / "champions.md").read_text(encoding="utf-8"), f"{measured}: {row}"
    if found[keys[2]] < 0:  # weaker than the champion
        card = (ROOT / "champions" / evaluation["game"] / "README.md").read_text(encoding="utf-8")
        shown = f"makes {mean} points a game, 95 % interval {low} to {high}, on {evaluation['deals']:,} deals"
        assert shown in " ".join(card.split()), measured


def test_the_page_of_poker_squares_has_the_best_games() -> None:
    page = (ROOT / "docs" / "papers" / "poker_squares.md").read_text(encoding="utf-8")
    found = json.loads((ROOT / "studies" / "paper_recipes" / "best_games.json").read_text(encoding="utf-8"))
    champion, networks = found.pop("champion"), found.values()
    share, highest = (max(each[key] for each in networks) for key in ("share_200", "highest"))
    assert f"at most {100 * share:.3f} % of 40,000 games, the highest {highest:.0f}." in page
    assert f"in {100 * champion['share_200']:.1f} %, the highest {champion['highest']:.0f};" in page
    assert 0.08 < champion["chance_280_in_350"] < 0.12  # one of ten


def test_the_page_of_methods_says_what_the_benchmark_beside_stable_baselines_found() -> None:
    page = (ROOT / "docs" / "results" / "methods.md").read_text(encoding="utf-8")
    rows = json.loads((ROOT / "benchmarks" / "beside_stable_baselines.json").read_text(encoding="utf-8"))
    assert rows
    for key, row in rows.items():
        sides = (row[side] for side in ("cardlab", "peer", "ahead"))
        shown = " | ".join(f"{side['points']:.2f} ({side['low']:.2f} to {side['high']:.2f})" for side in sides)
        name, learner, minutes = key.split()
        assert f"| {name} | {learner} | {minutes} | {shown} |" in page, key


def test_scores_of_experiments_are_in_the_pages_that_they_name() -> None:
    """Scores without a page are those of results/, which tests/experiments/config/test_generate_conf.py compares."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "conf" / "experiment").rglob("*.yaml"))]
    scores = [line for text in texts for line in re.findall(r"^# Score: (.*); (\S+\.md)$", text, re.MULTILINE)]
    assert scores
    for score, page in scores:
        figures = re.findall(r"\d+\.\d+", score)
        assert figures
        assert not set(figures) - set(re.findall(r"\d+\.\d+", (ROOT / page).read_text(encoding="utf-8"))), score
