"""High card: each player holds two cards and shows one, in turn; the highest rank shown wins. For 1 to 9 players.

Actions: 0 and 1, the position of the card shown. Payoff: a sole winner 1, ties split as in a match of Thirty-One; with
`first_wins_ties` the earliest of them wins alone, so that seats differ. One player is paid the rank shown.
"""

from dataclasses import dataclass

import numpy as np

from cardlab.games.cards.deck import NUM_SUITS, card_text, shuffled_decks
from cardlab.games.protocol import GameSpec, InfoStates, States, layout

NONE = -1


@dataclass(frozen=True)
class HighCard:
    """numpy over records."""

    num_players: int = 2
    first_wins_ties: bool = False

    @property
    def spec(self):
        return GameSpec(
            name="high_card",
            num_players=self.num_players,
            num_actions=2,
            max_decisions=self.num_players,
            payoff_range=(0.0, 12.0) if self.num_players == 1 else (-1.0, 1.0),
            zero_sum=self.num_players > 1,
            decision_kinds=("show",),
            action_kinds=(0, 0),
            blocks=layout(hand=(2,), best_shown=(1,)),
            action_blocks=layout(rank=(1,)),
            num_cards=52,
            options={"num_players": self.num_players, "first_wins_ties": self.first_wins_ties},
        )

    @property
    def state_dtype(self):
        players = (self.num_players,)
        return np.dtype([("hands", np.int8, (*players, 2)), ("shown", np.int8, players), ("turn", np.int8)])

    def deal(self, num_games, rng, decks=None, seeds=None):
        decks = shuffled_decks(num_games, rng) if decks is None else decks
        states = np.zeros(num_games, dtype=self.state_dtype)
        states["hands"] = decks[:, : 2 * self.num_players].reshape(num_games, self.num_players, 2)
        states["shown"] = NONE
        return States(states)

    def current_player(self, states):
        return np.where(states["turn"] < self.num_players, states["turn"], NONE).astype(np.int8)

    def decision_kind(self, states):
        return np.zeros(len(states), dtype=np.int8)

    def legal_actions(self, states):
        return np.repeat(self.current_player(states)[:, None] >= 0, 2, axis=1)

    def apply(self, states, actions):
        rows = np.flatnonzero(self.current_player(states) >= 0)
        turns = states["turn"][rows]
        states["shown"][rows, turns] = states["hands"][rows, turns, actions[rows]]
        states["turn"][rows] += 1

    def is_over(self, states):
        return states["turn"] == self.num_players

    def payoffs(self, states):
        ranks = states["shown"] // NUM_SUITS
        if self.num_players == 1:
            return np.where(self.is_over(states)[:, None], ranks, 0).astype(np.float32)
        best = ranks == ranks.max(axis=1, keepdims=True)
        if self.first_wins_ties:
            best &= np.cumsum(best, axis=1) == 1
        shares = best / best.sum(axis=1, keepdims=True)
        paid = (self.num_players * shares - 1) / (self.num_players - 1)
        return np.where(self.is_over(states)[:, None], paid, 0).astype(np.float32)

    def information(self, states, players):
        info_states = states.copy()
        others = np.arange(self.num_players)[None] != players[:, None]
        info_states["hands"][others] = NONE
        return InfoStates(info_states)

    def determinize(self, info_states, players, rng, weights=None):
        states = info_states.copy()
        for state in states:
            known = set(state["hands"].ravel()) | set(state["shown"])
            unseen = rng.permutation([card for card in range(52) if card not in known]).tolist()
            for player in np.flatnonzero(state["hands"][:, 0] == NONE):
                shown = state["shown"][player]
                state["hands"][player] = [shown if shown >= 0 else unseen.pop(), unseen.pop()]
        return States(states)

    def observe(self, info_states, players):
        hands = info_states["hands"][np.arange(len(players)), players] // NUM_SUITS / 12
        shown = info_states["shown"].max(axis=1) // NUM_SUITS / 12
        return np.column_stack([hands, shown]).astype(np.float32)

    def action_features(self, info_states, players):
        rows, actions = np.nonzero(self.legal_actions(info_states))
        cards = info_states["hands"][rows, players[rows], actions]
        return rows, actions.astype(np.int16), (cards // NUM_SUITS / 12).astype(np.float32)[:, None]

    def holders(self, states):
        holders = np.full((len(states), 52), NONE, dtype=np.int8)
        for player in range(self.num_players):
            for place in (0, 1):
                holders[np.arange(len(states)), states["hands"][:, player, place]] = player
        return holders

    def action_text(self, info_state, action):
        player = int(info_state["turn"])
        return f"show {card_text(info_state['hands'][player, action])}"

    def render(self, info_state):
        hands = " | ".join(" ".join(card_text(card) for card in hand) for hand in info_state["hands"])
        return f"hands {hands}   shown {' '.join(card_text(card) for card in info_state['shown'])}"


@dataclass(frozen=True)
class Shower:
    """Shows the higher card (`best`), or the lower one."""

    game: HighCard
    best: bool = True

    def act(self, info_states, players, rng):
        ranks = info_states["hands"][np.arange(len(players)), players] // NUM_SUITS
        chosen = ranks.argmax(axis=1) if self.best else ranks.argmin(axis=1)
        return chosen.astype(np.int16)

    def evaluate(self, info_states, players):
        """Sure of its choice; values the rank it shows."""
        actions = self.act(info_states, players, None)
        log_probabilities = np.full((len(actions), 2), -np.inf, dtype=np.float32)
        log_probabilities[np.arange(len(actions)), actions] = 0
        ranks = info_states["hands"][np.arange(len(players)), players] // NUM_SUITS
        return log_probabilities, (ranks.max(axis=1) / 12).astype(np.float32)


def show_lowest(game):
    """The agent that shows its lowest card."""
    return Shower(game, best=False)
