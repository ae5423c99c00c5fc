"""Features of the columns with their chances: how often each beats the one opposite when both fill up at random.

Where each of the two misses one card at most, all completions are counted; else some random ones. Which cards these
draw is a function of the unseen cards, so an observation is always the same, and the afterstates of one decision,
to which the same cards are unseen, are compared on the same draws: their luck cancels.

Players do not fill up at random: they choose where a card goes. So a side may also take the best of several
completions; those chances tell an open hand that wants one card from a closed one of the same strength.
"""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import Cards, mix
from cardlab.games.cards.hands import CARD_KEYS, Int, Strengths, five_card_strength, hand_size
from cardlab.games.five_o import observation as features
from cardlab.games.five_o.chances import win_chance
from cardlab.games.five_o.column_features import LINE_SIZE
from cardlab.games.five_o.column_simulation import complete
from cardlab.games.five_o.rules import COLUMN_SIZE, NUM_COLUMNS, Records, list_unseen
from cardlab.games.protocol import Block, Floats, Players, find_block, layout, width

NUM_COMPLETIONS = 512
Pairs = tuple[tuple[int, int], ...]
CHANCES: Pairs = ((1, 1),)
PROSPECTS: Pairs = ((1, 1), (4, 1), (1, 4), (2, 2), (4, 4))
"""Of how many completions the player's column is the best, and the one opposite; each pair has its mirror image."""
_REMEMBERED = 2  # forms of a column in the afterstates of one decision: with the card placed there, and without

# A linear congruential generator modulo 2^64 (Knuth, MMIX); its upper half is used.
_FACTOR, _STEP = np.uint64(6364136223846793005), np.uint64(1442695040888963407)
_HALF = np.uint64(32)

_DIGIT = 7  # bits; two such digits hold a strength
_DIGITS = (1 << _DIGIT) - 1

_LINES = find_block(features.BLOCKS, "lines")  # comes first


def blocks(pairs: Pairs) -> tuple[Block, ...]:
    """Those of features.BLOCKS, with the chances of each line by each of `pairs`, and the outlook.

    In brackets: the entries of a block, in order. The outlook is the chance that the player wins three columns, and
    the opponent, by each pair, with columns taken as independent: equation (3).
    """
    return layout(
        lines=(features.NUM_LINES, LINE_SIZE + 2 * len(pairs)),  # then, for each pair, [it wins, it loses]
        **{block.name: block.shape for block in features.BLOCKS if block.name != "lines"},
        outlook=(2 * len(pairs),),
    )


def observe(
    table: Strengths, states: Records, players: Players, pairs: Pairs = CHANCES, completions: int = NUM_COMPLETIONS
) -> Floats:
    """[G, F] in the blocks of blocks(pairs), the chances from so many random `completions`."""
    plain = features.observe(table, states, players)
    chances = _chances(table, states, players, np.array(pairs), completions)
    wider = find_block(blocks(pairs), "lines")
    out = np.empty((len(states), width(blocks(pairs))), dtype=np.float32)
    lines = out[:, : wider.stop].reshape(-1, *wider.shape)  # a view
    lines[:, :, :LINE_SIZE] = plain[:, : _LINES.stop].reshape(-1, *_LINES.shape)
    mirrored = chances[:, :, [pairs.index((theirs, mine)) for mine, theirs in pairs], ::-1]
    for first, seen in ((0, chances), (NUM_COLUMNS, mirrored)):
        lines[:, first : first + NUM_COLUMNS, LINE_SIZE:] = seen.reshape(len(out), NUM_COLUMNS, 2 * len(pairs))
    rest = wider.stop + plain.shape[1] - _LINES.stop
    out[:, wider.stop : rest] = plain[:, _LINES.stop :]
    _write_outlook(out[:, rest:], chances)
    return out


@kernel
def _chances(table: Strengths, states: Records, players: Players, pairs: NDArray[np.int64], completions: int) -> Floats:
    """[G, 5, P, 2] shares of the completions in which each of the player's columns wins, and loses, by `pairs` [P, 2].

    A column that an afterstate of the same decision has had before costs nothing, and the completions of the one
    opposite are drawn once for all forms of it.
    """
    chances = np.zeros((states.shape[0], NUM_COLUMNS, len(pairs), 2), dtype=np.float32)
    cards = np.empty(52, dtype=np.int8)
    count, known = 0, np.uint64(0)
    keys = np.empty((NUM_COLUMNS, _REMEMBERED, 2), dtype=np.int64)
    remembered = np.empty((NUM_COLUMNS, _REMEMBERED, len(pairs), 2), dtype=np.float32)
    held = np.zeros(NUM_COLUMNS, dtype=np.int64)
    mine = np.empty(completions, dtype=np.int64)
    theirs = np.empty((NUM_COLUMNS, 2, completions), dtype=np.int64)  # as drawn, and ascending
    drawn = np.empty((NUM_COLUMNS, completions), dtype=np.int64)
    streams = np.empty((NUM_COLUMNS, completions), dtype=np.uint64)
    drawn_for = np.full(NUM_COLUMNS, -1, dtype=np.int64)  # the key of the column opposite
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
                place = min(place, _REMEMBERED - 1)
                held[column] = place + 1
                keys[column, place, 0], keys[column, place, 1] = own, other
                shares = remembered[column, place]
                if hand_size(own) >= COLUMN_SIZE - 1 and hand_size(other) >= COLUMN_SIZE - 1:
                    _count(table, own, other, cards, count, pairs, shares)
                else:
                    if drawn_for[column] != other:
                        seed = mix(unseen, np.uint64(column))
                        _draw_first(table, other, cards, count, seed, theirs[column, 0], drawn[column], streams[column])
                        if len(pairs) > 1:
                            theirs[column, 1] = ascending(theirs[column, 0])
                        drawn_for[column] = other
                    _draw_second(table, own, cards, count, drawn[column], streams[column], mine)
                    _compare(mine, theirs[column], pairs, shares)
            chances[g, column] = remembered[column, place]
    return chances


