"""Kuhn poker (Kuhn 1950): two players, three cards, one bet. The value of the game is −1/18 for the first player."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cardlab.games.base import BaseGame
from cardlab.games.protocol import NO_PLAYER, GameSpec, InfoStates, States, layout

PASS, BET = 0, 1
HIDDEN = -1
NONE = -1
RECORD = np.dtype([("cards", np.int8, 2), ("moves", np.int8, 3)])  # 0 jack, 1 queen, 2 king


@dataclass(frozen=True)
class Kuhn(BaseGame):
    """Each antes 1 and gets a card. A player passes or bets 1; after a bet, a pass folds and a bet calls."""

    state_dtype: ClassVar[np.dtype[np.void]] = RECORD
    agents: ClassVar = {"cautious": ".agents:Cautious"}  # names that commands know for this game

    @property
    def spec(self):
        return GameSpec(
            name="kuhn",
            num_players=2,
            num_actions=2,
            max_decisions=3,
            payoff_range=(-2.0, 2.0),
            zero_sum=True,
            decision_kinds=("move",),
            action_kinds=(0, 0),
            blocks=layout(card=(3,), moves=(3, 2)),
            num_cards=3,
        )

    def deal(self, num_games, rng, decks=None, seeds=None):
        order = rng.permuted(np.tile(np.arange(3), (num_games, 1)), axis=1) if decks is None else decks
        states = np.zeros(num_games, dtype=RECORD)
        states["cards"] = order[:, :2]
        states["moves"] = NONE
        return States(states)

    def current_player(self, states):
        count = _count(states)
        return np.where(_bets_end(states, count), NO_PLAYER, count % 2).astype(np.int8)

    def legal_actions(self, states):
        return np.repeat(self.current_player(states)[:, None] != NO_PLAYER, 2, axis=1)

    def apply(self, states, actions):
        rows = np.flatnonzero(self.current_player(states) != NO_PLAYER)
        states["moves"][rows, _count(states)[rows]] = actions[rows]

    def is_over(self, states):
        """The bets have ended, and the cards are known if they are compared: one player cannot see a showdown."""
        ended = _bets_end(states, _count(states))
        return ended & (_folded(states) | (states["cards"] != HIDDEN).all(axis=1))

    def payoffs(self, states):
        bets = 1 + (states["moves"] == BET).sum(axis=1).clip(max=2) // 2  # a call makes it 2
        last = _count(states) - 1  # after a fold the other player wins
        wins = np.where(_folded(states), last % 2 == 1, states["cards"][:, 0] > states["cards"][:, 1])
        first = np.where(self.is_over(states), np.where(wins, bets, -bets), 0)
        return np.stack([first, -first], axis=1).astype(np.float32)

    def information(self, states, players):
        known = states.copy()
        known["cards"][np.arange(len(states)), 1 - players] = HIDDEN
        return InfoStates(known)

    def determinize(self, info_states, players, rng, weights=None):
        states, rows = info_states.copy(), np.arange(len(info_states))
        own = states["cards"][rows, players]
        states["cards"][rows, 1 - players] = (own + rng.integers(1, 3, size=len(rows))) % 3
        return States(states)

    def observe(self, info_states, players):
        rows = np.arange(len(info_states))
        card = np.eye(3, dtype=np.float32)[info_states["cards"][rows, players]]
        moves = info_states["moves"][:, :, None] == np.array([PASS, BET])
        return np.concatenate([card, moves.reshape(-1, 6)], axis=1).astype(np.float32)

    def action_text(self, info_state, action):
        return ("pass", "bet")[action]

    def render(self, info_state):
        cards = " ".join("?" if card == HIDDEN else "JQK"[card] for card in info_state["cards"])
        return f"{cards}  " + " ".join(("pass", "bet")[move] for move in info_state["moves"] if move != NONE)


def _count(states):
    return (states["moves"] != NONE).sum(axis=1)


def _bets_end(states, count):
    """Two passes, or an answer to a bet: pass pass, bet pass, bet bet, pass bet pass, pass bet bet."""
    moves = states["moves"]
    return (count == 3) | ((count == 2) & ((moves[:, 0] == BET) | (moves[:, 1] == PASS)))


def _folded(states):
    moves, count = states["moves"], _count(states)
    return ((count == 2) & (moves[:, 0] == BET) & (moves[:, 1] == PASS)) | ((count == 3) & (moves[:, 2] == PASS))
