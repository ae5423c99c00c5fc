"""JSON views of each game, made from InfoStates only."""

from typing import Any

from cardlab.games.protocol import Game
from cardlab_play.views.big2 import Big2View
from cardlab_play.views.game_view import GameView
from cardlab_play.views.hand_games import FiveOView, OpenFaceView, PokerSquaresView
from cardlab_play.views.thirty_one import ThirtyOneView

VIEWS: dict[str, Any] = {
    "big2": Big2View,
    "five_o": FiveOView,
    "open_face": OpenFaceView,
    "poker_squares": PokerSquaresView,
    "thirty_one": ThirtyOneView,
}


def make_view(game: Game) -> GameView:
    """The view of `game`, with its options."""
    return VIEWS.get(game.spec.name, GameView)(game)
