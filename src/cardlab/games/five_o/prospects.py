"""Features of the columns with the probability that each beats the opposite one under random completion.

Columns that miss at most one card each are enumerated; others are sampled. The samples are a function of the unseen
cards. So an observation is deterministic, and all afterstates of one decision use common random numbers.

Players choose where a card goes, so random completion is pessimistic. A side may also take the best of several
completions. That separates an open hand that needs one card from a closed hand of equal strength.
"""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import Cards, hash_seed
from cardlab.games.cards.hands import CARD_KEYS, Int, Strengths, five_card_strength, hand_size
from cardlab.games.five_o import observation as features
from cardlab.games.five_o.column_features import LINE_SIZE
from cardlab.games.five_o.column_probability import (
    LCG_FACTOR,
    LCG_HALF,
    LCG_STEP,
    Numbers,
    compare_completions,
    enumerate_completions,
    game_win_probability,
)
from cardlab.games.five_o.rules import COLUMN_SIZE, NUM_COLUMNS, Records, list_unseen
from cardlab.games.protocol import Floats, Players, find_block, layout, width

NUM_COMPLETIONS = 512
PAIRS = ((1, 1), (4, 1), (1, 4), (2, 2), (4, 4))
"""Number of completions of which the own, and the opposite, column is the best; each pair has its mirror image."""
_PAIRS = np.array(PAIRS)
_MIRRORED = [PAIRS.index((theirs, mine)) for mine, theirs in PAIRS]
_CACHED_FORMS = 2  # a column has two forms in the afterstates of one decision: with and without the card

_DIGIT = 7  # bits of a radix-sort digit; a strength has two digits
_DIGITS = (1 << _DIGIT) - 1

_PLAIN_LINES = find_block(features.BLOCKS, "lines")  # the first block

BLOCKS = layout(
    lines=(features.NUM_LINES, LINE_SIZE + 2 * len(PAIRS)),  # behind the other entries, [wins, loses] for each pair
    **{block.name: block.shape for block in features.BLOCKS if block.name != "lines"},
    outlook=(2 * len(PAIRS),),  # for each pair, the player, and the opponent, wins three columns by equation (3)
)
_LINES, _OUTLOOK = find_block(BLOCKS, "lines"), find_block(BLOCKS, "outlook").start


def observe(table: Strengths, states: Records, players: Players, completions: int = NUM_COMPLETIONS) -> Floats:
    """[G, F] in BLOCKS, from this number of random `completions`."""
    plain = features.observe(table, states, players)
    probabilities = _compute_probabilities(table, states, players, completions)
    out = np.empty((len(states), width(BLOCKS)), dtype=np.float32)
    lines = out[:, : _LINES.stop].reshape(-1, *_LINES.shape)  # a view
    lines[:, :, :LINE_SIZE] = plain[:, : _PLAIN_LINES.stop].reshape(-1, *_PLAIN_LINES.shape)
    mirrored = probabilities[:, :, _MIRRORED, ::-1]
    for first, seen in ((0, probabilities), (NUM_COLUMNS, mirrored)):
        lines[:, first : first + NUM_COLUMNS, LINE_SIZE:] = seen.reshape(len(out), NUM_COLUMNS, 2 * len(PAIRS))
    out[:, _LINES.stop : _OUTLOOK] = plain[:, _PLAIN_LINES.stop :]
    _write_game_probabilities(out[:, _OUTLOOK:], probabilities)
    return out


