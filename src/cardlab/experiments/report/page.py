"""The report: results, pictures and their origin on one self-contained page."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import jinja2

from cardlab.experiments.report.calibration import draw_calibration
from cardlab.experiments.report.curves import draw_learning_curve, draw_snapshot_scores
from cardlab.experiments.report.drawing import Drawn, inline_svg, report_style
from cardlab.experiments.report.game_lengths import draw_game_lengths
from cardlab.experiments.report.heat_maps import draw_cross_table, draw_snapshot_table
from cardlab.experiments.report.read_results import SELF, Result
from cardlab.experiments.report.score_bars import draw_score_bars

Tournament = Mapping[str, Any]
"""The content of a tournament.json, as `read_tournaments` gives it."""

_TEMPLATES = Path(__file__).parent / "templates"


PICTURES: Mapping[str, tuple[str, Callable[[Result], Drawn | None]]] = {
    "learning_curve": ("Learning curve", draw_learning_curve),
    "score_bars": ("Strength", draw_score_bars),
    "snapshot_scores": ("Scores of snapshots", draw_snapshot_scores),
    "snapshot_table": ("Snapshots against each other", draw_snapshot_table),
    "calibration": ("Calibration of values", draw_calibration),
    "game_lengths": ("Length and kinds of games", draw_game_lengths),
}
"""Name of the file → title, and function that returns None when the result lacks the data; in the order of the page."""


def write_report(
    results: Sequence[Result],
    lineage: Mapping[str, str],
    folder: Path,
    tournaments: Sequence[Tournament] = (),
) -> Path:
    """Write index.html and figures/ into `folder`; equal results give equal bytes."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    figures = folder / "figures"
    shutil.rmtree(figures, ignore_errors=True)
    with report_style():
        by_game: dict[str, dict[str, Any]] = {}
        for result in results:
            game = by_game.setdefault(result.game, {"sections": [], "tables": []})
            game["sections"].append(_section(result, figures / result.name))
        for number, tournament in enumerate(tournaments, start=1):
            if (name := tournament["game"]) in by_game:
                drawn, label = draw_cross_table(tournament), f"Cross table {number}: {name}"
                path = figures / "tournaments" / f"{name}_{number}.svg"
                by_game[name]["tables"].append(_picture(drawn, "Cross table", label, path))
    page = environment.get_template("report.html.j2").render(games=list(by_game.items()), lineage=lineage, own=SELF)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "index.html"
    path.write_text(page, encoding="utf-8")
    return path


def _section(result: Result, figures: Path) -> dict[str, Any]:
    curve = result.curve
    return {
        "result": result,
        "pictures": list(_pictures(result, figures)),
        "origin": {key: value for key, value in (result.training or {}).get("origin", {}).items() if key != "versions"},
        "parameters": {group: list(_leaves(result.config[group])) for group in sorted(result.config)},
        "decisions": int(curve["decisions"][-1]) if len(curve.get("decisions", ())) else 0,
        "iterations": int(curve["iteration"][-1]) if len(curve.get("iteration", ())) else 0,
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


def _leaves(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    """(key, value) of all leaves, nested keys joined by dots."""
    if isinstance(value, Mapping):
        for name, inner in cast(Mapping[str, object], value).items():
            yield from _leaves(inner, f"{key}.{name}" if key else name)
    else:
        yield key, "–" if value is None else str(value)
