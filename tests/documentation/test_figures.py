"""The figures of the README are those of results/, as the pipeline left them last."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("experiment", "reference"),
    [
        ("poker_squares_td", "self"),
        ("poker_squares_dqn", "self"),
        ("thirty_one_dqn", "greedy_stock_only"),
        ("thirty_one_dqn", "greedy"),
        ("thirty_one_ppo", "greedy_stock_only"),
        ("thirty_one_ppo", "greedy"),
        ("five_o_td", "reflex_3"),
        ("open_face_td", "random_fills"),
        ("big2_ppo", "random"),
        ("big2_ppo", "planner"),
    ],
)
def test_the_table_of_the_readme_says_what_the_pipeline_found(experiment: str, reference: str) -> None:
    evaluation = json.loads((ROOT / "results" / experiment / "evaluation.json").read_text(encoding="utf-8"))
    found, seeds = evaluation["references"][reference], len(evaluation.get("seeds", [7]))
    if experiment == "big2_ppo" and reference == "planner":  # in points, as the papers have it
        row = f"| {found['mean']:.2f} | {found['low']:.2f} to {found['high']:.2f} | {seeds} |"
    elif reference == "self":
        row = f"| {found['mean']:.1f} | {found['low']:.1f} to {found['high']:.1f} | {seeds} |"
    else:
        mean, low, high = (100 * found[name] for name in ("win_rate", "win_rate_low", "win_rate_high"))
        row = f"| {mean:.1f} % | {low:.1f} to {high:.1f} | {seeds} |"
    assert row in (ROOT / "README.md").read_text(encoding="utf-8"), f"{experiment} against {reference}: {row}"
