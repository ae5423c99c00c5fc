"""Games by name, as in conf/game/; and a game as evaluation plays it."""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, cast

from cardlab.core.messages import InvalidOption
from cardlab.core.parts import NAME, TARGET, build_part, check_targets, option_names, read_option, target_of
from cardlab.games.protocol import Game

FORMER_OPTIONS = ("rules", "payoff")
"""Options of 1.0.0 that had one value each."""


def make_game(name: str, **options: Any) -> Game:
    """Make the game `name` with options as in conf/game/NAME.yaml; InvalidOption for a wrong one."""
    return cast(Game, build_part("game", {**read_option("game", name), **options}))


def game_data(game: Game) -> dict[str, Any]:
    """Class, name and all options of `game` as JSON values, from which `game_of` makes it again."""
    if not is_dataclass(game) or isinstance(game, type):
        options: dict[str, Any] = dict(game.spec.options)
    else:
        options = {entry.name: getattr(game, entry.name) for entry in fields(game) if entry.init}
    return {TARGET: target_of(game), NAME: game.spec.name, **json.loads(json.dumps(options))}


def game_of(data: Mapping[str, Any], origin: str) -> Game:
    """The game of `game_data`, which comes from elsewhere: a file or a store. Without a class its `name` decides.

    Raises ConfigurationError for a class that is not trusted, and InvalidOption for wrong options.
    """
    if TARGET not in data:
        return make_game(
            data[NAME], **{key: value for key, value in data.items() if key not in (NAME, *FORMER_OPTIONS)}
        )
    check_targets(data, origin)
    return cast(Game, build_part("game", data))


def game_names() -> list[str]:
    """The names of the games in conf/game/: the project's and those of cardlab."""
    return [name for name in option_names("game") if "/" not in name]


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
