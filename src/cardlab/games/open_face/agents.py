"""Scripted agents for Open-face: the paper's greedy start, and Monte Carlo with random or hindsight fills."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.core.options import Positive
from cardlab.games.cards.deck import NUM_CARDS, Cards, draw_below, draw_seeds, hash_seed, list_unseen
from cardlab.games.cards.hands import CARD_KEYS, FRONT_SHIFT, MAX_STRENGTH, Strengths, front_table, strength_table
from cardlab.games.legality import choose_uniformly
from cardlab.games.open_face.opening_list import opening_rows
from cardlab.games.open_face.royalties import row_rank
from cardlab.games.open_face.rules import (
    FOUL,
    NUM_OPENING,
    NUM_ROWS,
    NUM_SLOTS,
    capacity,
    is_foul,
    num_turned,
    royalty_sum,
    score_boards,
    to_int64,
)
from cardlab.games.protocol import Actions, Game, InfoStates, Players


@dataclass(frozen=True)
class GreedyStart:
    """Opens by the list of Tan and Xiao (2018), section 5.1, then plays uniformly at random.

    The first of these hands among the five cards goes to the back: four of a kind, full house, flush, straight, four of
    a suit, two pair, three of a kind, four in sequence, three of a suit, three in sequence (the ace is high or low).
    Other cards from 8 up go to the middle, lower cards to the front. The paper does not define a fourth low card; here
    it goes to the middle.
    """

    game: Game

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions."""
        legal = self.game.legal_actions(info_states)
        actions = choose_uniformly(legal, rng.random(len(legal), dtype=np.float32))
        listed = opening_rows(info_states)
        fits = (listed >= 0) & legal[np.arange(len(legal)), listed]  # a search may have filled the row
        return np.where(fits, listed, actions)


@dataclass(frozen=True)
class RandomFills:
    """Plays the row with the highest mean points when both boards are completed with random cards.

    All plans of one decision share the random cards. A plan places every visible card: up to 232 plans in the opening,
    evaluated again after each card; later one plan for each row. The cards of a simulation are placed in `tries` random
    orders, of which the best counts: with several tries the value of a plan assumes knowledge of the future cards, for
    the opponent's board as well.
    """

    game: Game
    openings: Positive = 100  # simulations per plan in the opening
    simulations: Positive = 500  # simulations per row after the opening
    tries: Positive = 1

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions."""
        return choose_rows(info_states, rng, openings=self.openings, simulations=self.simulations, tries=self.tries)


def hindsight_fills(
    game: Game, openings: Positive = 100, simulations: Positive = 500, tries: Positive = 16
) -> RandomFills:
    """RandomFills with the best of several orders of each simulation's cards."""
    return RandomFills(game, openings, simulations, tries)


Numbers = NDArray[np.int64]

PLAN = np.dtype(
    [
        ("total", np.int64),  # sum of points over all simulations
        ("keys", np.int64, (NUM_ROWS,)),  # keys of the mover's rows after the plan
        ("room", np.int64, (NUM_ROWS,)),  # free slots of the rows
        ("first", np.int64),  # row of the card to place now
    ],
    align=True,
)
MAX_PLANS = NUM_ROWS**NUM_OPENING
_MAX_UPCOMING = 2 * NUM_SLOTS - NUM_OPENING
_UNREACHED = 1_000_000  # greater than any payoff
_OPPONENT_SALT, _OWN_SALT = 1 << 20, 1 << 21  # draws use salts below 52


def choose_rows(
    info_states: InfoStates, rng: np.random.Generator, *, openings: int, simulations: int, tries: int
) -> Actions:
    """[N] first row of the plan with the most points when both boards are completed, in the best of `tries` orders.

    Each plan of an opening card is evaluated on `openings` random draws, each later row on `simulations`. All plans of
    a decision share the draws.
    """
    budgets = np.where(info_states["step"] < 2 * NUM_OPENING, openings, simulations)
    seeds = draw_seeds(len(info_states), rng)
    plans = np.zeros(MAX_PLANS, PLAN)
    return _best_rows(info_states, budgets, tries, seeds, strength_table(), front_table(), plans)


@kernel
def _best_rows(
    info_states: InfoStates,
    budgets: Numbers,
    tries: int,
    seeds: NDArray[np.uint64],
    strengths: Strengths,
    fronts: NDArray[np.int32],
    plans: NDArray[np.void],
) -> Actions:
    """[N] first row of the plan with the highest total over budgets[n] simulations; `plans` is scratch."""
    actions = np.empty(info_states.shape[0], dtype=np.int16)
    unseen = np.empty(NUM_CARDS, dtype=np.int8)
    for n in range(actions.size):
        state = info_states[n]
        count = list_placement_plans(state, plans)
        if count > 1:
            num_unseen = list_unseen(unseen, state["deck"])
            for simulation in range(budgets[n]):
                seed = hash_seed(seeds[n], np.uint64(simulation))
                _draw_first(unseen, num_unseen, _MAX_UPCOMING, seed)
                simulate_plans(state, unseen, plans[:count], tries, seed, strengths, fronts)
        best = 0
        for plan in range(1, count):
            if plans[plan]["total"] > plans[best]["total"]:
                best = plan
        actions[n] = plans[best]["first"]
    return actions


