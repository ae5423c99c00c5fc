"""Poker Squares as a Game: the options, and one kernel call behind each method."""

from functools import cached_property
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from cardlab.core.options import NUMERIC, InvalidOption, option, options
from cardlab.games.arrays import InvalidArray, check_floats, checked
from cardlab.games.cards.deck import card_text, draw_seeds, shuffled_decks
from cardlab.games.fused_rollouts import CodeValues
from cardlab.games.poker_squares import observation as features
from cardlab.games.poker_squares import patterns, rules
from cardlab.games.poker_squares import sparse_lines as codes
from cardlab.games.poker_squares import sparse_rollouts as code_values
from cardlab.games.poker_squares.symmetries import draw_symmetries, transform
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

# Points by category, in the order of rules.CATEGORIES.
SCORING: dict[str, tuple[int, ...]] = {
    "american": (0, 2, 5, 10, 15, 20, 25, 50, 75, 100),
    "british": (0, 1, 3, 6, 12, 5, 10, 16, 30, 30),
}
Score = Annotated[int, Field(ge=-128, le=127), NUMERIC]
_BLOCKS = {"lines": features.LINES_BLOCKS, "codes": features.CODES_BLOCKS, "seed": features.SEED_BLOCKS}


@checked
@options("game")
class PokerSquares:
    """Poker Squares: 25 cards go one by one on a 5×5 grid; rows and columns score as poker hands when it is full."""

    scoring: Literal["american", "british", "custom"] = option("american", "points: american, british or custom")
    custom_scores: tuple[Score, ...] = option(
        (), "with scoring=custom: ten points from -128 to 127, from high card, pair, two pair … to royal flush"
    )
    features: Literal["lines", "codes", "seed"] = option(
        "lines",
        "observation: lines (967 numbers), codes (181 whole numbers, for network=codes) or seed (76, of the paper)",
    )

    def __post_init__(self) -> None:
        """Custom scores go with custom scoring, one for each category."""
        if self.scoring != "custom" and self.custom_scores:
            raise InvalidOption("game.custom_scores", self.custom_scores, "left empty unless game.scoring=custom")
        if self.scoring == "custom" and len(self.custom_scores) != len(rules.CATEGORIES):
            raise InvalidOption("game.custom_scores", self.custom_scores, "ten whole numbers from -128 to 127")

    @cached_property
    def scores(self) -> NDArray[np.int8]:
        """[10] points of a line by category, in the order of rules.CATEGORIES."""
        return np.array(SCORING.get(self.scoring, self.custom_scores), dtype=np.int8)

    @cached_property
    def unit(self) -> float:
        """The points that count as one in the features: half the best line, 50 in the American system."""
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
            num_actions=rules.NUM_CELLS,
            max_decisions=rules.NUM_CELLS,
            payoff_range=payoff_range(tuple(int(score) for score in self.scores)),
            payoff_scale=self._payoff_scale,
            zero_sum=False,
            decision_kinds=("place",),
            action_kinds=(0,) * rules.NUM_CELLS,
            blocks=_BLOCKS[self.features],
            num_codes=codes.NUM_CODES if self.features == "codes" else 0,
            action_blocks=features.ACTION_BLOCKS,
            privileged_blocks=features.PRIVILEGED_BLOCKS,
            options={"scoring": self.scoring, "custom_scores": self.custom_scores, "features": self.features},
        )

    @property
    def state_dtype(self) -> np.dtype[np.void]:
        """rules.STATE."""
        return rules.STATE

    def deal(
        self,
        num_games: int,
        rng: np.random.Generator,
        decks: NDArray[np.int8] | None = None,
        seeds: NDArray[np.uint64] | None = None,
    ) -> States:
        """[G] fresh games that turn up decks[g, 0:25] in order; there is no later chance, so `seeds` does nothing."""
        order = shuffled_decks(num_games, rng) if decks is None else decks
        states = np.empty(num_games, dtype=rules.STATE)
        rules.deal_records(order, states)
        return States(states)

    def current_player(self, states: AnyStates) -> Players:
        """[G] 0; NOBODY when the game is over, and in an afterstate, whose next card is not known."""
        return rules.current_players(states)

    def decision_kind(self, states: AnyStates) -> NDArray[np.int8]:
        """[G] zeros: there is one kind."""
        return np.zeros(len(states), dtype=np.int8)

    def legal_actions(self, states: AnyStates) -> Bools:
        """[G, 25] the empty cells."""
        return rules.legal_cells(states)

    def apply(self, states: AnyStates, actions: Actions) -> None:
        """Place the cards turned up on the cells `actions` [G]."""
        rules.place(states, actions)

    def is_over(self, states: AnyStates) -> Bools:
        """[G] whether the grid is full."""
        return rules.games_over(states)

    def payoffs(self, states: AnyStates) -> Floats:
        """[G, 1] sum of the ten lines' scores when the grid is full, 0 before."""
        return rules.sum_lines(states, self.scores, True)

    def partial_value(self, states: AnyStates) -> Floats:
        """[G] sum of the ten lines' scores as they stand.

        Pairs and more of a kind count, straights and flushes need five cards, and an empty line is a high card, as
        in the challenge's framework.
        """
        return rules.sum_lines(states, self.scores, False)[:, 0]

    def pattern_play_out(self, states: States, values: Floats) -> Floats:
        """[G, 1] payoffs when all play goes by the sum of `values` [patterns] over the lines, one step ahead.

        `states` are left as they are.
        """
        values = check_floats("values", values, (patterns.NUM_PATTERNS,))
        return patterns.finish_by_values(states, values, self.scores)

    def sparse_action_values(self, info_states: InfoStates, values: CodeValues, reward_scale: float) -> Floats:
        """[G, 25] worth of each cell for the card turned up, in units of `reward_scale`; minus infinity if taken."""
        return code_values.cell_worths(info_states, _check_codes(values), self.scores, reward_scale)

    def sparse_play_out(self, states: States, values: CodeValues) -> Floats:
        """[G, 1] payoffs when every card goes to the cell of most worth then; `states` are left as they are."""
        return code_values.finish_by_codes(states, _check_codes(values), self.scores, self._payoff_scale)

    def information(self, states: States, players: Players) -> InfoStates:
        """[G] copies without the cards behind the one turned up."""
        known = states.copy()
        rules.hide_deck(known)
        return InfoStates(known)

    def determinize(
        self,
        info_states: InfoStates,
        players: Players,
        rng: np.random.Generator,
        weights: Floats | None = None,
    ) -> States:
        """[G] with the unknown cards drawn uniformly; nobody holds cards here, so `weights` does nothing.

        An afterstate gets a card turned up, too.
        """
        states = info_states.copy()
        rules.fill_deck(states, draw_seeds(len(states), rng))
        return States(states)

    def observe(self, info_states: InfoStates, players: Players) -> Floats:
        """[G, F] in the blocks of `features`, for decisions, afterstates and full grids alike."""
        if self.features == "seed":
            return features.observe_seed(info_states, self.scores, self.unit)
        if self.features == "codes":
            return features.observe_codes(info_states, self.scores, self._payoff_scale)
        return features.observe_lines(info_states, self.scores, self.unit)

    def observe_after(self, info_states: InfoStates, players: Players, actions: Actions) -> Floats:
        """[G, F] what placing the cards turned up on the cells `actions` [G] leads to."""
        if self.features == "codes":
            return features.observe_placements(info_states, actions, self.scores, self._payoff_scale)
        after = InfoStates(info_states.copy())
        self.apply(after, actions)
        return self.observe(after, players)

    def action_features(self, info_states: InfoStates, players: Players) -> tuple[NDArray[np.intp], Actions, Floats]:
        """Rows [K], actions [K], features [K, Fa]: a cell's row and column with the card there and without it."""
        legal = rules.legal_cells(info_states)
        return features.observe_actions(info_states, legal, self.scores, self.unit)

    def vary(self, info_states: InfoStates, actions: Actions, rng: np.random.Generator) -> tuple[InfoStates, Actions]:
        """[G] with rows, columns and suits in other orders, transposed or not, and the cells of `actions` there."""
        varied, cells = transform(info_states, draw_symmetries(len(info_states), rng))
        return varied, cells[np.arange(len(actions)), actions]

    def privileged(self, states: States, players: Players) -> Floats:
        """[G, 52] which hidden cards will turn up."""
        return features.show_coming(states)

    def holders(self, states: States) -> NDArray[np.int8]:
        """[G, 52] 0 for the cards on the grid and the one turned up, -1 for those in the deck."""
        return rules.card_holders(states)

    def action_text(self, info_state: InfoStates, action: int) -> str:
        """As in `7h to row 2, column 5`, counted from 1."""
        row, column = divmod(int(action), rules.SIDE)
        return f"{card_text(_card_up(info_state))} to row {row + 1}, column {column + 1}"

    def render(self, info_state: InfoStates) -> str:
        """The grid, the card to place and the value of the grid as it stands."""
        cells = [card_text(int(card)) if card >= 0 else "--" for card in info_state["grid"]]
        lines = [" ".join(cells[start : start + rules.SIDE]) for start in range(0, rules.NUM_CELLS, rules.SIDE)]
        value = self.partial_value(InfoStates(info_state.reshape(1)))[0]
        card = _card_up(info_state)
        lines.append(
            f"turn {int(info_state['turn'])}, value {value:g}" + (f", place {card_text(card)}" if card >= 0 else "")
        )
        return "\n".join(lines)


