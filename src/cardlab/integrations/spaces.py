"""The spaces of a game, and what all adapters of one table share."""

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from cardlab.core.options import InvalidOption
from cardlab.games.catalogue import make_game
from cardlab.games.protocol import Game

RENDER_MODES = ("ansi", "human")


def observation_box(game: Game) -> gymnasium.spaces.Box:
    """[F] numbers of order one, with no bounds that the rules would guarantee."""
    return gymnasium.spaces.Box(-np.inf, np.inf, (game.spec.num_features,), np.float32)


def actions_of(game: Game) -> gymnasium.spaces.Discrete[np.int64]:
    """[A] actions; which of them are legal, the mask says."""
    return gymnasium.spaces.Discrete(game.spec.num_actions)


def game_of(game: Game | str, options: Mapping[str, Any]) -> Game:
    """The game of this name with these options, or the game itself, which has them already."""
    if isinstance(game, str):
        return make_game(game, **options)
    if options:
        raise InvalidOption(f"game.{next(iter(options))}", next(iter(options.values())), "left out beside a made game")
    return game


def check_render_mode(render_mode: str | None) -> str | None:
    """`render_mode`, or InvalidOption."""
    if render_mode is not None and render_mode not in RENDER_MODES:
        raise InvalidOption("render_mode", render_mode, f"one of {', '.join(RENDER_MODES)}, or left out")
    return render_mode


def deck_of(options: Mapping[str, Any] | None) -> NDArray[np.int8] | None:
    """[1, 52] the order of cards in `options["deck"]` of a reset; None where there is none.

    Other options are for others, such as wrappers: the libraries' own checks pass them too.
    """
    deck = (options or {}).get("deck")
    if deck is None:
        return None
    if np.shape(deck) != (52,):
        raise InvalidOption("options.deck", f"numbers of shape {np.shape(deck)}", "the 52 cards in their order")
    return np.asarray(deck, dtype=np.int8).reshape(1, 52)
