"""What the page is told of a game. Nothing here takes States: the type checker proves that nothing hidden is told."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from cardlab.games.cards.deck import card_text
from cardlab.games.protocol import InfoStates

Json = Mapping[str, Any]
Shown = Sequence[InfoStates]
"""[P] what each player knows, one record [1] each: given only where the rules show all hands."""


class GameView(Protocol):
    """One game with its options. InfoStates are one record each, shape [1]; all but `Shown` belong to one person.

    The last four say what holds for a game that plays nothing by itself, without hands and without showdowns.
    """

    def table(self, info_states: InfoStates, shown: Shown = ()) -> Json:
        """The table as its owner may see it; with `shown`, of a game that is over, everything."""
        ...

    def choice(self, info_states: InfoStates, action: int) -> Json:
        """What the legal `action` of the owner is, beside its number and text."""
        ...

    def event(self, before: InfoStates, after: InfoStates, player: int, shown: Shown = ()) -> Json:
        """What the owner sees of a move of `player`: its `kind`, its `text`, and the cards that lie open."""
        ...

    def opening(self, info_states: InfoStates) -> Json:
        """What the rules have played already when the cards are dealt: `forced`, its player and cards."""
        return {}

    def shows_hands(self, before: InfoStates, after: InfoStates) -> bool:
        """Whether the rules show all hands between the two; the last table of a game shows them without it."""
        return False

    def showdown(self, before: InfoStates, after: InfoStates, shown: Shown) -> Json | None:
        """The event in which hands are shown, None for a game without one."""
        return None

    def hands(self, shown: Shown) -> list[list[str]] | None:
        """[P] everybody's cards in hand, None for a game without hands."""
        return None


def card_or_none(card: Any) -> str | None:
    """The text of a card, None for one that is not known or not there."""
    return card_text(int(card)) if card >= 0 else None


def known_texts(cards: Any) -> list[str]:
    """Texts of the cards that are known."""
    return [card_text(int(card)) for card in np.asarray(cards).reshape(-1) if card >= 0]


def player_or_none(player: Any) -> int | None:
    """A seat, None for NOBODY."""
    return int(player) if player >= 0 else None