def payoff_range(scores: tuple[int, ...]) -> tuple[float, float]:
    """Bounds of the sum of ten lines with these points by category; in the American system 0 to 725, both reached.

    A straight flush in a row and one in a column share a suit, and thirteen cards allow three such lines at most; so
    the best grids have their straight flushes, up to four of them royal, all in rows, or all in columns.
    """
    return 0.0 - _best_sum(tuple(-score for score in scores)), _best_sum(scores)


def _best_sum(scores: tuple[int, ...]) -> float:
    plain, straight_flush, royal = max(scores[: rules.STRAIGHT_FLUSH]), *scores[rules.STRAIGHT_FLUSH :]
    best_lines = sorted([royal] * 4 + [straight_flush] * 5 + [plain] * 5)[-5:]
    return float(5 * plain + sum(best_lines))


def _card_up(info_state: InfoStates) -> int:
    turn = int(info_state["turn"])
    return int(info_state["deck"][turn]) if turn < rules.NUM_CELLS else -1


def _check_codes(values: CodeValues) -> CodeValues:
    vectors = check_floats("vectors", values.vectors, (None, None))
    if len(vectors) < codes.NUM_CODES:
        raise InvalidArray(f"vectors: must have a row for each of {codes.NUM_CODES} codes, not {len(vectors)}")
    return CodeValues(vectors, check_floats("weights", values.weights, vectors.shape[1:]))
