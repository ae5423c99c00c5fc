"""Spaces and arguments that the environments of all libraries share."""

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from cardlab.core.options import InvalidOption
from cardlab.games.make_game import make_game
from cardlab.games.protocol import Game

RENDER_MODES = ("ansi", "human")


def observation_space(game: Game) -> gymnasium.spaces.Box:
    """[F] numbers of order one; the rules guarantee no bounds."""
    return gymnasium.spaces.Box(-np.inf, np.inf, (game.spec.num_features,), np.float32)


def action_space(game: Game) -> gymnasium.spaces.Discrete[np.int64]:
    """[A] actions; the mask says which ones are legal."""
    return gymnasium.spaces.Discrete(game.spec.num_actions)


def resolve_game(game: Game | str, options: Mapping[str, Any]) -> Game:
    """The game itself, or the one with this name and these options."""
    if isinstance(game, str):
        return make_game(game, **options)
    if options:
        raise InvalidOption(f"game.{next(iter(options))}", next(iter(options.values())), "left out with a game object")
    return game


def check_render_mode(render_mode: str | None) -> str | None:
    """`render_mode`; raises InvalidOption for an unknown one."""
    if render_mode is not None and render_mode not in RENDER_MODES:
        raise InvalidOption("render_mode", render_mode, f"one of {', '.join(RENDER_MODES)}, or left out")
    return render_mode


def deck_option(options: Mapping[str, Any] | None) -> NDArray[np.int8] | None:
    """[1, 52] the order of the cards in `options["deck"]` of a reset, None without it; other options are ignored."""
    deck = (options or {}).get("deck")
    if deck is None:
        return None
    if np.shape(deck) != (52,):
        raise InvalidOption("options.deck", f"numbers of shape {np.shape(deck)}", "the 52 cards in their order")
    return np.asarray(deck, dtype=np.int8).reshape(1, 52)
