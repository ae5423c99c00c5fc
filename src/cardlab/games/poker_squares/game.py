"""Poker Squares as a Game: options, and one kernel call for each method."""

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from cardlab.core.options import NUMERIC, invalid, option, options
from cardlab.games.abilities import SparseLineValues
from cardlab.games.array_checks import InvalidArray, check_floats, checked
from cardlab.games.cards.deck import NUM_CARDS, card_text, draw_seeds, shuffled_decks
from cardlab.games.cards.hands import CATEGORIES, STRAIGHT_FLUSH
from cardlab.games.poker_squares import observation as features
from cardlab.games.poker_squares import patterns, rules, sparse_lines, sparse_rollouts
from cardlab.games.poker_squares.rules import transform
from cardlab.games.protocol import (
    Actions,
    AnyStates,
    Bools,
    Floats,
    GameSpec,
    InfoStates,
    Players,
    States,
)
from cardlab.games.record_arrays import copied

# Points by category, in the order of CATEGORIES.
SCORING: dict[str, tuple[int, ...]] = {
    "american": (0, 2, 5, 10, 15, 20, 25, 50, 75, 100),
    "british": (0, 1, 3, 6, 12, 5, 10, 16, 30, 30),
}
Score = Annotated[int, Field(ge=-128, le=127), NUMERIC]
_BLOCKS = {"lines": features.LINES_BLOCKS, "sparse_lines": features.SPARSE_BLOCKS, "paper": features.PAPER_BLOCKS}


