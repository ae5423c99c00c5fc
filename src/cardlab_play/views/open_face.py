"""View of Open-face Chinese Poker: only the deck is hidden."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cardlab.games.cards.deck import card_text
from cardlab.games.cards.hands import CATEGORIES, hand_category, strength_table
from cardlab.games.open_face.game import OpenFace
from cardlab.games.open_face.royalties import royalty
from cardlab.games.open_face.rules import (
    BACK,
    FRONT,
    MIDDLE,
    NUM_DEALT,
    NUM_ROWS,
    ROW_NAMES,
    capacity,
    num_turned,
    owner,
)
from cardlab.games.protocol import InfoStates
from cardlab_play.views.protocol import GameView, Json, Revealed, card_texts, player_or_none


@dataclass(frozen=True)
class OpenFaceView(GameView):
    """Two boards of three rows."""

    game: OpenFace

    def table(self, info_states: InfoStates, revealed: Revealed = ()) -> Json:
        """Boards, the turned-up cards, and current royalties and fouls."""
        record = info_states[0]
        step = int(record["step"])
        over = step == NUM_DEALT
        return {
            "turn": player_or_none(record["mover"]),
            "cards": [] if over else card_texts(record["deck"][step : num_turned(step)]),
            "boards": [_board(record, player) for player in range(2)],
            "hands": [_by_row(record, player, _hand_name) for player in range(2)],
            "royalties": [_by_row(record, player, _royalty) for player in range(2)],
            "fouled": [_fouled(record, player) for player in range(2)],
            "scores": [int(score) for score in record["scores"]] if over else None,
        }

    def action_message(self, info_states: InfoStates, action: int) -> Json:
        """The row."""
        return {"row": ROW_NAMES[action]}

    def event(self, before: InfoStates, after: InfoStates, player: int, revealed: Revealed = ()) -> Json:
        """A placement."""
        step = int(before["step"][0])
        row = ROW_NAMES[int(after["rows"][0][step])]
        card = card_text(int(after["deck"][0][step]))
        return {"kind": "place", "text": f"{card} to the {row}", "card": card, "row": row}


def _board(record: Any, player: int) -> dict[str, list[str]]:
    places = list(zip(record["deck"].tolist(), record["rows"].tolist(), strict=True))
    return {
        name: [card_text(card) for i, (card, place) in enumerate(places) if place == row and owner(i) == player]
        for row, name in enumerate(ROW_NAMES)
    }


def _by_row(record: Any, player: int, figure: Any) -> dict[str, Any]:
    return {name: figure(record, player, row) for row, name in enumerate(ROW_NAMES)}


def _hand_name(record: Any, player: int, row: int) -> str | None:
    """Name of a row's current hand, None for an empty row."""
    size = int(record["sizes"][player, row])
    if size == 0:
        return None
    return CATEGORIES[int(hand_category(strength_table(), np.int64(record["keys"][player, row]), np.int64(size)))]


def _royalty(record: Any, player: int, row: int) -> int:
    return int(royalty(int(record["ranks"][player, row]), row)) if _complete(record, player, row) else 0


def _fouled(record: Any, player: int) -> bool:
    """Whether two complete rows are in the wrong order of strength."""
    ranks = record["ranks"][player]
    complete = [_complete(record, player, row) for row in range(NUM_ROWS)]
    pairs = ((FRONT, MIDDLE), (MIDDLE, BACK), (FRONT, BACK))
    return any(complete[upper] and complete[lower] and ranks[lower] < ranks[upper] for upper, lower in pairs)


def _complete(record: Any, player: int, row: int) -> bool:
    return int(record["sizes"][player, row]) == capacity(row)
