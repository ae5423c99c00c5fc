"""The report: results, pictures and where they come from, on one page that needs nothing else."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, cast

import jinja2
from matplotlib.figure import Figure

from cardlab.reporting import calibration, games, learning_curve, past_selves, strength, through_training
from cardlab.reporting.drawing import house_style, inline_svg
from cardlab.reporting.results import SELF, Result

_TEMPLATES = Path(__file__).parent / "templates"


class Picture(Protocol):
    """What the module of a picture has."""

    TITLE: str

    def caption(self, result: Result) -> str:
        """What the picture shows, in a sentence."""
        ...

    def draw(self, result: Result) -> Figure | None:
        """The picture; None when the result has nothing for it."""
        ...


PICTURES: tuple[Picture, ...] = (
    learning_curve,
    strength,
    through_training,
    past_selves,
    calibration,
    games,
)  # in the order of the page


def write_report(results: Sequence[Result], lineage: Mapping[str, str], folder: Path) -> Path:
    """Write index.html into `folder`; the same results and lineage give the same bytes."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    with house_style():
        by_game: dict[str, list[dict[str, Any]]] = {}
        for result in results:
            by_game.setdefault(result.game, []).append(_section(result))
    page = environment.get_template("report.html.j2").render(games=list(by_game.items()), lineage=lineage, own=SELF)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "index.html"
    path.write_text(page, encoding="utf-8")
    return path


def _section(result: Result) -> dict[str, Any]:
    return {
        "result": result,
        "pictures": list(_pictures(result)),
        "parameters": {group: list(_leaves(result.config[group])) for group in sorted(result.config)},
        "decisions": int(result.curve["decisions"][-1]) if "decisions" in result.curve else 0,
        "rounds": int(result.curve["round"][-1]) if "round" in result.curve else 0,
    }


def _pictures(result: Result) -> Iterator[dict[str, str]]:
    for picture in PICTURES:
        figure = picture.draw(result)
        if figure is not None:
            label = f"{picture.TITLE} of {result.name}"
            yield {"title": picture.TITLE, "caption": picture.caption(result), "svg": inline_svg(figure, label)}


def _leaves(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    """(key, value) of all that is set in a group, nested keys with dots."""
    if isinstance(value, Mapping):
        for name, inner in cast(Mapping[str, object], value).items():
            yield from _leaves(inner, f"{key}.{name}" if key else name)
    else:
        yield key, "–" if value is None else str(value)
