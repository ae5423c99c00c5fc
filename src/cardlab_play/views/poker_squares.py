"""View of Poker Squares: the grid, the turned-up card and the current score of each line."""

from dataclasses import dataclass

import numpy as np

from cardlab.games.cards.deck import NUM_CARDS, card_text
from cardlab.games.cards.hands import CATEGORIES
from cardlab.games.poker_squares.game import PokerSquares
from cardlab.games.poker_squares.rules import NUM_CELLS, SIDE, line_categories
from cardlab.games.protocol import InfoStates
from cardlab_play.views.protocol import GameView, Json, Revealed, card_or_none, placement


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
