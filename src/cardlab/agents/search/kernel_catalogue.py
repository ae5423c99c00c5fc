"""Kernels that make searches of a game fast: playouts and solved endgames, by game."""

from importlib import import_module
from types import ModuleType

PLAYOUTS = {
    "poker_squares": "cardlab.games.poker_squares.playouts",
    "five_o": "cardlab.games.five_o.playouts",
    "big2": "cardlab.games.big2.playouts",
    "open_face": "cardlab.games.open_face.playouts",
}
"""Game → module with `play_out(states, rng, options)`: fast playouts for Monte Carlo search."""

ENDGAMES = {
    "poker_squares": "cardlab.games.poker_squares.endgame",
    "five_o": "cardlab.games.five_o.endgame",
    "big2": "cardlab.games.big2.endgame",
    "open_face": "cardlab.games.open_face.endgame",
}
"""Game → module with `solvable` and `action_values`: solved endgames."""


def find_playouts(name: str) -> ModuleType | None:
    """The module of fast playouts of the game `name`; None without one."""
    return import_module(PLAYOUTS[name]) if name in PLAYOUTS else None


def find_endgame(name: str) -> ModuleType | None:
    """The module of solved endgames of the game `name`; None without one."""
    return import_module(ENDGAMES[name]) if name in ENDGAMES else None
