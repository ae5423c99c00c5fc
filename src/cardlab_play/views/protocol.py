"""The interface of game views. No method takes States, so the type checker proves that views leak no hidden state."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from cardlab.games.cards.deck import card_text
from cardlab.games.cards.hands import CATEGORIES, hand_category, strength_table
from cardlab.games.protocol import InfoStates

Json = dict[str, Any]
Revealed = Sequence[InfoStates]
"""[P] the InfoState [1] of each player. Given only where the rules reveal all hands."""


class GameView(Protocol):
    """Messages of one game. All InfoStates have shape [1]. All but `revealed` belong to the viewing player, the owner.

    The last six methods have defaults for games without forced moves, hands and showdowns.
    """

    def table(self, info_states: InfoStates, revealed: Revealed = ()) -> Json:
        """The table as the owner may see it. With `revealed` (after the game): everything."""
        ...

    def action_message(self, info_states: InfoStates, action: int) -> Json:
        """Game-specific fields of a legal action of the owner."""
        ...

    def event(self, before: InfoStates, after: InfoStates, player: int, revealed: Revealed = ()) -> Json:
        """The owner's view of a move of `player`: `kind`, `text` and open cards."""
        ...

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
