"""The observation `table`: what the owner of an InfoState sees, in named blocks of numbers of order one.

Players are ordered by distance among living players: 0 is the owner, 1 the left neighbour, who moves next. Blocks are
padded to nine players, so that one policy plays any number. A card is encoded as its value in its suit's slot, a
one-hot of its value, or both. The slots are ordered by `unseen_cards.py`: the owner's best suit is first.
"""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.protocol import Floats, Players, layout, width
from cardlab.games.thirty_one.record import (
    BEST_SCORE,
    HAND_SIZE,
    MAX_PLAYERS,
    MAX_STOCK,
    NUM_PHASES,
    SWAP,
    Record,
    Records,
    card_value,
    score_after_swap,
    suit_of,
)
from cardlab.games.thirty_one.showdown import score_of
from cardlab.games.thirty_one.unseen_cards import (
    LOW_VALUE,
    NUM_VALUES,
    Counts,
    add_suit_sums,
    count_cards,
    distance_to,
    drawable_cards,
    kept_suit_sum,
    rank_suits,
    reorder_suits,
    score_ceiling,
    seats_by_distance,
    suit_columns,
    unseen_cards,
)

LOW_SCORE = 14  # scores up to this one share the first place of `score_is`
NUM_LAPS = 8  # places of `lap_is`; the last place is for all later laps
FULL_LIVES = 3  # places of `lives_are`; the last place is for this many lives or more

BLOCKS = layout(
    hand=(HAND_SIZE, 4),  # value / 11 in the suit's slot
    hand_values=(HAND_SIZE, NUM_VALUES),  # one-hot of the values 2 to 11
    suit_sums=(4,),  # / 31
    sums_without=(HAND_SIZE, 4),  # suit sums without each card / 31
    score=(1,),  # / 31
    score_is=(18,),  # one-hot: up to 14, then 15 to 31
    top=(4,),  # of the discard pile, as in `hand`
    top_value=(NUM_VALUES,),
    drawn=(4,),  # the pending card: the owner's, or one that another player took from the discard pile
    drawn_value=(NUM_VALUES,),
    swap_scores=(4,),  # / 31: drawn card (or top of the discard pile) swapped for each card, then unchanged
    swap_gains=(4,),  # `swap_scores` less the score / 11
    phase=(NUM_PHASES,),  # turn, swap, over, unresolved
    mover=(MAX_PLAYERS,),  # by distance
    taken=(1,),  # the pending card comes from the discard pile
    first_turn=(1,),
    turns=(1,),  # finished in this round, of `max_turns`
    lap_is=(NUM_LAPS,),  # one-hot: completed laps of the table
    rounds=(1,),  # finished, of `max_rounds`
    called=(1,),
    caller=(MAX_PLAYERS,),  # by distance
    turns_left=(1,),  # of all players until the showdown / 8; 1 before a call
    stock=(2,),  # cards left / 45; whether it was reshuffled
    lives=(MAX_PLAYERS,),  # / 3, by distance
    lives_are=(3, FULL_LIVES),  # one-hot for the owner, the left and the right neighbour
    living=(MAX_PLAYERS - 1,),  # one-hot: 2 to 9
    known_sums=(MAX_PLAYERS - 1, 4),  # suit sums of each opponent's known cards / 31
    known_counts=(MAX_PLAYERS - 1,),  # / 3
    score_floors=(MAX_PLAYERS - 1,),  # score of the known cards alone / 31
    score_ceilings=(2,),  # highest possible scores of the left and the right neighbour / 31
    right_sums=(4,),  # `known_sums` of the right neighbour, whose discard the owner can take
    expected_values=(4,),  # of a card from the stock, in its suit's slot / 10
    suit_shares=(4,),  # probability of each suit of a card from the stock
    ace_shares=(4,),  # probability of each ace × 13
    ten_shares=(4,),  # probability of a card of value 10 in each suit × 13 / 4
    draw_score=(1,),  # expected score after drawing and the best swap / 31
    draw_gain=(1,),  # probability that the score rises
    draw_best=(1,),  # probability of a score of 31
)

