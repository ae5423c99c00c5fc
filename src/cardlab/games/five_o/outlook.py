"""Features of the columns with their chances: how often each beats the one opposite when both fill up at random.

Where each of the two misses one card at most, all completions are counted; else some random ones. Which cards these
draw is a function of the unseen cards, so an observation is always the same, and the afterstates of one decision,
to which the same cards are unseen, are compared on the same draws: their luck cancels.
"""

import numpy as np
from numpy.typing import NDArray

from cardlab.cards.deck import Cards, mix
from cardlab.cards.hands import CARD_KEYS, Int, Strengths, five_card_strength, hand_size
from cardlab.games.five_o import features
from cardlab.games.five_o.chances import win_chance
from cardlab.games.five_o.lines import LINE_SIZE
from cardlab.games.five_o.rules import COLUMN_SIZE, NUM_COLUMNS, Records, list_unseen
from cardlab.games.five_o.simulation import complete
from cardlab.games.protocol import Floats, Players, find_block, layout, width
from cardlab.kernels import kernel

NUM_COMPLETIONS = 512
NUM_CHANCES = 2  # of a column: that it wins, that it loses
_REMEMBERED = 2  # forms of a column in the afterstates of one decision: with the card placed there, and without

# A linear congruential generator modulo 2^64 (Knuth, MMIX); its upper half is used.
_FACTOR, _STEP = np.uint64(6364136223846793005), np.uint64(1442695040888963407)
_HALF = np.uint64(32)

# In brackets: the entries of a block, in order.
BLOCKS = layout(
    lines=(features.NUM_LINES, LINE_SIZE + NUM_CHANCES),  # as in features.BLOCKS, then the chances
    **{block.name: block.shape for block in features.BLOCKS if block.name != "lines"},
    outlook=(2,),  # chance that player and opponent win three columns, taken as independent: equation (3)
)
NUM_FEATURES = width(BLOCKS)

_LINES, _WIDER = find_block(features.BLOCKS, "lines"), find_block(BLOCKS, "lines")  # both come first
_OUTLOOK = find_block(BLOCKS, "outlook").start


def observe(table: Strengths, states: Records, players: Players, completions: int = NUM_COMPLETIONS) -> Floats:
    """[G, F] in the blocks of BLOCKS, the chances from so many random `completions`."""
    plain = features.observe(table, states, players)
    chances = _chances(table, states, players, completions)
    out = np.empty((len(states), NUM_FEATURES), dtype=np.float32)
    lines = out[:, : _WIDER.stop].reshape(-1, *_WIDER.shape)  # a view
    lines[:, :, :LINE_SIZE] = plain[:, : _LINES.stop].reshape(-1, *_LINES.shape)
    lines[:, :NUM_COLUMNS, LINE_SIZE:] = chances
    lines[:, NUM_COLUMNS:, LINE_SIZE:] = chances[:, :, ::-1]
    out[:, _WIDER.stop : _OUTLOOK] = plain[:, _LINES.stop :]
    _write_outlook(out[:, _OUTLOOK:], chances)
    return out


@kernel
def _chances(table: Strengths, states: Records, players: Players, completions: int) -> Floats:
    """[G, 5, 2] shares of the completions in which each of the player's columns wins, and loses.

    A column that an afterstate of the same decision has had before costs nothing.
    """
    chances = np.zeros((states.shape[0], NUM_COLUMNS, NUM_CHANCES), dtype=np.float32)
    cards = np.empty(52, dtype=np.int8)
    count, known = 0, np.uint64(0)
    keys = np.empty((NUM_COLUMNS, _REMEMBERED, 2), dtype=np.int64)
    remembered = np.empty((NUM_COLUMNS, _REMEMBERED, NUM_CHANCES), dtype=np.float32)
    held = np.zeros(NUM_COLUMNS, dtype=np.int64)
    for g in range(states.shape[0]):
        player = np.int64(players[g])
        count = list_unseen(states[g], cards)
        unseen = np.uint64(0)
        for index in range(count):
            unseen |= np.uint64(1) << np.uint64(cards[index])
        if unseen != known:
            known = unseen
            held[:] = 0
        for column in range(NUM_COLUMNS):
            own, other = np.int64(states["keys"][g, player, column]), np.int64(states["keys"][g, 1 - player, column])
            place = 0
            while place < held[column] and (keys[column, place, 0] != own or keys[column, place, 1] != other):
                place += 1
            if place == held[column]:
                place = min(place, _REMEMBERED - 1)
                held[column] = place + 1
                keys[column, place, 0], keys[column, place, 1] = own, other
                if hand_size(own) >= COLUMN_SIZE - 1 and hand_size(other) >= COLUMN_SIZE - 1:
                    _count(table, own, other, cards, count, remembered[column, place])
                else:
                    shares = remembered[column, place]
                    _sample(table, own, other, cards, count, mix(unseen, np.uint64(column)), completions, shares)
            chances[g, column] = remembered[column, place]
    return chances


@kernel
def _count(table: Strengths, own: Int, other: Int, cards: Cards, count: int, shares: NDArray[np.float32]) -> None:
    """Fill `shares` [2] from all completions of two columns that miss one card each at most."""
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
    shares[0], shares[1] = won / cases, lost / cases


@kernel
def _sample(
    table: Strengths,
    own: Int,
    other: Int,
    cards: Cards,
    count: int,
    seed: np.uint64,
    completions: int,
    shares: NDArray[np.float32],
) -> None:
    """Fill `shares` [2] from random completions of two columns, as a function of `seed`."""
    won = lost = 0
    for fill in range(completions):
        # the opponent draws first: the same cards whatever the player has placed
        theirs, drawn, stream = _fill(other, cards, count, np.int64(0), mix(seed, np.uint64(fill)))
        mine, _, _ = _fill(own, cards, count, drawn, stream)
        strength, opposite = five_card_strength(table, mine), five_card_strength(table, theirs)
        won += strength > opposite
        lost += strength < opposite
    shares[0], shares[1] = won / completions, lost / completions


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
    """Fill `out` [G, 2] by equation (3) from `chances` [G, 5, 2]."""
    wins = np.empty(NUM_COLUMNS)
    for g in range(out.shape[0]):
        for side in range(NUM_CHANCES):
            for column in range(NUM_COLUMNS):
                wins[column] = chances[g, column, side]
            out[g, side] = win_chance(wins)