@checked
@options("game")
class PokerSquares:
    """Poker Squares: 25 cards go one by one on a 5×5 grid; rows and columns score as poker hands when it is full."""

    agents: ClassVar[Mapping[str, str]] = {
        "flush": ".agents:FlushAgent",
        "tables": ".pattern_learning:TablesAgent",
        "tree_search": ".agents:tree_search",
    }
    abilities: ClassVar[Mapping[str, str]] = {
        "playouts": ".playouts",
        "endgame": ".endgame",
        "outcomes": ".outcomes",
    }

    scoring: Literal["american", "british", "custom"] = option("american", "points: american, british or custom")
    custom_scores: tuple[Score, ...] = option(
        (), "with scoring=custom: ten points from -128 to 127, from high card, pair, two pair … to royal flush"
    )
    features: Literal["lines", "sparse_lines", "paper"] = option(
        "lines",
        "observation: lines (967 numbers), sparse_lines (181 whole numbers, for network=sparse_lines) or paper (76)",
    )

    state_dtype: ClassVar[np.dtype[np.void]] = rules.STATE

    def __post_init__(self) -> None:
        """Custom scores go with custom scoring, one for each category."""
        if len(self.custom_scores) != (len(CATEGORIES) if self.scoring == "custom" else 0):
            allowed = "ten whole numbers from -128 to 127 with game.scoring=custom, else left empty"
            raise invalid(self, "custom_scores", allowed)

    @cached_property
    def scores(self) -> NDArray[np.int8]:
        """[10] points of a line by category, in the order of CATEGORIES."""
        return np.array(SCORING.get(self.scoring, self.custom_scores), dtype=np.int8)

    @cached_property
    def unit(self) -> float:
        """Points that equal 1 in the features: half the best line score, 50 in the American system."""
        return max(1.0, float(np.abs(self.scores.astype(np.int16)).max()) / 2)

    @property
    def _payoff_scale(self) -> float:
        """20 in the American system."""
        return 0.4 * self.unit

    @cached_property
    def spec(self) -> GameSpec:
        """The constants of the game."""
        return GameSpec(
            name="poker_squares",
            num_players=1,
            num_cards=NUM_CARDS,
            num_actions=rules.NUM_CELLS,
            max_decisions=rules.NUM_CELLS,
            payoff_range=payoff_range(tuple(int(score) for score in self.scores)),
            payoff_scale=self._payoff_scale,
            zero_sum=False,
            decision_kinds=("place",),
            action_kinds=(0,) * rules.NUM_CELLS,
            blocks=_BLOCKS[self.features],
            num_codes=sparse_lines.NUM_SPARSE_FEATURES if self.features == "sparse_lines" else 0,
            action_blocks=features.ACTION_BLOCKS,
            options={"scoring": self.scoring, "custom_scores": self.custom_scores, "features": self.features},
        )

    def deal(
        self,
        num_games: int,
        rng: np.random.Generator,
        decks: NDArray[np.int8] | None = None,
        seeds: NDArray[np.uint64] | None = None,
    ) -> States:
        """[G] new games that turn up decks[g, 0:25] in order; `seeds` is unused, as the deck is the only chance."""
        order = shuffled_decks(num_games, rng) if decks is None else decks
        return States(rules.deal_records(order))

    def current_player(self, states: AnyStates) -> Players:
        """[G] 0; NO_PLAYER when the game is over or in an afterstate, where the next card is unknown."""
        return rules.current_players(states)

    def are_valid(self, states: AnyStates) -> Bools:
        """[G] whether each record can occur."""
        return rules.are_valid(states)

    def decision_kind(self, states: AnyStates) -> NDArray[np.int8]:
        """[G] zeros: the game has one kind of decision."""
        return np.zeros(len(states), dtype=np.int8)

    def legal_actions(self, states: AnyStates) -> Bools:
        """[G, 25] the empty cells."""
        return rules.legal_cells(states)

    def apply(self, states: AnyStates, actions: Actions) -> None:
        """Place the face-up cards on the cells `actions` [G]."""
        rules.place(states, actions)

    def is_over(self, states: AnyStates) -> Bools:
        """[G] whether the grid is full."""
        return states["turn"] >= rules.NUM_CELLS

    def payoffs(self, states: AnyStates) -> Floats:
        """[G, 1] sum of the ten lines' scores when the grid is full, 0 before."""
        return rules.sum_lines(states, self.scores, True)

    def partial_value(self, states: AnyStates) -> Floats:
        """[G] sum of the current scores of the ten lines, as in the challenge's framework.

        Incomplete lines score pairs and more of a kind. Straights and flushes need five cards. An empty line is a high
        card.
        """
        return rules.sum_lines(states, self.scores, False)[:, 0]

    def pattern_play_out(self, states: States, values: Floats) -> Floats:
        """[G, 1] payoffs of greedy play by the sum of `values` [patterns] over the lines; `states` are not modified."""
        values = check_floats("values", values, (patterns.NUM_PATTERNS,))
        return patterns.pattern_playout_scores(states, values, self.scores)

    def sparse_action_values(self, info_states: InfoStates, values: SparseLineValues, reward_scale: float) -> Floats:
        """[G, 25] value of placing the face-up card on each cell, in units of `reward_scale`; -inf if taken."""
        return sparse_rollouts.sparse_cell_values(info_states, _check_sparse_values(values), self.scores, reward_scale)

    def sparse_play_out(self, states: States, values: SparseLineValues) -> Floats:
        """[G, 1] payoffs when every card goes to the cell of highest value; `states` are not modified."""
        return sparse_rollouts.sparse_playout_scores(
            states, _check_sparse_values(values), self.scores, self._payoff_scale
        )

    def information(self, states: States, players: Players) -> InfoStates:
        """[G] copies without the hidden cards of the deck."""
        known = copied(states)
        rules.hide(known)
        return InfoStates(known)

    def determinize(
        self,
        info_states: InfoStates,
        players: Players,
        rng: np.random.Generator,
        weights: Floats | None = None,
    ) -> States:
        """[G] states with the unknown cards drawn uniformly, also the next card of an afterstate.

        `weights` is unused: no player holds cards.
        """
        states = copied(info_states)
        rules.fill(states, draw_seeds(len(states), rng))
        return States(states)

    def observe(self, info_states: InfoStates, players: Players) -> Floats:
        """[G, F] in the blocks of `features`, for decisions, afterstates and full grids."""
        if self.features == "paper":
            return features.observe_paper(info_states, self.scores, self.unit)
        if self.features == "sparse_lines":
            no_cells = np.empty(0, dtype=np.int16)
            return features.observe_sparse_lines(info_states, no_cells, self.scores, self._payoff_scale)
        return features.observe_lines(info_states, self.scores, self.unit)

    def observe_afterstates(self, info_states: InfoStates, players: Players, actions: Actions) -> Floats:
        """[G, F] observations after the face-up cards are placed on the cells `actions` [G]."""
        if self.features == "sparse_lines":
            return features.observe_sparse_lines(info_states, actions, self.scores, self._payoff_scale)
        after = InfoStates(copied(info_states))
        self.apply(after, actions)
        return self.observe(after, players)

    def action_features(self, info_states: InfoStates, players: Players) -> tuple[NDArray[np.intp], Actions, Floats]:
        """Rows [K], actions [K], features [K, Fa]: row and column of the cell, with and without the card."""
        legal = rules.legal_cells(info_states)
        return features.observe_actions(info_states, legal, self.scores, self.unit)

    def augment(
        self, info_states: InfoStates, actions: Actions, rng: np.random.Generator
    ) -> tuple[InfoStates, Actions]:
        """[G] equivalent states under random symmetries, and `actions` mapped to their cells."""
        varied, cells = transform(info_states, rng)
        return varied, cells[np.arange(len(actions)), actions]

    def holders(self, states: States) -> NDArray[np.int8]:
        """[G, 52] 0 for the cards on the grid and the face-up card, -1 for the cards in the deck."""
        return rules.card_holders(states)

    def action_text(self, info_state: InfoStates, action: int) -> str:
        """Text of an action, such as `7h to row 2, column 5`; counts from 1."""
        row, column = divmod(int(action), rules.SIDE)
        return f"{card_text(_face_up_card(info_state))} to row {row + 1}, column {column + 1}"

    def render(self, info_state: InfoStates) -> str:
        """The grid, the card to place and the current value of the grid."""
        cells = [card_text(int(card)) if card >= 0 else "--" for card in info_state["grid"]]
        lines = [" ".join(cells[start : start + rules.SIDE]) for start in range(0, rules.NUM_CELLS, rules.SIDE)]
        value = self.partial_value(InfoStates(info_state.reshape(1)))[0]
        card = _face_up_card(info_state)
        lines.append(
            f"turn {int(info_state['turn'])}, value {value:g}" + (f", place {card_text(card)}" if card >= 0 else "")
        )
        return "\n".join(lines)


