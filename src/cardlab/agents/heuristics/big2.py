"""Scripted agents of Big 2: `lowest`, `greedy` and `planner`, the opponents of published results."""

from dataclasses import dataclass

import numpy as np

from cardlab.core.kernels import kernel
from cardlab.games.big2.actions import ACTION_SIZES, HAND_SIZE, PASS, SIZE_STARTS
from cardlab.games.big2.planning.plans import NUM_SUBSETS, action_bits, count_plays
from cardlab.games.big2.rules import list_hand
from cardlab.games.protocol import Actions, Bools, Game, InfoStates, Players


@kernel
def choose_longest(legal: Bools) -> Actions:
    """[N] the first of the legal actions that play the most cards; a pass if no play is legal."""
    actions = np.full(legal.shape[0], PASS, dtype=np.int16)
    for g in range(legal.shape[0]):
        size = 0
        for action in range(PASS):
            if legal[g, action] and ACTION_SIZES[action] > size:
                size = ACTION_SIZES[action]
                actions[g] = action
    return actions


@kernel
def choose_by_plans(info_states: InfoStates, players: Players, legal: Bools) -> Actions:
    """[N] the action that leaves the fewest plays; ties go to the most cards, then the first; a pass only if forced."""
    actions = np.full(legal.shape[0], PASS, dtype=np.int16)
    hand = np.empty(14, dtype=np.int8)
    fewest = np.empty(NUM_SUBSETS, dtype=np.int8)
    for g in range(legal.shape[0]):
        count = list_hand(info_states[g]["place"], players[g], hand)
        count_plays(hand, count, fewest)
        best = HAND_SIZE + 1
        for size in range(5, 0, -1):
            for action in range(SIZE_STARTS[size], SIZE_STARTS[size + 1]):
                if legal[g, action]:
                    left = fewest[((1 << count) - 1) ^ action_bits(action)]
                    if left < best:
                        best = left
                        actions[g] = action
    return actions


@dataclass(frozen=True)
class Big2LowestAgent:
    """Leads its lowest card and follows with its lowest hand."""

    game: Game

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions; a pass only if no play is legal."""
        return self.game.legal_actions(info_states).argmax(axis=1).astype(np.int16)


@dataclass(frozen=True)
class Big2GreedyAgent:
    """Leads its lowest hand of the most cards, and follows with its lowest hand."""

    game: Game

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions; a pass only if no play is legal."""
        return choose_longest(self.game.legal_actions(info_states))


@dataclass(frozen=True)
class Big2PlannerAgent:
    """Minimises the exact number of plays that shed the rest of its hand, ignoring opponents."""

    game: Game

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions; a pass only if no play is legal."""
        return choose_by_plans(info_states, players, self.game.legal_actions(info_states))
