"""Open-face boards filled up with random cards: what the plans for the cards in sight gain by it on average."""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_CARDS, draw_below, draw_seeds, mix
from cardlab.games.cards.hands import CARD_KEYS, FRONT_SHIFT, MAX_STRENGTH, Strengths, front_table, strength_table
from cardlab.games.open_face.royalties import row_rank
from cardlab.games.open_face.rules import (
    FOUL,
    NUM_DEALT,
    NUM_OPENING,
    NUM_ROWS,
    NUM_SLOTS,
    capacity,
    is_foul,
    num_turned,
    royalty_sum,
    settle,
    wide,
)
from cardlab.games.protocol import Actions, InfoStates

Numbers = NDArray[np.int64]

PLAN = np.dtype(
    [
        ("total", np.int64),  # points won over all simulations
        ("keys", np.int64, (NUM_ROWS,)),  # of the rows of the player to move, once the plan is carried out
        ("room", np.int64, (NUM_ROWS,)),  # free slots left in them
        ("first", np.int64),  # row of the card to place now
    ],
    align=True,
)
MAX_PLANS = NUM_ROWS**NUM_OPENING
_MAX_COMING = 2 * NUM_SLOTS - NUM_OPENING
_HUGE = 1_000_000  # more than any game pays
_THEIR_SALT, _OWN_SALT = 1 << 20, 1 << 21  # apart from the draws, which use the salts below 52


def choose_rows(
    info_states: InfoStates, rng: np.random.Generator, *, openings: int, simulations: int, tries: int
) -> Actions:
    """[N] the first row of the plan that wins most when both boards are filled up, in the best of `tries` orders.

    Each plan of an opening card is tried on `openings` draws of the cards to come, each later row on `simulations`; all
    plans of a decision on the same ones.
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
    """[N] the first row of the plan with the highest total over budgets[n] simulations; `plans` is scratch."""
    actions = np.empty(info_states.shape[0], dtype=np.int16)
    unseen = np.empty(NUM_CARDS, dtype=np.int64)
    for n in range(actions.size):
        state = info_states[n]
        count = list_plans(state, plans)
        if count > 1:
            num_unseen = _list_unseen(state, unseen)
            for simulation in range(budgets[n]):
                seed = mix(seeds[n], np.uint64(simulation))
                _draw_first(unseen, num_unseen, _MAX_COMING, seed)
                simulate(state, unseen, plans[:count], tries, seed, strengths, fronts)
        best = 0
        for plan in range(1, count):
            if plans[plan]["total"] > plans[best]["total"]:
                best = plan
        actions[n] = plans[best]["first"]
    return actions


@kernel
def list_plans(state: np.void, plans: NDArray[np.void]) -> int:
    """Fill `plans` with the ways to place the cards in sight, totals 0; how many there are."""
    mover, step = wide(state["mover"]), wide(state["step"])
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
def _list_unseen(state: np.void, unseen: Numbers) -> int:
    """Fill `unseen` with the cards that nobody has seen; how many there are."""
    seen = np.zeros(NUM_CARDS, dtype=np.bool_)
    for index in range(NUM_DEALT):
        if state["deck"][index] >= 0:
            seen[state["deck"][index]] = True
    count = 0
    for card in range(NUM_CARDS):
        if not seen[card]:
            unseen[count] = card
            count += 1
    return count


@kernel
def _draw_first(cards: Numbers, count: int, num_drawn: int, seed: np.uint64) -> None:
    """Make cards[0:num_drawn] a random draw, in random order, from cards[0:count], in place."""
    for place in range(num_drawn):
        other = place + draw_below(count - place, seed, place)
        kept = cards[place]
        cards[place] = cards[other]
        cards[other] = kept


@kernel
def simulate(
    state: np.void,
    coming: Numbers,
    plans: NDArray[np.void],
    tries: int,
    seed: np.uint64,
    strengths: Strengths,
    fronts: NDArray[np.int32],
) -> None:
    """Fill both boards with the cards `coming`, the opponent's first, and add what each plan wins to its total.

    Either player's cards are laid out in `tries` orders, which all plans share: as they come, then shuffled by `seed`.
    """
    theirs = np.empty(NUM_ROWS, dtype=np.int32)
    mine = np.empty(NUM_ROWS, dtype=np.int32)
    used = _fill_opposite(state, coming, tries, seed, strengths, fronts, theirs)
    num_own = plans[0]["room"].sum()
    own = coming[used : used + num_own]
    sums = np.zeros((tries, NUM_SLOTS + 1), dtype=np.int64)
    for attempt in range(tries):
        if attempt > 0:
            _draw_first(own, num_own, num_own, mix(seed, np.uint64(_OWN_SALT + attempt)))
        for place in range(num_own):
            sums[attempt, place + 1] = sums[attempt, place] + CARD_KEYS[own[place]]
    for number in range(plans.shape[0]):
        plan = plans[number]
        best = -_HUGE
        for attempt in range(tries):
            filled = 0
            for row in range(NUM_ROWS):
                end = filled + plan["room"][row]
                key = plan["keys"][row] + sums[attempt, end] - sums[attempt, filled]
                mine[row] = row_rank(strengths, fronts, key, row)
                filled = end
            best = max(best, settle(mine, theirs))
        plan["total"] += best


@kernel
def _fill_opposite(
    state: np.void,
    coming: Numbers,
    tries: int,
    seed: np.uint64,
    strengths: Strengths,
    fronts: NDArray[np.int32],
    best: NDArray[np.int32],
) -> int:
    """Set `best` [3] to the ranks of the opponent's rows in the best of `tries` orders; how many cards that takes."""
    mover = wide(state["mover"])
    ranks = np.empty(NUM_ROWS, dtype=np.int32)
    num_cards = NUM_SLOTS
    for row in range(NUM_ROWS):
        num_cards -= wide(state["sizes"][1 - mover, row])
    most = -np.inf
    for attempt in range(tries):
        if attempt > 0:
            _draw_first(coming[:num_cards], num_cards, num_cards, mix(seed, np.uint64(_THEIR_SALT + attempt)))
        used = 0
        for row in range(NUM_ROWS):
            key = wide(state["keys"][1 - mover, row])
            for _ in range(capacity(row) - wide(state["sizes"][1 - mover, row])):
                key += int(CARD_KEYS[coming[used]])
                used += 1
            ranks[row] = row_rank(strengths, fronts, key, row)
        merit = standing(ranks)
        if merit > most:
            most = merit
            for row in range(NUM_ROWS):
                best[row] = ranks[row]
    return num_cards


@kernel
def standing(ranks: NDArray[np.int32]) -> float:
    """What a board of these `ranks` [3] is worth by itself: royalties, and a point for each row in full strength."""
    if is_foul(ranks[0], ranks[1], ranks[2]):
        return -float(FOUL)
    rows = (int(ranks[0]) + int(ranks[1]) + int(ranks[2])) >> FRONT_SHIFT
    return royalty_sum(ranks[0], ranks[1], ranks[2]) + rows / MAX_STRENGTH
