"""The paper's agents for Five-O: reflex 1 to 3, greedy 1 and 2, fast greedy 2, Monte Carlo and expectiminimax."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from cardlab.core.kernels import kernel
from cardlab.core.options import NUMERIC, Positive
from cardlab.games.cards.deck import draw_seeds
from cardlab.games.cards.hands import CARD_KEYS, Strengths, hand_size, strength_table
from cardlab.games.five_o.column_probability import Values, exact_win_probabilities, simulated_win_probabilities
from cardlab.games.five_o.hand_values import (
    EVAL,
    FAST_EVAL,
    NUM_COUNTS,
    PACK_EXPECT,
    count_unseen,
    draws_left,
    hand_value,
    rank_mask,
)
from cardlab.games.five_o.open_deck_search import MAX_DEPTH, PACK_SPAN, open_deck_values
from cardlab.games.five_o.rules import COLUMN_SIZE, NUM_COLUMNS, NUM_TURNS, TURNS_PER_ROUND, Records
from cardlab.games.protocol import Actions, Game, InfoStates, Players
from cardlab.games.record_arrays import take

BEFORE, AFTER, OPPOSITE = range(3)

_LEAF_KINDS = {"fast_greedy_2": FAST_EVAL, "greedy_2": EVAL, "greedy_1": PACK_EXPECT}
_LAST_ROUND = NUM_TURNS - TURNS_PER_ROUND


@kernel
def column_values(table: Strengths, states: Records, players: Players, kind: int) -> Values:
    """[3, N, 5] values of the own columns without (BEFORE) and with (AFTER) the card, and of the OPPOSITE columns.

    `kind` is EVAL, FAST_EVAL or PACK_EXPECT. AFTER is 0 where the column is full.
    """
    values = np.zeros((3, states.shape[0], NUM_COLUMNS))
    unseen = np.empty(NUM_COUNTS, dtype=np.int64)
    for g in range(states.shape[0]):
        state = states[g]
        card = np.int64(state["deck"][state["turn"]])
        count_unseen(state, unseen)
        for case in range(3 * NUM_COLUMNS):
            what, column = case // NUM_COLUMNS, case % NUM_COLUMNS
            side = 1 - players[g] if what == OPPOSITE else players[g]
            key = np.int64(state["keys"][side, column])
            mask = rank_mask(state, side, column)
            size = hand_size(key)
            if what == AFTER:
                if size == COLUMN_SIZE:
                    continue
                key += CARD_KEYS[card]
                mask |= 1 << (card >> 2)
                size += 1
            draws = draws_left(state, side, column)
            values[what, g, column] = hand_value(kind, table, key, mask, size, unseen, draws)
    return values


def _log_ratios(own: Values, opposite: Values) -> Values:
    return np.log(own) - np.log(opposite)


def _steps(own: Values, opposite: Values) -> Values:
    return np.exp(np.tanh(9 * (own - opposite) / PACK_SPAN))


def _state_scores(score: Callable[[Values, Values], Values], values: Values) -> Values:
    """[N, 5] sums over the columns of score(own, opposite), with the card to place in each column in turn."""
    now = score(values[BEFORE], values[OPPOSITE])
    placed = np.where(values[AFTER] > 0, values[AFTER], values[BEFORE])
    return now.sum(axis=1, keepdims=True) - now + score(placed, values[OPPOSITE])


def _margin(values: Values) -> Values:
    return values[AFTER] - values[OPPOSITE]


def _own(values: Values) -> Values:
    return values[AFTER]


def _gain(values: Values) -> Values:
    return values[AFTER] - values[BEFORE]


def _best_columns(game: Game, info_states: InfoStates, players: Players, scores: Values) -> Actions:
    """[N] legal columns of the highest `scores` [N, 5]; the first in a tie.

    In the last round scores are replaced by exact winning probabilities, as for every agent of the paper (section
    II.B.5).
    """
    rows = np.flatnonzero(info_states["turn"] >= _LAST_ROUND)
    scores[rows] = exact_win_probabilities(strength_table(), take(info_states, rows), players[rows])
    return np.where(game.legal_actions(info_states), scores, -np.inf).argmax(axis=1).astype(np.int16)


@dataclass(frozen=True)
class PlacementAgent:
    """Plays the column with the highest `score` of the hand values of `kind` before and after the card."""

    game: Game
    kind: int
    score: Callable[[Values], Values]

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] columns of the highest score; the first in a tie."""
        scores = self.score(column_values(strength_table(), info_states, players, self.kind))
        return _best_columns(self.game, info_states, players, scores)


@dataclass(frozen=True)
class ColumnMonteCarlo:
    """Plays the column with the highest win probability, by simulated column probabilities and equation (3).

    Section II.B.4: `simulations` completions of all columns per decision.
    """

    game: Game
    simulations: Positive = 1000

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] columns of the highest win probability; the first in a tie."""
        seeds = draw_seeds(len(info_states), rng)
        scores = np.zeros((len(info_states), NUM_COLUMNS))
        rows = np.flatnonzero(info_states["turn"] < _LAST_ROUND)
        scores[rows] = simulated_win_probabilities(
            strength_table(), take(info_states, rows), players[rows], self.simulations, seeds[rows]
        )
        return _best_columns(self.game, info_states, players, scores)


@dataclass(frozen=True)
class Expectiminimax:
    """Searches `depth` cards ahead on `decks` sampled face-up orders of the deck: section II.B.3.

    Alpha-beta search with the state `value` of greedy_2, fast_greedy_2 or greedy_1 at the leaves. `choose` is votes
    (the column that is best on most decks, as in the paper) or mean (the best mean over the decks).
    """

    game: Game
    depth: Annotated[int, Field(ge=1, le=MAX_DEPTH), NUMERIC] = 3
    decks: Positive = 30
    value: Literal["fast_greedy_2", "greedy_2", "greedy_1"] = "greedy_2"
    choose: Literal["votes", "mean"] = "votes"

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] columns of the highest score; the first in a tie."""
        scores = np.zeros((len(info_states), NUM_COLUMNS))
        rows = np.flatnonzero(info_states["turn"] < _LAST_ROUND)
        scores[rows] = self._scores(take(info_states, rows), players[rows], rng)
        return _best_columns(self.game, info_states, players, scores)

    def _scores(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Values:
        """[N, 5] share of the decks on which each column is best, or its mean value."""
        many = take(info_states, np.repeat(np.arange(len(info_states)), self.decks))
        movers = players.repeat(self.decks)
        states = self.game.determinize(many, movers, rng)
        values = open_deck_values(states, movers, self.depth, _LEAF_KINDS[self.value], exact=self.choose == "mean")
        by_deck = values.reshape(len(info_states), self.decks, NUM_COLUMNS)
        if self.choose == "mean":
            return by_deck.mean(axis=1)
        return (by_deck.argmax(axis=2)[..., None] == np.arange(NUM_COLUMNS)).mean(axis=1)


reflex_1 = partial(PlacementAgent, kind=EVAL, score=_margin)
reflex_2 = partial(PlacementAgent, kind=EVAL, score=_own)
reflex_3 = partial(PlacementAgent, kind=EVAL, score=_gain)
greedy_1 = partial(PlacementAgent, kind=PACK_EXPECT, score=partial(_state_scores, _steps))
greedy_2 = partial(PlacementAgent, kind=EVAL, score=partial(_state_scores, _log_ratios))
fast_greedy_2 = partial(PlacementAgent, kind=FAST_EVAL, score=partial(_state_scores, _log_ratios))
