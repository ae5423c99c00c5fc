"""The report: results, pictures and their origin on one self-contained page."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, cast

import jinja2
from matplotlib.figure import Figure

from cardlab.experiments.report import (
    calibration,
    cross_table,
    game_lengths,
    learning_curve,
    score_bars,
    snapshot_scores,
    snapshot_table,
)
from cardlab.experiments.report.drawing import inline_svg, report_style
from cardlab.experiments.report.results import SELF, Result

Tournament = Mapping[str, Any]
"""The content of a tournament.json, as `read_tournaments` gives it."""

_TEMPLATES = Path(__file__).parent / "templates"


class Picture(Protocol):
    """The interface of a module that draws a picture."""

    TITLE: str
    __name__: str

    def caption(self, result: Result) -> str:
        """One sentence that explains the picture."""
        ...

    def draw(self, result: Result) -> Figure | None:
        """The picture; None when the result lacks the data."""
        ...


PICTURES: tuple[Picture, ...] = (
    learning_curve,
    score_bars,
    snapshot_scores,
    snapshot_table,
    calibration,
    game_lengths,
)  # in the order of the page


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
        for number, tournament in enumerate(tournaments):
            if tournament["game"] in by_game:
                game = by_game[tournament["game"]]
                game["tables"].append(_cross_table(tournament, figures / "tournaments", number))
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
    for picture in PICTURES:
        figure = picture.draw(result)
        if figure is not None:
            svg = inline_svg(figure, f"{picture.TITLE} of {result.name}")
            _write(svg, figures / f"{picture.__name__.rsplit('.', maxsplit=1)[-1]}.svg")
            yield {"title": picture.TITLE, "caption": picture.caption(result), "svg": svg}


def _cross_table(tournament: Tournament, figures: Path, number: int) -> dict[str, str]:
    svg = inline_svg(cross_table.draw(tournament), f"{cross_table.TITLE} {number + 1}: {tournament['game']}")
    _write(svg, figures / f"{tournament['game']}_{number + 1}.svg")
    return {"title": cross_table.TITLE, "caption": cross_table.caption(tournament), "svg": svg}


def _write(svg: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(svg + "\n", encoding="utf-8")


def _leaves(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    """(key, value) of all leaves, nested keys joined by dots."""
    if isinstance(value, Mapping):
        for name, inner in cast(Mapping[str, object], value).items():
            yield from _leaves(inner, f"{key}.{name}" if key else name)
    else:
        yield key, "–" if value is None else str(value)
