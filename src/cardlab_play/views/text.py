"""The view of a game that has none of its own: what its `render` and `action_text` say."""

from dataclasses import dataclass

import numpy as np

from cardlab.games.protocol import NO_PLAYER, Game, InfoStates
from cardlab.games.record_arrays import copied
from cardlab_play.views.protocol import GameView, Json, Revealed, player_or_none


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