@kernel
def _count(
    table: Strengths,
    own: Int,
    other: Int,
    cards: Cards,
    count: int,
    pairs: NDArray[np.int64],
    shares: NDArray[np.float32],
) -> None:
    """Fill `shares` [P, 2] from all completions of two columns that miss one card each at most."""
    mine, my_cards = np.empty(52, dtype=np.int64), np.empty(52, dtype=np.int64)
    theirs, their_cards = np.empty(52, dtype=np.int64), np.empty(52, dtype=np.int64)
    num_mine = complete(table, own, cards, count, mine, my_cards)
    num_theirs = complete(table, other, cards, count, theirs, their_cards)
    won = lost = cases = 0
    for first in range(num_mine):
        for second in range(num_theirs):
            if not my_cards[first] & their_cards[second]:
                won += mine[first] > theirs[second]
                lost += mine[first] < theirs[second]
                cases += 1
    shares[0, 0], shares[0, 1] = won / cases, lost / cases
    if len(pairs) > 1:
        _compare_best(ascending(mine[:num_mine]), ascending(theirs[:num_theirs]), pairs, shares)


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
    """Fill `strengths` [C] of random completions of the opponent's column, a function of `seed`, and what they used.

    The opponent draws first: the same cards whatever the player has placed.
    """
    for fill in range(len(strengths)):
        filled, drawn[fill], streams[fill] = _fill(key, cards, count, np.int64(0), mix(seed, np.uint64(fill)))
        strengths[fill] = five_card_strength(table, filled)


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
    """Fill `strengths` [C] of random completions of the player's column from what the opponent's have left."""
    for fill in range(len(strengths)):
        filled, _, _ = _fill(key, cards, count, drawn[fill], streams[fill])
        strengths[fill] = five_card_strength(table, filled)


@kernel
def _compare(
    mine: NDArray[np.int64], theirs: NDArray[np.int64], pairs: NDArray[np.int64], shares: NDArray[np.float32]
) -> None:
    """Fill `shares` [P, 2] from strengths [C] and [2, C] that were drawn together, `theirs` also ascending."""
    won = lost = 0
    for fill in range(len(mine)):
        won += mine[fill] > theirs[0, fill]
        lost += mine[fill] < theirs[0, fill]
    shares[0, 0], shares[0, 1] = won / len(mine), lost / len(mine)
    if len(pairs) > 1:
        _compare_best(ascending(mine), theirs[1], pairs, shares)


@kernel
def _compare_best(
    mine: NDArray[np.int64], theirs: NDArray[np.int64], pairs: NDArray[np.int64], shares: NDArray[np.float32]
) -> None:
    """Fill `shares` [P, 2] but the first from ascending strengths: the best of m of `mine` against the best of n.

    The best of m independent draws is at most s with chance F(s)^m; that both sides draw from the same cards is left
    out of account.
    """
    reached = np.zeros(len(pairs))
    shares[1:] = 0.0
    below = upto = 0
    for rank in range(len(mine)):
        while below < len(theirs) and theirs[below] < mine[rank]:
            below += 1
        while upto < len(theirs) and theirs[upto] <= mine[rank]:
            upto += 1
        now, less, at_most = (rank + 1) / len(mine), below / len(theirs), upto / len(theirs)
        for pair in range(1, len(pairs)):
            at_rank = _power(now, pairs[pair, 0])
            shares[pair, 0] += (at_rank - reached[pair]) * _power(less, pairs[pair, 1])
            shares[pair, 1] += (at_rank - reached[pair]) * (1.0 - _power(at_most, pairs[pair, 1]))
            reached[pair] = at_rank


@kernel
def _power(base: float, exponent: Int) -> float:
    """`base` to a small exponent: numba's own power takes several times as long."""
    result = base
    for _ in range(exponent - 1):
        result *= base
    return result


@kernel
def ascending(strengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """[C] strengths in order, by their lower and then their upper bits: several times as fast as by comparisons."""
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
def _fill(
    key: Int, cards: Cards, count: int, drawn: np.int64, stream: np.uint64
) -> tuple[np.int64, np.int64, np.uint64]:
    """The key of a hand completed from cards[0:count], the cards drawn (bits) and the generator, given those before."""
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
def _write_outlook(out: Floats, chances: Floats) -> None:
    """Fill `out` [G, 2P] by equation (3) from `chances` [G, 5, P, 2]."""
    wins = np.empty(NUM_COLUMNS)
    for g in range(out.shape[0]):
        for pair in range(chances.shape[2]):
            for side in range(2):
                for column in range(NUM_COLUMNS):
                    wins[column] = chances[g, column, pair, side]
                out[g, 2 * pair + side] = win_chance(wins)
