"""Views of the games whose lines are poker hands: Five-O, Open-face and Poker Squares.

The opponent's cards of Five-O's hidden round are face down until the end.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardlab.games.cards.deck import NUM_CARDS, card_text
from cardlab.games.cards.hands import CATEGORIES, five_card_strength, hand_size, strength_table
from cardlab.games.five_o.game import FiveO
from cardlab.games.five_o.rules import NUM_COLUMNS, NUM_PLAYERS, NUM_TURNS, OVER, round_of
from cardlab.games.open_face.game import OpenFace
from cardlab.games.open_face.royalties import royalty
from cardlab.games.open_face.rules import FOUL, NUM_DEALT, NUM_ROWS, ROW_NAMES, num_turned, owner
from cardlab.games.poker_squares.game import PokerSquares
from cardlab.games.poker_squares.rules import NUM_CELLS, SIDE, line_categories
from cardlab.games.protocol import InfoStates
from cardlab_play.views.game_view import (
    GameView,
    Json,
    Revealed,
    card_or_none,
    card_texts,
    hand_name,
    placement,
    player_or_none,
)


@dataclass(frozen=True)
class PokerSquaresView(GameView):
    """One player, no hands."""

    game: PokerSquares

    def table(self, info_states: InfoStates, revealed: Revealed = ()) -> Json:
        """Grid, lines and total."""
        record = info_states[0]
        turn = int(record["turn"])
        grid = np.asarray(record["grid"])
        rows = (grid >= 0).reshape(SIDE, SIDE)
        counts = [*rows.sum(axis=1).tolist(), *rows.sum(axis=0).tolist()]
        categories = line_categories(info_states)[0].tolist()
        return {
            "grid": [card_or_none(card) for card in grid],
            "card": card_or_none(record["deck"][turn]) if turn < NUM_CELLS else None,
            "turn": turn,
            "left": NUM_CELLS - turn,
            "deck": NUM_CARDS - turn - int(turn < NUM_CELLS),
            "lines": [
                {"name": CATEGORIES[category], "score": int(self.game.scores[category]), "cards": count}
                for category, count in zip(categories, counts, strict=True)
            ],
            "points": [
                {"name": name, "score": int(score)}
                for name, score in zip(CATEGORIES, self.game.scores, strict=True)
                if score
            ],
            "total": int(self.game.partial_value(info_states)[0]),
        }

    def action_message(self, info_states: InfoStates, action: int) -> Json:
        """The cell."""
        return {"cell": action}

    def event(self, before: InfoStates, after: InfoStates, player: int, revealed: Revealed = ()) -> Json:
        """A placement."""
        cell = int(np.flatnonzero(before["grid"][0] != after["grid"][0])[0])
        card = card_text(int(after["grid"][0][cell]))
        row, column = divmod(cell, SIDE)
        return placement(card, f"row {row + 1}, column {column + 1}", cell=cell)


@dataclass(frozen=True)
class OpenFaceView(GameView):
    """Two boards of three rows."""

    game: OpenFace

    def table(self, info_states: InfoStates, revealed: Revealed = ()) -> Json:
        """Boards, the turned-up cards, and current royalties and fouls."""
        record = info_states[0]
        step = int(record["step"])
        over = step == NUM_DEALT
        turned = step if over else int(num_turned(step))
        return {
            "turn": player_or_none(record["mover"]),
            "cards": card_texts(record["deck"][step:turned]),
            "deck": NUM_CARDS - turned,
            "boards": _by_row(lambda player, row: _row_cards(record, player, row)),
            "hands": _by_row(lambda player, row: hand_name(record["keys"][player, row], record["sizes"][player, row])),
            "royalties": _by_row(lambda player, row: _royalty(record, player, row)),
            "fouled": [_fouled(record, player) for player in range(2)],
            "foul_costs": [_foul_cost(record, player) for player in range(2)],
            "winners": _winners(record) if over else None,
            "scores": [int(score) for score in record["scores"]] if over else None,
        }

    def action_message(self, info_states: InfoStates, action: int) -> Json:
        """The row."""
        return {"row": ROW_NAMES[action]}

    def event(self, before: InfoStates, after: InfoStates, player: int, revealed: Revealed = ()) -> Json:
        """A placement."""
        step = int(before["step"][0])
        row = ROW_NAMES[int(after["rows"][0][step])]
        return placement(card_text(int(after["deck"][0][step])), f"the {row}", row=row)


def _by_row(figure: Callable[[int, int], Any]) -> list[dict[str, Any]]:
    """[players] `figure` of each row by name."""
    return [{name: figure(player, row) for row, name in enumerate(ROW_NAMES)} for player in range(2)]


def _row_cards(record: Any, player: int, row: int) -> list[str]:
    places = zip(record["deck"].tolist(), record["rows"].tolist(), strict=True)
    return [card_text(card) for i, (card, place) in enumerate(places) if place == row and owner(i) == player]


def _royalty(record: Any, player: int, row: int) -> int:
    return int(royalty(int(record["ranks"][player, row]), row))


def _foul_cost(record: Any, player: int) -> int:
    """Points that a foul of `player` costs with the boards as they are, beside the own royalties."""
    other = 1 - player
    return 0 if _fouled(record, other) else FOUL + sum(_royalty(record, other, row) for row in range(NUM_ROWS))


def _winners(record: Any) -> dict[str, int | None] | None:
    """The winner of each row, None for a tie; None if a board is a foul."""
    if any(_fouled(record, player) for player in range(2)):
        return None
    pairs = zip(ROW_NAMES, *record["ranks"].tolist(), strict=True)
    return {row: None if first == second else int(second > first) for row, first, second in pairs}


def _fouled(record: Any, player: int) -> bool:
    """Whether two complete rows are in the wrong order of strength. Incomplete rows have rank 0."""
    ranks = [rank for rank in record["ranks"][player].tolist() if rank]
    return ranks != sorted(ranks)


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
