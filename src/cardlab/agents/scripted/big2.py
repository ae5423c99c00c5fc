"""Scripted agents of Big 2: `lowest`, `greedy` and `planner`, the opponents that published figures are against."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cardlab.games.big2.actions import ACTION_POSITIONS, ACTION_SIZES, HAND_SIZE, NUM_ACTIONS, PASS, SIZE_STARTS
from cardlab.games.big2.combinations import NO_KIND
from cardlab.games.big2.legality import mark_legal
from cardlab.games.big2.rules import hold
from cardlab.games.protocol import Actions, Bools, Game, InfoStates, Players
from cardlab.kernels import kernel
from cardlab.playing.protocol import Agent

NUM_SUBSETS = 1 << HAND_SIZE


@kernel
def choose_first(legal: Bools) -> Actions:
    """[N] the first legal action: of the fewest cards, the lowest; a pass where there is nothing else."""
    actions = np.full(legal.shape[0], PASS, dtype=np.int16)
    for g in range(legal.shape[0]):
        for action in range(PASS):
            if legal[g, action]:
                actions[g] = action
                break
    return actions


@kernel
def choose_longest(legal: Bools) -> Actions:
    """[N] the first legal action of those that play the most cards; a pass where there is nothing else."""
    actions = np.full(legal.shape[0], PASS, dtype=np.int16)
    for g in range(legal.shape[0]):
        size = 0
        for action in range(PASS):
            if legal[g, action] and ACTION_SIZES[action] > size:
                size = ACTION_SIZES[action]
                actions[g] = action
    return actions


@kernel
def choose_planned(info_states: InfoStates, players: Players, legal: Bools) -> Actions:
    """[N] what leaves the fewest hands to play, of those the longest, then the first; passes only where it must."""
    actions = np.full(legal.shape[0], PASS, dtype=np.int16)
    hand = np.empty(14, dtype=np.int8)
    fewest = np.empty(NUM_SUBSETS, dtype=np.int8)
    for g in range(legal.shape[0]):
        count = hold(info_states[g]["place"], players[g], hand)
        count_plays(hand, count, fewest)
        best = HAND_SIZE + 1
        for size in range(5, 0, -1):
            for action in range(SIZE_STARTS[size], SIZE_STARTS[size + 1]):
                if legal[g, action]:
                    left = fewest[((1 << count) - 1) ^ position_bits(action)]
                    if left < best:
                        best = left
                        actions[g] = action
    return actions


@kernel
def count_plays(hand: NDArray[np.int8], count: int, fewest: NDArray[np.int8]) -> None:
    """Fill `fewest` [8192] with the least number of hands that empties each subset (a bit a position) of hand[0:count].

    Some hand has to play the lowest card of the subset, and what it leaves has been counted before.
    """
    legal = np.zeros(NUM_ACTIONS, dtype=np.bool_)
    mark_legal(hand, count, NO_KIND, -1, np.empty(14, dtype=np.int8), legal)
    plays = np.empty((HAND_SIZE, NUM_ACTIONS), dtype=np.int64)
    nums = np.zeros(HAND_SIZE, dtype=np.int64)
    for action in range(PASS):
        if legal[action]:
            lowest = int(ACTION_POSITIONS[action, 0])
            plays[lowest, nums[lowest]] = position_bits(action)
            nums[lowest] += 1
    fewest[0] = 0
    for lowest in range(count - 1, -1, -1):
        for above in range(1 << (count - 1 - lowest)):
            subset = (2 * above + 1) << lowest
            least = HAND_SIZE
            for index in range(nums[lowest]):
                play = plays[lowest, index]
                if play & subset == play:
                    least = min(least, 1 + int(fewest[subset ^ play]))
            fewest[subset] = least


@kernel
def position_bits(action: int) -> int:
    """The positions that `action` plays, as bits."""
    bits = 0
    for index in range(ACTION_SIZES[action]):
        bits |= 1 << int(ACTION_POSITIONS[action, index])
    return bits


@dataclass(frozen=True)
class Lowest:
    """Leads its lowest single card and follows with its lowest hand."""

    game: Game

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions; a pass only where nothing else is legal."""
        return choose_first(self.game.legal_actions(info_states))


@dataclass(frozen=True)
class Greedy:
    """Leads its longest hand, the lowest of those, and follows with its lowest."""

    game: Game

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions; a pass only where nothing else is legal."""
        return choose_longest(self.game.legal_actions(info_states))


@dataclass(frozen=True)
class Planner:
    """Plays the hand that leaves the fewest hands to shed the rest by, exactly counted, opponents left out."""

    game: Game

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions; a pass only where nothing else is legal."""
        return choose_planned(info_states, players, self.game.legal_actions(info_states))


AGENTS: Mapping[str, Callable[..., Agent]] = {"lowest": Lowest, "greedy": Greedy, "planner": Planner}