def payoff_range(scores: tuple[int, ...]) -> tuple[float, float]:
    """Bounds of the sum of ten lines with these points by category; in the American system 0 to 725, both reached.

    A straight flush in a row and one in a column share a suit, and the 13 cards of a suit allow at most three such
    lines. So the best grids have all straight flushes, at most four of them royal, in rows only or in columns only.
    """
    return 0.0 - _best_sum(tuple(-score for score in scores)), _best_sum(scores)


def _best_sum(scores: tuple[int, ...]) -> float:
    plain, straight_flush, royal = max(scores[:STRAIGHT_FLUSH]), *scores[STRAIGHT_FLUSH:]
    best_lines = sorted([royal] * 4 + [straight_flush] * 5 + [plain] * 5)[-5:]
    return float(5 * plain + sum(best_lines))


def _face_up_card(info_state: InfoStates) -> int:
    turn = int(info_state["turn"])
    return int(info_state["deck"][turn]) if turn < rules.NUM_CELLS else -1


def _check_sparse_values(values: SparseLineValues) -> SparseLineValues:
    vectors = check_floats("vectors", values.vectors, (None, None))
    if len(vectors) < sparse_lines.NUM_SPARSE_FEATURES:
        raise InvalidArray(f"vectors: must have at least {sparse_lines.NUM_SPARSE_FEATURES} rows, not {len(vectors)}")
    return SparseLineValues(vectors, check_floats("weights", values.weights, vectors.shape[1:]))
