"""Scripted agents of Big 2: `lowest` and `greedy`, opponents of published results; planner.py has another."""

from dataclasses import dataclass

import numpy as np

from cardlab.core.kernels import kernel
from cardlab.games.big2.actions import ACTION_SIZES, PASS
from cardlab.games.legality import choose_from_each
from cardlab.games.protocol import Actions, InfoStates, ListsLegalActions, Players, Starts


@kernel
def choose_longest(legal: Actions, starts: Starts) -> Actions:
    """[N] the first of the legal actions that play the most cards; a pass if no play is legal."""
    actions = np.full(starts.size - 1, PASS, dtype=np.int16)
    for g in range(actions.size):
        size = 0
        for place in range(starts[g], starts[g + 1]):
            if ACTION_SIZES[legal[place]] > size:
                size = ACTION_SIZES[legal[place]]
                actions[g] = legal[place]
    return actions


@dataclass(frozen=True)
class Big2LowestAgent:
    """Leads its lowest card and follows with its lowest hand."""

    game: ListsLegalActions

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions; a pass only if no play is legal."""
        return choose_from_each(*self.game.list_legal_actions(info_states), np.zeros(len(players), dtype=np.float32))


@dataclass(frozen=True)
class Big2GreedyAgent:
    """Leads its lowest hand of the most cards, and follows with its lowest hand."""

    game: ListsLegalActions

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions; a pass only if no play is legal."""
        return choose_longest(*self.game.list_legal_actions(info_states))
