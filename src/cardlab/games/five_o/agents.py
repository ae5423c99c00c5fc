"""The paper's agents for Five-O, as its program codes them: reflex, greedy, Monte Carlo and expectiminimax."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from cardlab.core.kernels import kernel
from cardlab.core.options import NUMERIC, Positive
from cardlab.games.budgets import TimeBudget
from cardlab.games.cards.deck import draw_seeds
from cardlab.games.cards.hands import CARD_KEYS, Strengths, hand_size, strength_table
from cardlab.games.five_o.column_probability import Values, exact_win_probabilities, simulated_win_probabilities
from cardlab.games.five_o.hand_values import ALL_AT, NUM_COUNTS, SUITS_AT, count_unseen, rank_mask
from cardlab.games.five_o.open_deck_search import COLUMN_ORDER, MAX_DEPTH, open_deck_values
from cardlab.games.five_o.paper_values import (
    DESCRIBED_SPAN,
    EVAL,
    FAST_EVAL,
    PACK_DESCRIBED,
    PACK_EXPECT,
    PACK_SPAN,
    draws_after,
    hand_value,
)
from cardlab.games.five_o.rules import COLUMN_SIZE, NUM_COLUMNS, TURNS_PER_ROUND, Records
from cardlab.games.protocol import Actions, Game, InfoStates, Players
from cardlab.games.record_arrays import take

WITHOUT, WITH, OPPOSITE = range(3)

_LEAF_KINDS = {"fast_greedy_2": FAST_EVAL, "greedy_2": EVAL, "greedy_1": PACK_EXPECT}
_LAST_ROUND = 5
_TIMED_DECKS = 4  # of a batch under a time limit


@kernel
def column_values(table: Strengths, states: Records, players: Players, kind: int, before: bool) -> Values:
    """[3, N, 5] values of the own columns WITHOUT and WITH the card, and of the OPPOSITE columns, after the move.

    `kind` is one of paper_values.py. WITH is 0 where the column is full. With `before`, WITHOUT is valued before the
    move: the card to place counts as unseen until it is placed, as in the paper's program.
    """
    values = np.zeros((3, states.shape[0], NUM_COLUMNS))
    unseen, earlier = np.empty(NUM_COUNTS, dtype=np.int64), np.empty(NUM_COUNTS, dtype=np.int64)
    for g in range(states.shape[0]):
        state = states[g]
        turn = np.int64(state["turn"])
        card = np.int64(state["deck"][turn])
        count_unseen(state, unseen)
        earlier[:] = unseen
        for place in (card >> 2, SUITS_AT + (card & 3), ALL_AT):
            earlier[place] += 1
        for case in range(3 * NUM_COLUMNS):
            what, column = case // NUM_COLUMNS, case % NUM_COLUMNS
            side = 1 - players[g] if what == OPPOSITE else players[g]
            key = np.int64(state["keys"][side, column])
            mask = rank_mask(state, side, column)
            size = hand_size(key)
            if what == WITH:
                if size == COLUMN_SIZE:
                    continue
                key += CARD_KEYS[card]
                mask |= 1 << (card >> 2)
                size += 1
            if before and what == WITHOUT:
                value = hand_value(kind, table, key, mask, size, earlier, draws_after(turn))
            else:
                value = hand_value(kind, table, key, mask, size, unseen, draws_after(turn + 1))
            values[what, g, column] = value
    return values


def _log_ratios(own: Values, opposite: Values) -> Values:
    return np.log(own / opposite)


def _steps(span: int, own: Values, opposite: Values) -> Values:
    return np.exp(np.tanh(9 * (own - opposite) / span))


def _state_scores(score: Callable[[Values, Values], Values], values: Values) -> Values:
    """[N, 5] sums over the columns of score(own, opposite), with the card to place in each column in turn."""
    now = score(values[WITHOUT], values[OPPOSITE])
    placed = score(np.where(values[WITH] > 0, values[WITH], values[WITHOUT]), values[OPPOSITE])
    return _sums_with_one(now, placed)


@kernel
def _sums_with_one(now: Values, placed: Values) -> Values:
    """[N, 5] sums of the rows of `now` [N, 5] with one entry from `placed`, added in order: equal sums stay equal."""
    sums = np.zeros_like(now)
    for row in range(now.shape[0]):
        for column in range(NUM_COLUMNS):
            for other in range(NUM_COLUMNS):
                sums[row, column] += placed[row, other] if other == column else now[row, other]
    return sums


def _margin(values: Values) -> Values:
    return values[WITH] - values[OPPOSITE]


def _own(values: Values) -> Values:
    return values[WITH]


def _gain(values: Values) -> Values:
    return values[WITH] - values[WITHOUT]


def _first_best(scores: Values) -> NDArray[np.intp]:
    """[...] column of the highest of `scores` [..., 5]; of equals the first in the order of the paper's program."""
    return COLUMN_ORDER[scores[..., COLUMN_ORDER].argmax(axis=-1)]


def _is_exact(info_states: InfoStates, exact_from: int = _LAST_ROUND) -> NDArray[np.bool_]:
    """[N] whether the round `exact_from` has begun."""
    return info_states["turn"] >= (exact_from - 2) * TURNS_PER_ROUND


def _best_columns(
    game: Game, info_states: InfoStates, players: Players, scores: Values, exact_from: int = _LAST_ROUND
) -> Actions:
    """[N] legal columns of the highest `scores` [N, 5]; see _first_best for ties.

    From the round `exact_from` on, exact winning probabilities replace the scores: in the last round for every agent of
    the paper (section II.B.5).
    """
    rows = np.flatnonzero(_is_exact(info_states, exact_from))
    scores[rows] = exact_win_probabilities(strength_table(), take(info_states, rows), players[rows])
    return _first_best(np.where(game.legal_actions(info_states), scores, -np.inf)).astype(np.int16)


