"""Registry of games by name. Classes are imported on first use; games import neither each other nor this module."""

from dataclasses import fields, is_dataclass, replace
from pkgutil import resolve_name
from typing import Any, cast

from cardlab.core.options import InvalidOption, check_choice
from cardlab.games.protocol import Game

GAMES = {
    "poker_squares": "cardlab.games.poker_squares.game:PokerSquares",
    "thirty_one": "cardlab.games.thirty_one.game:ThirtyOne",
    "five_o": "cardlab.games.five_o.game:FiveO",
    "big2": "cardlab.games.big2.game:Big2",
    "open_face": "cardlab.games.open_face.game:OpenFace",
}


def make_game(name: str, **options: Any) -> Game:
    """Make the game `name` with options as in conf/game/NAME.yaml; InvalidOption for a wrong one."""
    check_choice("game", name, list(GAMES))
    return cast(Game, resolve_name(GAMES[name])(**options))


def check_game(game: object) -> None:
    """Raise InvalidOption for what is no game, such as its name."""
    if not hasattr(game, "spec"):
        raise InvalidOption("game", game, 'a game object, as of cardlab.make_game("thirty_one")')


def without_training_options(game: Game) -> Game:
    """`game` as evaluation plays it: fields with metadata `training_only` have their defaults."""
    if not is_dataclass(game) or isinstance(game, type):
        return game
    defaults = {entry.name: entry.default for entry in fields(game) if entry.metadata.get("training_only")}
    return cast(Game, replace(game, **defaults))
