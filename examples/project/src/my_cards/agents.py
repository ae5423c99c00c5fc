"""Scripted agents of Kuhn poker."""

from dataclasses import dataclass

import numpy as np

from cardlab.games.protocol import Game
from my_cards.kuhn import BET, PASS


@dataclass(frozen=True)
class Cautious:
    """Bets and calls with a card of at least `lowest` only: 0 jack, 1 queen, 2 king."""

    game: Game
    lowest: int = 2

    def act(self, info_states, players, rng):
        """[N] actions of `players` [N]."""
        cards = info_states["cards"][np.arange(len(players)), players]
        return np.where(cards >= self.lowest, BET, PASS).astype(np.int16)
