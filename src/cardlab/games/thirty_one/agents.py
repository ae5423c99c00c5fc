"""Scripted agents of Thirty-One: the paper's greedy players."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from cardlab.core.kernels import kernel
from cardlab.core.options import NUMERIC
from cardlab.games.protocol import Actions, Game, InfoStates, Players
from cardlab.games.thirty_one.record import (
    BEST_SCORE,
    CALL,
    DRAW,
    HAND_SIZE,
    KEEP_HAND,
    SWAP,
    SWAP_FIRST,
    TAKE,
    Record,
    Records,
    score_after_swap,
)
from cardlab.games.thirty_one.showdown import score_of


@kernel
def _best_position(state: Record, owner: int, card: int, forced: bool) -> int:
    """The position where `card` makes the best hand; 3, to keep the hand, unless `forced` or the score rises."""
    best, best_score = (0, -1) if forced else (HAND_SIZE, score_of(state, owner))
    for position in range(HAND_SIZE):
        score = score_after_swap(state["hands"][owner], position, card)
        if score > best_score:
            best, best_score = position, score
    return best


@kernel
def choose_greedily(info_states: Records, players: Players, level: int, takes: bool) -> Actions:
    """[N] a call at a score of at least `level`, else the discard if it raises the score, else a draw."""
    actions = np.empty(info_states.shape[0], dtype=np.int16)
    for row in range(info_states.shape[0]):
        state = info_states[row]
        owner = players[row]
        if state["phase"] == SWAP:
            position = _best_position(state, owner, state["drawn"], state["taken"] == 1)
            actions[row] = KEEP_HAND if position == HAND_SIZE else SWAP_FIRST + position
        elif state["caller"] < 0 and score_of(state, owner) >= level:
            actions[row] = CALL
        elif takes and _best_position(state, owner, state["top"], False) < HAND_SIZE:
            actions[row] = TAKE
        else:
            actions[row] = DRAW
    return actions


@dataclass(frozen=True)
class ThirtyOneGreedyAgent:
    """Maximises the score of each turn, and calls at a score of at least `level`.

    `takes=False` never takes the discard, like the greedy agent in the paper's code.
    """

    game: Game
    level: int = BEST_SCORE
    takes: bool = True

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions."""
        return choose_greedily(info_states, players, self.level, self.takes)


def greedy(game: Game) -> ThirtyOneGreedyAgent:
    """The greedy player of the paper."""
    return ThirtyOneGreedyAgent(game)


def greedy_stock_only(game: Game) -> ThirtyOneGreedyAgent:
    """A greedy player that always draws from the stock."""
    return ThirtyOneGreedyAgent(game, takes=False)


def threshold(game: Game, level: Annotated[int, Field(ge=0, le=BEST_SCORE), NUMERIC] = 29) -> ThirtyOneGreedyAgent:
    """A greedy player that calls at `level` points."""
    return ThirtyOneGreedyAgent(game, level=level)
