"""Scripted agents of Big 2: `lowest`, `greedy` and `planner`: opponents of published results."""

from dataclasses import dataclass

import numpy as np

from cardlab.core.kernels import kernel
from cardlab.games.big2.actions import ACTION_SIZES, HAND_SIZE, PASS
from cardlab.games.big2.plans import NUM_SUBSETS, action_bits, count_plays
from cardlab.games.big2.rules import list_hand
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


@kernel
def choose_by_plans(info_states: InfoStates, players: Players, legal: Actions, starts: Starts) -> Actions:
    """[N] the action that leaves the fewest plays; ties go to the most cards, then the first; a pass only if forced."""
    actions = np.full(starts.size - 1, PASS, dtype=np.int16)
    hand = np.empty(14, dtype=np.int8)
    fewest = np.empty(NUM_SUBSETS, dtype=np.int8)
    for g in range(actions.size):
        count = list_hand(info_states[g]["place"], players[g], hand)
        count_plays(hand, count, fewest)
        best = HAND_SIZE + 1
        size = 0
        for place in range(starts[g], starts[g + 1]):
            action = legal[place]
            left = fewest[((1 << count) - 1) ^ action_bits(action)]
            if action != PASS and (left < best or (left == best and ACTION_SIZES[action] > size)):
                best = left
                size = ACTION_SIZES[action]
                actions[g] = action
    return actions


@dataclass(frozen=True)
class Big2PlannerAgent:
    """Minimises the exact number of plays that shed the rest of its hand, ignoring opponents."""

    game: ListsLegalActions

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions; a pass only if no play is legal."""
        return choose_by_plans(info_states, players, *self.game.list_legal_actions(info_states))
