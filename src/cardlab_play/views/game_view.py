"""The view of a game. No method takes States, so the type checker proves that views leak no hidden state."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardlab.games.cards.deck import card_text
from cardlab.games.cards.hands import CATEGORIES, hand_category, strength_table
from cardlab.games.protocol import NO_PLAYER, InfoStates
from cardlab.games.record_arrays import copied

Json = dict[str, Any]
Revealed = Sequence[InfoStates]
"""[P] the InfoState [1] of each player. Given only where the rules reveal all hands."""


@dataclass(frozen=True)
class GameView:
    """Messages of one game; this class shows it as text, with the legal actions as buttons.

    All InfoStates have shape [1]. All but `revealed` belong to the viewing player, the owner. The last six methods are
    of games with forced moves, hands and showdowns.
    """

    game: Any  # Game

    def table(self, info_states: InfoStates, revealed: Revealed = ()) -> Json:
        """The table as the owner may see it. With `revealed` (after the game): everything."""
        text, *others = [self.game.render(InfoStates(each[0])) for each in (info_states, *revealed)]
        turn = player_or_none(self.game.current_player(info_states)[0])
        return {"turn": turn, "text": text, "revealed": others}

    def action_message(self, info_states: InfoStates, action: int) -> Json:
        """Game-specific fields of a legal action of the owner."""
        return {}

    def event(self, before: InfoStates, after: InfoStates, player: int, revealed: Revealed = ()) -> Json:
        """The owner's view of a move of `player`: `kind`, `text` and open cards.

        As text, it is empty where the owner's view does not say which action it was.
        """
        known = self.game.current_player(before)[0] != NO_PLAYER
        legal = np.flatnonzero(self.game.legal_actions(before)[0]).tolist() if known else []
        fitting = [action for action in legal if self._leads_to(before, action, after)]
        text = self.game.action_text(InfoStates(before[0]), fitting[0]) if len(fitting) == 1 else ""
        return {"kind": "move", "text": text}

    def _leads_to(self, before: InfoStates, action: int, after: InfoStates) -> bool:
        states = InfoStates(copied(before))
        self.game.apply(states, np.array([action], dtype=np.int16))
        return states.tobytes() == after.tobytes()

    def opening(self, info_states: InfoStates) -> Json:
        """The move that the rules played at the deal, as `forced`: its player and cards."""
        return {}

    def opened(self, event: Json, player: int, end: InfoStates) -> Json:
        """`event` of `player` after the game, with the cards that `end` shows."""
        return event

    def reveals_hands(self, before: InfoStates, after: InfoStates) -> bool:
        """Whether the rules reveal all hands between `before` and `after`. The end of the game always does."""
        return False

    def hands_shown(self, mover: int, revealed: Revealed) -> Json | None:
        """The table with all hands open after the move of `mover` that made the rules reveal them."""
        return None

    def showdown(self, before: InfoStates, after: InfoStates, revealed: Revealed) -> Json:
        """The event that reveals the hands, where `reveals_hands`."""
        return {}

    def hands(self, revealed: Revealed) -> list[list[str]] | None:
        """[P] the cards in hand of each player, None for a game without hands."""
        return None


def card_or_none(card: Any) -> str | None:
    """The text of a card, None for an unknown or absent card."""
    return card_text(int(card)) if card >= 0 else None


def placement(card: str | None, place: str, **fields: Any) -> Json:
    """The event of a card placed face up or (None) face down."""
    return {"kind": "place", "text": f"{card or 'a hidden card'} to {place}", "card": card, **fields}


def hand_name(key: Any, size: Any) -> str | None:
    """The name of a poker hand of `size` cards with this sum of CARD_KEYS, None without cards."""
    return CATEGORIES[int(hand_category(strength_table(), np.int64(key), np.int64(size)))] if size else None


def card_texts(cards: Any) -> list[str]:
    """Texts of the known cards."""
    return [card_text(int(card)) for card in np.asarray(cards).reshape(-1) if card >= 0]


def player_or_none(player: Any) -> int | None:
    """A player number, None for a negative one."""
    return int(player) if player >= 0 else None
