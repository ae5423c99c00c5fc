"""The games on the page: titles, selectable options, scripted agents and rules, from games/NAME.yaml."""

from collections.abc import Mapping
from functools import cache
from inspect import getdoc
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict

from cardlab.core.messages import unknown_key
from cardlab.core.options import check_choice
from cardlab.core.parts import own_files, project_folder
from cardlab.games.make_game import make_game
from cardlab.games.protocol import Game


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class GameOption(_Data):
    """A selectable option of a game."""

    key: str
    title: str
    values: list[int | str]
    labels: list[str]  # of the values
    default: int | str


class RulesSection(_Data):
    """A section of the rules with a table, which may be empty. Cards are `Td`."""

    title: str
    paragraphs: list[str]
    head: list[str | int] = []
    rows: list[list[str | int]] = []


class OfferedGame(_Data):
    """A game on the page."""

    title: str
    unit: str  # of results
    prize: str = ""  # what is won or lost; empty: points are
    options: list[GameOption] = []
    agents: list[str] = []  # scripted agents, the strongest first
    levels: dict[str, str] = {}  # scripted agents by level, from weak to strong, between beginner and champion
    sections: list[RulesSection]


_FOLDER = Path(__file__).parent / "games"
_NAMES = ("big2", "thirty_one", "five_o", "open_face", "poker_squares")
OFFERED_GAMES: Mapping[str, OfferedGame] = {
    name: OfferedGame(**yaml.safe_load((_FOLDER / f"{name}.yaml").read_text("utf-8"))) for name in _NAMES
}


def offered_games() -> Mapping[str, OfferedGame]:
    """The games on the page: those of cardlab, and the project's own whose file is named as their spec."""
    return {**OFFERED_GAMES, **_own_games(project_folder())}


@cache
def _own_games(_: Path | None) -> Mapping[str, OfferedGame]:
    """The project's own games. Their rules are the docstrings of their classes."""
    games: dict[str, OfferedGame] = {}
    for name in [path.stem for group, path, _ in own_files() if group == "game" and path.stem not in OFFERED_GAMES]:
        game = make_game(name)
        if game.spec.name == name:
            paragraphs = (getdoc(type(game)) or "Its class has no docstring.").split("\n\n")
            rules = [RulesSection(title="The game", paragraphs=paragraphs)]
            games[name] = OfferedGame(title=name.replace("_", " ").capitalize(), unit="points", sections=rules)
    return games


def make_offered_game(name: str, options: Mapping[str, Any]) -> tuple[Game, dict[str, Any]]:
    """The game `name` and the values of its offered options. Raises InvalidOption for other options or values."""
    check_choice("game", name, list(offered_games()))
    offered = {option.key: option for option in offered_games()[name].options}
    for key, value in options.items():
        if key not in offered:
            raise unknown_key(f"options.{key}", value, [f"options.{known}" for known in offered])
        check_choice(f"options.{key}", value, offered[key].values)
    chosen = {key: options.get(key, option.default) for key, option in offered.items()}
    return make_game(name, **chosen), chosen
