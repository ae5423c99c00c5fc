"""View of Five-O: ten columns. The opponent's cards of the hidden round are face down until the end."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cardlab.games.cards.deck import NUM_CARDS
from cardlab.games.cards.hands import five_card_strength, hand_size, strength_table
from cardlab.games.five_o.game import FiveO
from cardlab.games.five_o.rules import NUM_COLUMNS, NUM_PLAYERS, NUM_TURNS, OVER, round_of
from cardlab.games.protocol import InfoStates
from cardlab_play.views.protocol import GameView, Json, Revealed, card_or_none, hand_name, placement


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
        players, columns = range(NUM_PLAYERS), range(NUM_COLUMNS)
        return {
            "round": int(round_of(min(turn, NUM_TURNS - 1))),
            "turn": turn % NUM_PLAYERS if playing else None,
            "card": card_or_none(record["deck"][turn]) if playing else None,
            "deck": NUM_CARDS - NUM_PLAYERS * NUM_COLUMNS - turn - int(playing),
            "hidden_round": self.game.hidden_round,
            "columns": [[_cards(record, player, column) for column in columns] for player in players],
            "hands": [[_hand_name(record, player, column) for column in columns] for player in players],
            "won": [int(won) for won in record["won"]] if over else None,
            "winners": [_winner(record, column) for column in columns] if over else None,
        }

    def action_message(self, info_states: InfoStates, action: int) -> Json:
        """The column."""
        return {"column": action}

    def event(self, before: InfoStates, after: InfoStates, player: int, revealed: Revealed = ()) -> Json:
        """A placement, face up or face down."""
        column = int(np.flatnonzero(before["sizes"][0][player] != after["sizes"][0][player])[0])
        card = card_or_none(before["deck"][0][int(before["turn"][0])])
        return placement(card, f"column {column + 1}", column=column)

    def opened(self, event: Json, player: int, end: InfoStates) -> Json:
        """Names the card of the hidden round."""
        if event["card"]:
            return event
        card = card_or_none(end["columns"][0][player, event["column"]][self.game.hidden_round - 1])
        return {**event, "card": card, "text": f"{card} face down to column {event['column'] + 1}"}


def _cards(record: Any, player: int, column: int) -> list[str | None]:
    """Cards of a column in order of placement, None for a card face down."""
    size = int(record["sizes"][player, column])
    return [card_or_none(card) for card in record["columns"][player, column][:size]]


def _hand_name(record: Any, player: int, column: int) -> str | None:
    """None for a column with a card face down."""
    key, size = record["keys"][player, column], record["sizes"][player, column]
    return hand_name(key, size) if hand_size(np.int64(key)) == size else None


def _winner(record: Any, column: int) -> int | None:
    strengths = [int(five_card_strength(strength_table(), np.int64(key))) for key in record["keys"][:, column]]
    return None if strengths[0] == strengths[1] else int(np.argmax(strengths))