@kernel
def _compute_probabilities(table: Strengths, states: Records, players: Players, completions: int) -> Floats:
    """[G, 5, P, 2] share of completions in which each of the player's columns wins, and loses, by PAIRS [P, 2].

    Forms of a column are cached across the afterstates of one decision. The completions of the opposite column are
    drawn once for all forms, and first, so that they do not depend on the player's placement.
    """
    probabilities = np.zeros((states.shape[0], NUM_COLUMNS, len(_PAIRS), 2), dtype=np.float32)
    cards = np.empty(52, dtype=np.int8)
    count, known = 0, np.uint64(0)
    keys = np.empty((NUM_COLUMNS, _CACHED_FORMS, 2), dtype=np.int64)
    cached = np.empty((NUM_COLUMNS, _CACHED_FORMS, len(_PAIRS), 2), dtype=np.float32)
    held = np.zeros(NUM_COLUMNS, dtype=np.int64)
    mine = np.empty(completions, dtype=np.int64)
    theirs = np.empty((NUM_COLUMNS, 2, completions), dtype=np.int64)  # in drawn order, and ascending
    drawn = np.empty((NUM_COLUMNS, completions), dtype=np.int64)
    streams = np.empty((NUM_COLUMNS, completions), dtype=np.uint64)
    drawn_for = np.full(NUM_COLUMNS, -1, dtype=np.int64)  # key of the opposite column
    for g in range(states.shape[0]):
        player = np.int64(players[g])
        count = list_unseen(states[g], cards)
        unseen = np.uint64(0)
        for index in range(count):
            unseen |= np.uint64(1) << np.uint64(cards[index])
        if unseen != known:
            known = unseen
            held[:] = 0
            drawn_for[:] = -1
        for column in range(NUM_COLUMNS):
            own, other = np.int64(states["keys"][g, player, column]), np.int64(states["keys"][g, 1 - player, column])
            place = 0
            while place < held[column] and (keys[column, place, 0] != own or keys[column, place, 1] != other):
                place += 1
            if place == held[column]:
                place = min(place, _CACHED_FORMS - 1)
                held[column] = place + 1
                keys[column, place, 0], keys[column, place, 1] = own, other
                shares = cached[column, place]
                if hand_size(own) >= COLUMN_SIZE - 1 and hand_size(other) >= COLUMN_SIZE - 1:
                    _enumerate(table, own, other, cards, count, shares)
                else:
                    if drawn_for[column] != other:
                        drawn_for[column] = other
                        drawn[column] = 0
                        seed = hash_seed(unseen, np.uint64(column))
                        for index in range(completions):
                            streams[column, index] = hash_seed(seed, np.uint64(index))
                        _draw(table, other, cards, count, drawn[column], streams[column], theirs[column, 0])
                        theirs[column, 1] = radix_sort(theirs[column, 0])
                    _draw(table, own, cards, count, drawn[column].copy(), streams[column].copy(), mine)
                    _compare(mine, theirs[column], shares)
            probabilities[g, column] = cached[column, place]
    return probabilities


@kernel
def _enumerate(table: Strengths, own: Int, other: Int, cards: Cards, count: int, shares: NDArray[np.float32]) -> None:
    """Fill `shares` [P, 2] from all completions of two columns that miss at most one card each."""
    mine, my_cards = np.empty(52, dtype=np.int64), np.empty(52, dtype=np.int64)
    theirs, their_cards = np.empty(52, dtype=np.int64), np.empty(52, dtype=np.int64)
    num_mine = enumerate_completions(table, own, cards, count, mine, my_cards)
    num_theirs = enumerate_completions(table, other, cards, count, theirs, their_cards)
    won, lost, cases = compare_completions(mine[:num_mine], my_cards, theirs[:num_theirs], their_cards)
    shares[0, 0], shares[0, 1] = won / cases, lost / cases
    _compare_best(radix_sort(mine[:num_mine]), radix_sort(theirs[:num_theirs]), shares)


