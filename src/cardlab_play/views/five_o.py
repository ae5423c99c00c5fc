"""View of Five-O: ten columns. The opponent's cards of the hidden round are face down until the end."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cardlab.games.cards.hands import CATEGORIES, five_card_strength, hand_category, hand_size, strength_table
from cardlab.games.five_o.game import FiveO
from cardlab.games.five_o.rules import NUM_COLUMNS, NUM_PLAYERS, NUM_TURNS, OVER, round_of
from cardlab.games.protocol import InfoStates
from cardlab_play.views.protocol import GameView, Json, Revealed, card_or_none


@dataclass(frozen=True)
class FiveOView(GameView):
    """Two players of five columns each."""

    game: FiveO

    def table(self, info_states: InfoStates, revealed: Revealed = ()) -> Json:
        """Columns with their current hand names, and the winners at the end."""
        record = info_states[0]
        turn = int(record["turn"])
        over = int(record["phase"]) == OVER
        playing = turn < NUM_TURNS
        return {
            "round": int(round_of(min(turn, NUM_TURNS - 1))),
            "turn": turn % NUM_PLAYERS if playing else None,
            "card": card_or_none(record["deck"][turn]) if playing else None,
            "hidden_round": self.game.hidden_round,
            "columns": [[_column(record, p, c) for c in range(NUM_COLUMNS)] for p in range(NUM_PLAYERS)],
            "hands": [[_hand_name(record, p, c) for c in range(NUM_COLUMNS)] for p in range(NUM_PLAYERS)],
            "won": [int(won) for won in record["won"]] if over else None,
            "winners": [_winner(record, column) for column in range(NUM_COLUMNS)] if over else None,
        }

    def action_message(self, info_states: InfoStates, action: int) -> Json:
        """The column."""
        return {"column": action}

    def event(self, before: InfoStates, after: InfoStates, player: int, revealed: Revealed = ()) -> Json:
        """A placement, face up or face down."""
        column = int(np.flatnonzero(before["sizes"][0][player] != after["sizes"][0][player])[0])
        hidden = int(before["deck"][0][int(before["turn"][0])])
        card = card_or_none(hidden)
        return {"kind": "place", "text": f"{card or 'a hidden card'} to column {column + 1}", "card": card,
                "column": column}  # fmt: skip


def _column(record: Any, player: int, column: int) -> list[str | None]:
    """Cards of a column in order of placement, None for a card face down."""
    size = int(record["sizes"][player, column])
    return [card_or_none(card) for card in record["columns"][player, column][:size]]


def _hand_name(record: Any, player: int, column: int) -> str | None:
    key = np.int64(record["keys"][player, column])
    size = int(record["sizes"][player, column])
    if int(hand_size(key)) < size:
        return None
    return CATEGORIES[int(hand_category(strength_table(), key, np.int64(size)))]


def _winner(record: Any, column: int) -> int | None:
    first, second = (
        int(five_card_strength(strength_table(), np.int64(record["keys"][player, column]))) for player in (0, 1)
    )
    if first == second:
        return None
    return 0 if first > second else 1
