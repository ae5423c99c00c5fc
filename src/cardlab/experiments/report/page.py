"""The report: results, pictures and their origin on one self-contained page."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2

from cardlab.evaluation.intervals import SELF, Estimate
from cardlab.experiments.config.values import compare_parameters
from cardlab.experiments.report.curves import (
    draw_calibration,
    draw_game_lengths,
    draw_learning_curves,
    draw_snapshot_scores,
)
from cardlab.experiments.report.drawing import Drawn, inline_svg, report_style
from cardlab.experiments.report.ranking import Ranking, Tournament, by_game
from cardlab.experiments.report.read_results import Result
from cardlab.experiments.report.score_pictures import draw_cross_table, draw_score_intervals, draw_snapshot_table
from cardlab.tracking.policy_lookup import run_link

_TEMPLATES = Path(__file__).parent / "templates"
_DECIDED = {"better than": True, "not decided against": False}

GAME_PICTURES: Mapping[str, tuple[str, Callable[[Sequence[Result]], Drawn | None]]] = {
    "learning_curves": ("Learning curves", draw_learning_curves),
    "score_intervals": ("Final scores", draw_score_intervals),
}
"""Name of the file → title, and function of a game's results, best first."""

PICTURES: Mapping[str, tuple[str, Callable[[Result], Drawn | None]]] = {
    "snapshot_scores": ("Scores of snapshots", draw_snapshot_scores),
    "snapshot_table": ("Snapshots against each other", draw_snapshot_table),
    "calibration": ("Calibration of values", draw_calibration),
    "game_lengths": ("Length and outcomes of games", draw_game_lengths),
}
"""Name of the file → title, and function that returns None when the result lacks the data; in the order of the page."""


def write_report(
    results: Sequence[Result],
    folder: Path,
    tournaments: Sequence[Tournament] = (),
    comparisons: Sequence[Mapping[str, Any]] = (),
    methods: Mapping[str, Mapping[str, Any]] | None = None,
    exploitability: Mapping[str, Mapping[str, Any]] | None = None,
) -> Path:
    """Write index.html and figures/ into `folder`; equal results give equal bytes."""
    figures = folder / "figures"
    shutil.rmtree(figures, ignore_errors=True)
    with report_style():
        games = [_game(game, figures) for game in by_game(results, tournaments)]
    for game in games:
        pairs = [pair for each in comparisons if each["game"] == game["game"].name for pair in each["pairs"]]
        game["verdicts"] = [pair["verdict"] for pair in pairs]
        game["answer"] = _answer(game["game"], pairs)
    path = folder / "index.html"
    values = {"games": games, "methods": methods or {}, "exploitability": exploitability or {}}
    render_page("report.html.j2", path, own=SELF, run_link=run_link, **values)
    return path


def render_page(template: str, path: Path, **values: object) -> None:
    """Write the page of a template in templates/ with these values."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(environment.get_template(template).render(texts=_texts, **values), encoding="utf-8")


def _answer(game: Ranking, pairs: Sequence[Mapping[str, Any]]) -> str:
    """What comparisons over seeds decide about the first experiment; without any, what the tournament does."""
    first = game.results[0].name
    met = {pair["other"]: pair["decided"] for pair in pairs if pair.get("best") == first}
    texts = {what: [name for name in met if met[name] is decided] for what, decided in _DECIDED.items()}
    parts = [f"{what} {', '.join(names)}" for what, names in texts.items() if names]
    return "; ".join(parts) or game.verdict


def _game(game: Ranking, figures: Path) -> dict[str, Any]:
    """What the template shows of a game."""
    pictures = [
        _picture(drawn, title, f"{title} of {game.name}", figures / game.name / f"{name}.svg")
        for name, (title, draw) in GAME_PICTURES.items()
        if (drawn := draw(game.results)) is not None
    ]
    tables = [
        _picture(
            draw_cross_table(tournament),
            "Cross table",
            f"Cross table {number} of {game.name}",
            figures / game.name / f"cross_table_{number}.svg",
        )
        for number, tournament in enumerate(game.tournaments, start=1)
    ]
    differing, common = compare_parameters([result.config for result in game.results])
    return {
        "game": game,
        "pictures": pictures,
        "tables": tables,
        "details": {result.name: list(_pictures(result, figures / result.name)) for result in game.results},
        "differing": differing,
        "common": common,
    }


def _pictures(result: Result, figures: Path) -> Iterator[dict[str, str]]:
    for name, (title, draw) in PICTURES.items():
        drawn = draw(result)
        if drawn is not None:
            yield _picture(drawn, title, f"{title} of {result.name}", figures / f"{name}.svg")


def _picture(drawn: Drawn, title: str, label: str, path: Path) -> dict[str, str]:
    """The picture for the page; it is written to `path` too."""
    figure, caption = drawn
    svg = inline_svg(figure, label)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(svg + "\n", encoding="utf-8")
    return {"title": title, "caption": caption, "svg": svg}


def _texts(value: Estimate, shape: str = ".2f", scale: float = 1.0) -> tuple[str, str]:
    """Mean and interval as texts, e.g. ("0.51", "0.49 to 0.54"), with real minus signs."""
    mean, low, high = (f"{scale * each:{shape}}".replace("-", "−") for each in (value.mean, value.low, value.high))
    return mean, f"{low.removeprefix('+')} to {high.removeprefix('+')}"
