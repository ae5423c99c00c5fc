"""The view of each game by name."""

from importlib import import_module
from typing import cast

from cardlab.games.protocol import Game
from cardlab_play.views.protocol import GameView

VIEWS = {
    "poker_squares": "cardlab_play.views.poker_squares:PokerSquaresView",
    "thirty_one": "cardlab_play.views.thirty_one:ThirtyOneView",
    "five_o": "cardlab_play.views.five_o:FiveOView",
    "open_face": "cardlab_play.views.open_face:OpenFaceView",
    "big2": "cardlab_play.views.big2:Big2View",
}


def make_view(game: Game) -> GameView:
    """The view of `game`, with its options."""
    module, _, name = VIEWS[game.spec.name].partition(":")
    return cast(GameView, getattr(import_module(module), name)(game))