@dataclass(frozen=True)
class PlacementAgent:
    """Plays the column with the highest `score` of the hand values of `kind` (with `before`: see column_values)."""

    game: Game
    kind: int
    score: Callable[[Values], Values]
    before: bool = False

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] columns of the highest score."""
        values = column_values(strength_table(), info_states, players, self.kind, self.before)
        return _best_columns(self.game, info_states, players, self.score(values))


@dataclass(frozen=True)
class ColumnMonteCarlo:
    """Plays the column with the highest win probability, by simulated column probabilities and equation (3).

    Section II.B.4: `simulations` completions of each column without and with the card, or all of them where there are
    fewer. From the round `exact_from`, 3 to 5, the probabilities are exact (section II.B.5).
    """

    game: Game
    simulations: Positive = 1000
    exact_from: Annotated[int, Field(ge=3, le=_LAST_ROUND), NUMERIC] = _LAST_ROUND

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] columns of the highest win probability."""
        seeds = draw_seeds(len(info_states), rng)
        scores = np.zeros((len(info_states), NUM_COLUMNS))
        rows = np.flatnonzero(~_is_exact(info_states, self.exact_from))
        scores[rows] = simulated_win_probabilities(
            strength_table(), take(info_states, rows), players[rows], self.simulations, seeds[rows]
        )
        return _best_columns(self.game, info_states, players, scores, self.exact_from)


@dataclass(frozen=True)
class Expectiminimax:
    """Searches `depth` cards ahead on `decks` sampled face-up orders of the deck: section II.B.3.

    Alpha-beta search with the state `value` of greedy_2, fast_greedy_2 or greedy_1 at the leaves. `root` is as_coded
    (the player places a second card before the opponent moves: `depth` cards behind the one to place) or textbook
    (players alternate: `depth` cards in all). `choose` is votes (the column that is best on most decks) or mean (the
    best mean over the decks). With `seconds` it samples decks for that time, one decision after another.
    """

    game: Game
    depth: Annotated[int, Field(ge=1, le=MAX_DEPTH), NUMERIC] = 3
    decks: Positive = 30
    value: Literal["fast_greedy_2", "greedy_2", "greedy_1"] = "greedy_2"
    choose: Literal["votes", "mean"] = "votes"
    root: Literal["as_coded", "textbook"] = "as_coded"
    seconds: Annotated[float, Field(gt=0, allow_inf_nan=False), NUMERIC] | None = None

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] columns of the highest score."""
        scores = np.zeros((len(info_states), NUM_COLUMNS))
        rows = np.flatnonzero(~_is_exact(info_states))
        known, movers = take(info_states, rows), players[rows]
        if self.seconds is None:
            scores[rows] = self._scores(self._deck_values(known, movers, self.decks, rng))
        else:
            for row in range(len(rows)):
                one = np.array([row])
                scores[rows[one]] = self._scores(self._timed_values(take(known, one), movers[one], self.seconds, rng))
        return _best_columns(self.game, info_states, players, scores)

    def _timed_values(
        self, info_states: InfoStates, players: Players, seconds: float, rng: np.random.Generator
    ) -> Values:
        """[1, decks, 5] values on as many decks as `seconds` allow, at least one batch."""
        budget, found = TimeBudget(seconds, (_TIMED_DECKS, _TIMED_DECKS)), list[Values]()
        while decks := budget.next_batch(0, 1, 1):
            found.append(self._deck_values(info_states, players, decks, rng))
        return np.concatenate(found, axis=1)

    def _deck_values(self, info_states: InfoStates, players: Players, decks: int, rng: np.random.Generator) -> Values:
        """[N, decks, 5] value of each column on each of `decks` sampled orders of the deck."""
        many = take(info_states, np.repeat(np.arange(len(info_states)), decks))
        movers = players.repeat(decks)
        states = self.game.determinize(many, movers, rng)
        kind, exact, twice = _LEAF_KINDS[self.value], self.choose == "mean", self.root == "as_coded"
        values = open_deck_values(states, movers, self.depth, kind, exact=exact, twice=twice)
        return values.reshape(len(info_states), decks, NUM_COLUMNS)

    def _scores(self, values: Values) -> Values:
        """[N, 5] share of the decks on which each column is best, or its mean value, from `values` [N, decks, 5]."""
        if self.choose == "mean":
            return values.mean(axis=1)
        return (_first_best(values)[..., None] == np.arange(NUM_COLUMNS)).mean(axis=1)


reflex_1 = partial(PlacementAgent, kind=EVAL, score=_margin)
reflex_2 = partial(PlacementAgent, kind=EVAL, score=_own)
reflex_3 = partial(PlacementAgent, kind=EVAL, score=_gain, before=True)
greedy_1 = partial(PlacementAgent, kind=PACK_EXPECT, score=partial(_state_scores, partial(_steps, PACK_SPAN)))
greedy_1_described = partial(
    PlacementAgent, kind=PACK_DESCRIBED, score=partial(_state_scores, partial(_steps, DESCRIBED_SPAN))
)
greedy_2 = partial(PlacementAgent, kind=EVAL, score=partial(_state_scores, _log_ratios))
fast_greedy_2 = partial(PlacementAgent, kind=FAST_EVAL, score=partial(_state_scores, _log_ratios))