@kernel
def _draw(
    table: Strengths,
    key: Int,
    cards: Cards,
    count: int,
    drawn: Numbers,
    streams: NDArray[np.uint64],
    strengths: Numbers,
) -> None:
    """Fill `strengths` [C] of random completions of a column from the cards[0:count] that are not in `drawn` [C].

    The masks `drawn` and the states of the generators, `streams` [C], are updated.
    """
    missing = COLUMN_SIZE - hand_size(key)
    for index in range(len(strengths)):
        total, mask, stream = np.int64(key), drawn[index], streams[index]
        left = missing
        while left > 0:
            stream = stream * LCG_FACTOR + LCG_STEP
            chosen = np.int64(((stream >> LCG_HALF) * np.uint64(count)) >> LCG_HALF)
            bit = np.int64(1) << chosen
            if not mask & bit:
                mask |= bit
                total += np.int64(CARD_KEYS[cards[chosen]])
                left -= 1
        strengths[index] = five_card_strength(table, total)
        drawn[index], streams[index] = mask, stream


@kernel
def _compare(mine: Numbers, theirs: Numbers, shares: NDArray[np.float32]) -> None:
    """Fill `shares` [P, 2] from paired strengths `mine` [C] and `theirs` [2, C] (drawn order, ascending)."""
    won = lost = 0
    for index in range(len(mine)):
        won += mine[index] > theirs[0, index]
        lost += mine[index] < theirs[0, index]
    shares[0, 0], shares[0, 1] = won / len(mine), lost / len(mine)
    _compare_best(radix_sort(mine), theirs[1], shares)


@kernel
def _compare_best(mine: Numbers, theirs: Numbers, shares: NDArray[np.float32]) -> None:
    """Fill shares[1:] from ascending strengths: the best of m of `mine` against the best of n of `theirs`, by PAIRS.

    The best of m independent draws is at most s with probability F(s)^m. That both sides draw from one deck is ignored.
    """
    reached = np.zeros(len(_PAIRS))
    shares[1:] = 0.0
    num_below = num_at_or_below = 0
    for rank in range(len(mine)):
        while num_below < len(theirs) and theirs[num_below] < mine[rank]:
            num_below += 1
        while num_at_or_below < len(theirs) and theirs[num_at_or_below] <= mine[rank]:
            num_at_or_below += 1
        own_share = (rank + 1) / len(mine)
        below_share, at_or_below = num_below / len(theirs), num_at_or_below / len(theirs)
        for pair in range(1, len(_PAIRS)):
            at_rank = _power(own_share, _PAIRS[pair, 0])
            shares[pair, 0] += (at_rank - reached[pair]) * _power(below_share, _PAIRS[pair, 1])
            shares[pair, 1] += (at_rank - reached[pair]) * (1.0 - _power(at_or_below, _PAIRS[pair, 1]))
            reached[pair] = at_rank


@kernel
def _power(base: float, exponent: Int) -> float:
    """`base` to a small integer power; several times as fast as numba's `**`."""
    result = base
    for _ in range(exponent - 1):
        result *= base
    return result


@kernel
def radix_sort(strengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """[C] ascending strengths; several times as fast as a comparison sort."""
    given, out = strengths, np.empty_like(strengths)
    for shift in (0, _DIGIT):
        starts = np.zeros((1 << _DIGIT) + 1, dtype=np.int64)
        for strength in given:
            starts[(strength >> shift & _DIGITS) + 1] += 1
        for digit in range(1 << _DIGIT):
            starts[digit + 1] += starts[digit]
        for strength in given:
            digit = strength >> shift & _DIGITS
            out[starts[digit]] = strength
            starts[digit] += 1
        given, out = out, np.empty_like(strengths)
    return given


@kernel
def _write_game_probabilities(out: Floats, probabilities: Floats) -> None:
    """Fill `out` [G, 2P] by equation (3) from `probabilities` [G, 5, P, 2]."""
    wins = np.empty(NUM_COLUMNS)
    for g in range(out.shape[0]):
        for pair in range(probabilities.shape[2]):
            for side in range(2):
                for column in range(NUM_COLUMNS):
                    wins[column] = probabilities[g, column, pair, side]
                out[g, 2 * pair + side] = game_win_probability(wins)
