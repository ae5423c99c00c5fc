"""JSON views of each game, made from InfoStates only."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cardlab.games.protocol import NO_PLAYER, Game, InfoStates
from cardlab.games.record_arrays import copied
from cardlab_play.views.big2 import Big2View
from cardlab_play.views.hand_games import FiveOView, OpenFaceView, PokerSquaresView
from cardlab_play.views.protocol import GameView, Json, Revealed, player_or_none
from cardlab_play.views.thirty_one import ThirtyOneView


@dataclass(frozen=True)
class TextView(GameView):
    """The table as text, the legal actions as buttons."""

    game: Game

    def table(self, info_states: InfoStates, revealed: Revealed = ()) -> Json:
        """The text; after the game that of every player."""
        texts = [self.game.render(InfoStates(each[0])) for each in (info_states, *revealed)]
        return {
            "turn": player_or_none(self.game.current_player(info_states)[0]),
            "text": texts[0],
            "revealed": texts[1:],
        }

    def action_message(self, info_states: InfoStates, action: int) -> Json:
        """Nothing beyond the text of the action."""
        return {}

    def event(self, before: InfoStates, after: InfoStates, player: int, revealed: Revealed = ()) -> Json:
        """A move. Its text is empty where the owner's view does not say which action it was."""
        known = self.game.current_player(before)[0] != NO_PLAYER
        legal = np.flatnonzero(self.game.legal_actions(before)[0]).tolist() if known else []
        fitting = [action for action in legal if self._leads_to(before, action, after)]
        text = self.game.action_text(InfoStates(before[0]), fitting[0]) if len(fitting) == 1 else ""
        return {"kind": "move", "text": text}

    def _leads_to(self, before: InfoStates, action: int, after: InfoStates) -> bool:
        states = InfoStates(copied(before))
        self.game.apply(states, np.array([action], dtype=np.int16))
        return states.tobytes() == after.tobytes()


VIEWS: dict[str, Any] = {
    "big2": Big2View,
    "five_o": FiveOView,
    "open_face": OpenFaceView,
    "poker_squares": PokerSquaresView,
    "thirty_one": ThirtyOneView,
}


def make_view(game: Game) -> GameView:
    """The view of `game`, with its options; as text where the game has no view of its own."""
    view: GameView = VIEWS.get(game.spec.name, TextView)(game)
    return view
