"""Features of the columns with the probability that each beats the opposite one under random completion.

Columns that miss at most one card each are enumerated; others are sampled. The samples are a function of the unseen
cards. So an observation is deterministic, and all afterstates of one decision use common random numbers.

Players choose where a card goes, so random completion is pessimistic. A side may also take the best of several
completions, which separates an open hand that needs one card from a closed hand of equal strength.
"""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import Cards, hash_seed
from cardlab.games.cards.hands import CARD_KEYS, Int, Strengths, five_card_strength, hand_size
from cardlab.games.five_o import observation as features
from cardlab.games.five_o.column_features import LINE_SIZE
from cardlab.games.five_o.column_probability import game_win_probability
from cardlab.games.five_o.column_simulation import enumerate_completions
from cardlab.games.five_o.rules import COLUMN_SIZE, NUM_COLUMNS, Records, list_unseen
from cardlab.games.protocol import Block, Floats, Players, find_block, layout, width

NUM_COMPLETIONS = 512
CompletionPairs = tuple[tuple[int, int], ...]
CHANCES: CompletionPairs = ((1, 1),)
PROSPECTS: CompletionPairs = ((1, 1), (4, 1), (1, 4), (2, 2), (4, 4))
"""Number of completions of which the own, and the opposite, column is the best; each pair has its mirror image."""
_CACHED_FORMS = 2  # a column has two forms in the afterstates of one decision: with and without the card

# Linear congruential generator modulo 2^64 (Knuth, MMIX); the upper half is used.
_FACTOR, _STEP = np.uint64(6364136223846793005), np.uint64(1442695040888963407)
_HALF = np.uint64(32)

_DIGIT = 7  # bits of a radix-sort digit; a strength has two digits
_DIGITS = (1 << _DIGIT) - 1

_LINES = find_block(features.BLOCKS, "lines")  # the first block


def observation_blocks(pairs: CompletionPairs) -> tuple[Block, ...]:
    """features.BLOCKS with the probabilities of each line for each of `pairs`, and the block `outlook`.

    `outlook` holds for each pair the probability that the player, and the opponent, wins three columns by equation (3).
    """
    return layout(
        lines=(features.NUM_LINES, LINE_SIZE + 2 * len(pairs)),  # for each pair, [wins, loses]
        **{block.name: block.shape for block in features.BLOCKS if block.name != "lines"},
        outlook=(2 * len(pairs),),
    )


def observe(
    table: Strengths,
    states: Records,
    players: Players,
    pairs: CompletionPairs = CHANCES,
    completions: int = NUM_COMPLETIONS,
) -> Floats:
    """[G, F] in the blocks of observation_blocks(pairs), from this number of random `completions`."""
    plain = features.observe(table, states, players)
    probabilities = _compute_probabilities(table, states, players, np.array(pairs), completions)
    wider = find_block(observation_blocks(pairs), "lines")
    out = np.empty((len(states), width(observation_blocks(pairs))), dtype=np.float32)
    lines = out[:, : wider.stop].reshape(-1, *wider.shape)  # a view
    lines[:, :, :LINE_SIZE] = plain[:, : _LINES.stop].reshape(-1, *_LINES.shape)
    mirrored = probabilities[:, :, [pairs.index((theirs, mine)) for mine, theirs in pairs], ::-1]
    for first, seen in ((0, probabilities), (NUM_COLUMNS, mirrored)):
        lines[:, first : first + NUM_COLUMNS, LINE_SIZE:] = seen.reshape(len(out), NUM_COLUMNS, 2 * len(pairs))
    rest = wider.stop + plain.shape[1] - _LINES.stop
    out[:, wider.stop : rest] = plain[:, _LINES.stop :]
    _write_game_probabilities(out[:, rest:], probabilities)
    return out


@kernel
def _compute_probabilities(
    table: Strengths, states: Records, players: Players, pairs: NDArray[np.int64], completions: int
) -> Floats:
    """[G, 5, P, 2] share of completions in which each of the player's columns wins, and loses, by `pairs` [P, 2].

    Forms of a column are cached across the afterstates of one decision. The completions of the opposite column are
    drawn once for all forms.
    """
    probabilities = np.zeros((states.shape[0], NUM_COLUMNS, len(pairs), 2), dtype=np.float32)
    cards = np.empty(52, dtype=np.int8)
    count, known = 0, np.uint64(0)
    keys = np.empty((NUM_COLUMNS, _CACHED_FORMS, 2), dtype=np.int64)
    cached = np.empty((NUM_COLUMNS, _CACHED_FORMS, len(pairs), 2), dtype=np.float32)
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
                    _enumerate(table, own, other, cards, count, pairs, shares)
                else:
                    if drawn_for[column] != other:
                        seed = hash_seed(unseen, np.uint64(column))
                        _draw_first(table, other, cards, count, seed, theirs[column, 0], drawn[column], streams[column])
                        if len(pairs) > 1:
                            theirs[column, 1] = radix_sort(theirs[column, 0])
                        drawn_for[column] = other
                    _draw_second(table, own, cards, count, drawn[column], streams[column], mine)
                    _compare(mine, theirs[column], pairs, shares)
            probabilities[g, column] = cached[column, place]
    return probabilities


