"""Optional modules of a game, which the game names and which are imported when used: playouts, endgame, outcomes."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any, cast

from cardlab.core.parts import find_place
from cardlab.games.protocol import Game


def find_ability(game: Game, name: str) -> ModuleType | None:
    """The module of `game` for `name`; None without one.

    `playouts` has `play_out(states, rng, options)`: fast playouts for Monte Carlo search. `endgame` has `solvable` and
    `action_values`. `outcomes` has `read(states)`, and ACTION_NAMES and ACTION_GROUPS where actions are counted too.
    """
    places = cast(Mapping[str, str], getattr(cast(Any, game), "abilities", {}))
    return find_place(game, places[name]) if name in places else None