@kernel
def list_placement_plans(state: np.void, plans: NDArray[np.void]) -> int:
    """Fill `plans` with all placements of the visible cards, with total 0; return their number."""
    mover, step = to_int64(state["mover"]), to_int64(state["step"])
    in_sight = num_turned(step) - step
    count = 0
    for code in range(NUM_ROWS**in_sight):
        plan = plans[count]
        plan["total"] = 0
        plan["first"] = code % NUM_ROWS
        for row in range(NUM_ROWS):
            plan["keys"][row] = state["keys"][mover, row]
            plan["room"][row] = capacity(row) - state["sizes"][mover, row]
        left = code
        for index in range(step, step + in_sight):
            row = left % NUM_ROWS
            left //= NUM_ROWS
            plan["keys"][row] += CARD_KEYS[state["deck"][index]]
            plan["room"][row] -= 1
        count += plan["room"][0] >= 0 and plan["room"][1] >= 0 and plan["room"][2] >= 0
    return count


@kernel
def _draw_first(cards: Cards, count: int, num_drawn: int, seed: np.uint64) -> None:
    """Make cards[0:num_drawn] a random draw from cards[0:count], in random order, in place."""
    for place in range(num_drawn):
        other = place + draw_below(count - place, seed, place)
        kept = cards[place]
        cards[place] = cards[other]
        cards[other] = kept


@kernel
def simulate_plans(
    state: np.void,
    upcoming: Cards,
    plans: NDArray[np.void],
    tries: int,
    seed: np.uint64,
    strengths: Strengths,
    fronts: NDArray[np.int32],
) -> None:
    """Complete both boards with the cards `upcoming`, the opponent's first, and add the points of each plan.

    Each player's cards are placed in `tries` orders, shared by all plans: as drawn, then shuffled by `seed`.
    """
    theirs = np.empty(NUM_ROWS, dtype=np.int32)
    mine = np.empty(NUM_ROWS, dtype=np.int32)
    used = _fill_opponent_board(state, upcoming, tries, seed, strengths, fronts, theirs)
    num_own = plans[0]["room"].sum()
    own = upcoming[used : used + num_own]
    sums = np.zeros((tries, NUM_SLOTS + 1), dtype=np.int64)
    for attempt in range(tries):
        if attempt > 0:
            _draw_first(own, num_own, num_own, hash_seed(seed, np.uint64(_OWN_SALT + attempt)))
        for place in range(num_own):
            sums[attempt, place + 1] = sums[attempt, place] + CARD_KEYS[own[place]]
    for number in range(plans.shape[0]):
        plan = plans[number]
        best = -_UNREACHED
        for attempt in range(tries):
            filled = 0
            for row in range(NUM_ROWS):
                end = filled + plan["room"][row]
                key = plan["keys"][row] + sums[attempt, end] - sums[attempt, filled]
                mine[row] = row_rank(strengths, fronts, key, row)
                filled = end
            best = max(best, score_boards(mine, theirs))
        plan["total"] += best


@kernel
def _fill_opponent_board(
    state: np.void,
    upcoming: Cards,
    tries: int,
    seed: np.uint64,
    strengths: Strengths,
    fronts: NDArray[np.int32],
    best: NDArray[np.int32],
) -> int:
    """Set `best` [3] to the ranks of the opponent's rows in the best of `tries` orders; return the cards used."""
    mover = to_int64(state["mover"])
    ranks = np.empty(NUM_ROWS, dtype=np.int32)
    num_cards = NUM_SLOTS
    for row in range(NUM_ROWS):
        num_cards -= to_int64(state["sizes"][1 - mover, row])
    most = -np.inf
    for attempt in range(tries):
        if attempt > 0:
            _draw_first(
                upcoming[:num_cards], num_cards, num_cards, hash_seed(seed, np.uint64(_OPPONENT_SALT + attempt))
            )
        used = 0
        for row in range(NUM_ROWS):
            key = to_int64(state["keys"][1 - mover, row])
            for _ in range(capacity(row) - to_int64(state["sizes"][1 - mover, row])):
                key += int(CARD_KEYS[upcoming[used]])
                used += 1
            ranks[row] = row_rank(strengths, fronts, key, row)
        score = board_score(ranks)
        if score > most:
            most = score
            for row in range(NUM_ROWS):
                best[row] = ranks[row]
    return num_cards


@kernel
def board_score(ranks: NDArray[np.int32]) -> float:
    """Score of a board with `ranks` [3] by itself: royalties, plus up to one point per row by strength."""
    if is_foul(ranks[0], ranks[1], ranks[2]):
        return -float(FOUL)
    rows = (int(ranks[0]) + int(ranks[1]) + int(ranks[2])) >> FRONT_SHIFT
    return royalty_sum(ranks[0], ranks[1], ranks[2]) + rows / MAX_STRENGTH