@kernel
def _enumerate(
    table: Strengths,
    own: Int,
    other: Int,
    cards: Cards,
    count: int,
    pairs: NDArray[np.int64],
    shares: NDArray[np.float32],
) -> None:
    """Fill `shares` [P, 2] from all completions of two columns that miss at most one card each."""
    mine, my_cards = np.empty(52, dtype=np.int64), np.empty(52, dtype=np.int64)
    theirs, their_cards = np.empty(52, dtype=np.int64), np.empty(52, dtype=np.int64)
    num_mine = enumerate_completions(table, own, cards, count, mine, my_cards)
    num_theirs = enumerate_completions(table, other, cards, count, theirs, their_cards)
    won = lost = cases = 0
    for first in range(num_mine):
        for second in range(num_theirs):
            if not my_cards[first] & their_cards[second]:
                won += mine[first] > theirs[second]
                lost += mine[first] < theirs[second]
                cases += 1
    shares[0, 0], shares[0, 1] = won / cases, lost / cases
    if len(pairs) > 1:
        _compare_best(radix_sort(mine[:num_mine]), radix_sort(theirs[:num_theirs]), pairs, shares)


@kernel
def _draw_first(
    table: Strengths,
    key: Int,
    cards: Cards,
    count: int,
    seed: np.uint64,
    strengths: NDArray[np.int64],
    drawn: NDArray[np.int64],
    streams: NDArray[np.uint64],
) -> None:
    """Fill `strengths` [C] of random completions of the opponent's column, seeded by `seed`, and the cards drawn.

    The opponent draws first, so its cards do not depend on the player's placement.
    """
    for index in range(len(strengths)):
        filled, drawn[index], streams[index] = _complete_hand(
            key, cards, count, np.int64(0), hash_seed(seed, np.uint64(index))
        )
        strengths[index] = five_card_strength(table, filled)


@kernel
def _draw_second(
    table: Strengths,
    key: Int,
    cards: Cards,
    count: int,
    drawn: NDArray[np.int64],
    streams: NDArray[np.uint64],
    strengths: NDArray[np.int64],
) -> None:
    """Fill `strengths` [C] of random completions of the player's column from cards that the opponent did not draw."""
    for index in range(len(strengths)):
        filled, _, _ = _complete_hand(key, cards, count, drawn[index], streams[index])
        strengths[index] = five_card_strength(table, filled)


@kernel
def _compare(
    mine: NDArray[np.int64], theirs: NDArray[np.int64], pairs: NDArray[np.int64], shares: NDArray[np.float32]
) -> None:
    """Fill `shares` [P, 2] from paired strengths `mine` [C] and `theirs` [2, C] (drawn order, ascending)."""
    won = lost = 0
    for index in range(len(mine)):
        won += mine[index] > theirs[0, index]
        lost += mine[index] < theirs[0, index]
    shares[0, 0], shares[0, 1] = won / len(mine), lost / len(mine)
    if len(pairs) > 1:
        _compare_best(radix_sort(mine), theirs[1], pairs, shares)


@kernel
def _compare_best(
    mine: NDArray[np.int64], theirs: NDArray[np.int64], pairs: NDArray[np.int64], shares: NDArray[np.float32]
) -> None:
    """Fill shares[1:] from ascending strengths: the best of m of `mine` against the best of n of `theirs`.

    The best of m independent draws is at most s with probability F(s)^m. That both sides draw from one deck is ignored.
    """
    reached = np.zeros(len(pairs))
    shares[1:] = 0.0
    num_below = num_at_or_below = 0
    for rank in range(len(mine)):
        while num_below < len(theirs) and theirs[num_below] < mine[rank]:
            num_below += 1
        while num_at_or_below < len(theirs) and theirs[num_at_or_below] <= mine[rank]:
            num_at_or_below += 1
        own_share, below_share, at_or_below = (
            (rank + 1) / len(mine),
            num_below / len(theirs),
            num_at_or_below / len(theirs),
        )
        for pair in range(1, len(pairs)):
            at_rank = _power(own_share, pairs[pair, 0])
            shares[pair, 0] += (at_rank - reached[pair]) * _power(below_share, pairs[pair, 1])
            shares[pair, 1] += (at_rank - reached[pair]) * (1.0 - _power(at_or_below, pairs[pair, 1]))
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
def _complete_hand(
    key: Int, cards: Cards, count: int, drawn: np.int64, stream: np.uint64
) -> tuple[np.int64, np.int64, np.uint64]:
    """Key of a hand completed from cards[0:count], with the updated mask of drawn cards and generator state."""
    total = np.int64(key)
    missing = COLUMN_SIZE - hand_size(key)
    while missing > 0:
        stream = stream * _FACTOR + _STEP
        chosen = np.int64(((stream >> _HALF) * np.uint64(count)) >> _HALF)
        bit = np.int64(1) << chosen
        if not drawn & bit:
            drawn |= bit
            total += np.int64(CARD_KEYS[cards[chosen]])
            missing -= 1
    return total, drawn, stream


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