NUM_FEATURES = width(BLOCKS)
SUIT_COLUMNS = suit_columns(BLOCKS, exclude=("swap_scores", "swap_gains", "phase"))


@kernel
def observe_table(info_states: Records, players: Players, max_turns: int, max_rounds: int) -> Floats:
    """[G, F] observations in the blocks of `BLOCKS`."""
    features = np.zeros((info_states.shape[0], NUM_FEATURES), dtype=np.float32)
    seats = np.empty(MAX_PLAYERS, dtype=np.int64)
    counts = np.empty((4, NUM_VALUES), dtype=np.int64)
    order = np.empty(4, dtype=np.int64)
    for g in range(info_states.shape[0]):
        state = info_states[g]
        owner = players[g]
        row = features[g]
        living = seats_by_distance(state, owner, seats)
        at = _write_hand(state, owner, row)
        at = _write_swap_scores(state, owner, row, at)
        at = _write_phase(state, row, at, seats, living)
        row[at] = state["turns"] / max_turns
        row[at + 1 + min(state["turns"] // living, NUM_LAPS - 1)] = 1.0
        row[at + 1 + NUM_LAPS] = (state["round"] - 1) / max_rounds
        at = _write_call(state, row, at + 2 + NUM_LAPS, seats, living)
        at = _write_lives(state, row, at, seats, living)
        count_cards(unseen_cards(state), counts)
        at = _write_known(state, row, at, seats, living, counts)
        total = count_cards(drawable_cards(state), counts)
        if total > 0:
            _write_draw(state, owner, row, at, counts, total)
        rank_suits(state, owner, order)
        reorder_suits(row, SUIT_COLUMNS, order)
    return features


@kernel
def write_card(card: int, row: Floats, at: int, scale: float) -> None:
    """Value of `card` times `scale` in its suit's slot, row[at:at + 4]; no write for UNKNOWN."""
    if card >= 0:
        row[at + suit_of(card)] = scale * card_value(card)


@kernel
def _write_value(card: int, row: Floats, at: int) -> None:
    if card >= 0:
        row[at + card_value(card) - LOW_VALUE] = 1.0


@kernel
def _write_hand(state: Record, owner: int, row: Floats) -> int:
    """Write `hand` to `score_is`; return the next column."""
    hand = state["hands"][owner]
    sums = HAND_SIZE * (4 + NUM_VALUES)
    for i in range(HAND_SIZE):
        write_card(hand[i], row, 4 * i, 1 / 11)
        _write_value(hand[i], row, 4 * HAND_SIZE + NUM_VALUES * i)
        add_suit_sums(hand, i, row[sums + 4 * (i + 1) : sums + 4 * (i + 2)], 1 / 31)
    add_suit_sums(hand, HAND_SIZE, row[sums : sums + 4], 1 / 31)
    at = sums + 4 * (HAND_SIZE + 1)
    score = score_of(state, owner)
    row[at] = score / 31
    row[at + 1 + max(score - LOW_SCORE, 0)] = 1.0
    return at + 2 + BEST_SCORE - LOW_SCORE


@kernel
def _write_swap_scores(state: Record, owner: int, row: Floats, at: int) -> int:
    """Write `top` to `swap_gains`; return the next column."""
    top, drawn = state["top"], state["drawn"]
    write_card(top, row, at, 1 / 11)
    _write_value(top, row, at + 4)
    at += 4 + NUM_VALUES
    write_card(drawn, row, at, 1 / 11)
    _write_value(drawn, row, at + 4)
    at += 4 + NUM_VALUES
    hand = state["hands"][owner]
    card = drawn if state["phase"] == SWAP and state["player"] == owner else top
    score = score_of(state, owner)
    for position in range(HAND_SIZE + 1):
        swapped = score_after_swap(hand, position, card)
        row[at + position] = swapped / 31
        row[at + 4 + position] = (swapped - score) / 11
    return at + 8


@kernel
def _write_phase(state: Record, row: Floats, at: int, seats: NDArray[np.int64], living: int) -> int:
    """Write `phase` to `first_turn`; return the next column."""
    row[at + int(state["phase"])] = 1.0
    at += NUM_PHASES
    mover = distance_to(seats, living, state["player"])
    if mover >= 0:
        row[at + mover] = 1.0
    at += MAX_PLAYERS
    row[at] = state["taken"]
    row[at + 1] = state["turns"] == 0
    return at + 2


@kernel
def _write_call(state: Record, row: Floats, at: int, seats: NDArray[np.int64], living: int) -> int:
    """Write `called` to `stock`; return the next column."""
    caller = distance_to(seats, living, state["caller"])
    turns_left = 1.0
    if caller >= 0:
        row[at] = 1.0
        row[at + 1 + caller] = 1.0
        mover = distance_to(seats, living, state["player"])
        turns_left = ((caller - mover) % living) / 8 if mover >= 0 else 0.0
    row[at + 1 + MAX_PLAYERS] = turns_left
    at += 2 + MAX_PLAYERS
    row[at] = state["stock_left"] / MAX_STOCK
    row[at + 1] = state["restocked"] != 0
    return at + 2


@kernel
def _write_lives(state: Record, row: Floats, at: int, seats: NDArray[np.int64], living: int) -> int:
    """Write `lives` to `living`; return the next column."""
    for distance in range(living):
        row[at + distance] = state["lives"][seats[distance]] / 3
    at += MAX_PLAYERS
    for i, distance in enumerate((0, 1 % living, living - 1)):
        lives = int(state["lives"][seats[distance]])
        if lives > 0:
            row[at + i * FULL_LIVES + min(lives, FULL_LIVES) - 1] = 1.0
    at += 3 * FULL_LIVES
    if living >= 2:
        row[at + living - 2] = 1.0
    return at + MAX_PLAYERS - 1


@kernel
def _write_known(state: Record, row: Floats, at: int, seats: NDArray[np.int64], living: int, unseen: Counts) -> int:
    """Write `known_sums` to `right_sums`; return the next column."""
    others = MAX_PLAYERS - 1
    for i in range(living - 1):
        hand = state["hands"][seats[i + 1]]
        add_suit_sums(hand, HAND_SIZE, row[at + 4 * i : at + 4 * i + 4], 1 / 31)
        known = 0
        for j in range(HAND_SIZE):
            known += hand[j] >= 0
        row[at + 4 * others + i] = known / HAND_SIZE
        row[at + 5 * others + i] = score_of(state, seats[i + 1]) / 31
    at += 6 * others
    if living >= 2:
        right = state["hands"][seats[living - 1]]
        row[at] = score_ceiling(state["hands"][seats[1]], unseen) / 31
        row[at + 1] = score_ceiling(right, unseen) / 31
        add_suit_sums(right, HAND_SIZE, row[at + 2 : at + 6], 1 / 31)
    return at + 6


@kernel
def write_expected(row: Floats, at: int, counts: Counts, total: int, scale: float) -> None:
    """Write the expected value per suit, times `scale`, of a card drawn from `counts` to row[at:at + 4]."""
    for suit in range(4):
        for value in range(NUM_VALUES):
            row[at + suit] += scale * counts[suit, value] * (value + LOW_VALUE) / total


@kernel
def _write_draw(state: Record, owner: int, row: Floats, at: int, counts: Counts, total: int) -> None:
    """Write `expected_values` to `draw_best`."""
    write_expected(row, at, counts, total, 0.1)
    score = score_of(state, owner)
    for suit in range(4):
        beside = kept_suit_sum(state["hands"][owner], suit)
        row[at + 8 + suit] = 13 * counts[suit, NUM_VALUES - 1] / total
        row[at + 12 + suit] = 13 / 4 * counts[suit, NUM_VALUES - 2] / total
        for value in range(NUM_VALUES):
            probability = counts[suit, value] / total
            new_score = max(score, beside + value + LOW_VALUE)
            row[at + 4 + suit] += probability
            row[at + 16] += probability * new_score / 31
            row[at + 17] += probability * (new_score > score)
            row[at + 18] += probability * (new_score == BEST_SCORE)
