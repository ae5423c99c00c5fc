"""Rock, paper, scissors: both choose in secret, and strength is a circle."""

from dataclasses import dataclass

import numpy as np

from cardlab.games.protocol import GameSpec, InfoStates, States, layout

NONE = -1
CHOICES = ("rock", "paper", "scissors")


@dataclass(frozen=True)
class Roshambo:
    """What of the protocol a match needs."""

    @property
    def spec(self):
        return GameSpec(
            name="roshambo",
            num_players=2,
            num_actions=3,
            max_decisions=2,
            payoff_range=(-1.0, 1.0),
            zero_sum=True,
            decision_kinds=("choose",),
            action_kinds=(0, 0, 0),
            blocks=layout(nothing=(1,)),
        )

    @property
    def state_dtype(self):
        return np.dtype([("chosen", np.int8, (2,)), ("turn", np.int8)])

    def deal(self, num_games, rng, decks=None, seeds=None):
        states = np.zeros(num_games, dtype=self.state_dtype)
        states["chosen"] = NONE
        return States(states)

    def current_player(self, states):
        return np.where(states["turn"] < 2, states["turn"], NONE).astype(np.int8)

    def decision_kind(self, states):
        return np.zeros(len(states), dtype=np.int8)

    def legal_actions(self, states):
        return np.repeat(self.current_player(states)[:, None] >= 0, 3, axis=1)

    def apply(self, states, actions):
        rows = np.flatnonzero(self.current_player(states) >= 0)
        states["chosen"][rows, states["turn"][rows]] = actions[rows]
        states["turn"][rows] += 1

    def is_over(self, states):
        return states["turn"] == 2

    def payoffs(self, states):
        ahead = (states["chosen"][:, 0] - states["chosen"][:, 1]) % 3
        first = np.where(self.is_over(states), np.array([0, 1, -1])[ahead], 0)
        return np.column_stack([first, -first]).astype(np.float32)

    def information(self, states, players):
        info_states = states.copy()
        info_states["chosen"][np.arange(len(players)), 1 - players] = NONE
        return InfoStates(info_states)

    def observe(self, info_states, players):
        return np.zeros((len(players), 1), dtype=np.float32)


@dataclass(frozen=True)
class Fixed:
    """Always the same choice."""

    choice: int

    def act(self, info_states, players, rng):
        return np.full(len(players), self.choice, dtype=np.int16)
