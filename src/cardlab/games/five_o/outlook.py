"""Features of the columns with their chances: how often each beats the one opposite when both fill up at random.

The chances are counted on NUM_FILLS random completions of each pair of columns. Which cards these draw is a function of
the unseen cards, so an observation is always the same, and the afterstates of one decision, to which the same cards are
unseen, are compared on the same draws: their luck cancels.
"""

from typing import Any

import numpy as np

from cardlab.cards.deck import Cards, draw_below, mix
from cardlab.cards.hands import CARD_KEYS, Int, Strengths, five_card_strength, hand_size
from cardlab.games.five_o import features
from cardlab.games.five_o.chances import win_chance
from cardlab.games.five_o.lines import LINE_SIZE
from cardlab.games.five_o.rules import COLUMN_SIZE, NUM_COLUMNS, Records, list_unseen
from cardlab.games.protocol import Floats, Players, find_block, layout, width
from cardlab.kernels import kernel

NUM_FILLS = 128
NUM_CHANCES = 2  # of a column: that it wins, that it loses

# In brackets: the entries of a block, in order.
BLOCKS = layout(
    lines=(features.NUM_LINES, LINE_SIZE + NUM_CHANCES),  # as in features.BLOCKS, then the chances
    **{block.name: block.shape for block in features.BLOCKS if block.name != "lines"},
    outlook=(2,),  # chance that player and opponent win three columns, taken as independent: equation (3)
)
NUM_FEATURES = width(BLOCKS)

_LINES, _WIDER = find_block(features.BLOCKS, "lines"), find_block(BLOCKS, "lines")  # both come first
_OUTLOOK = find_block(BLOCKS, "outlook").start


def observe(table: Strengths, states: Records, players: Players) -> Floats:
    """[G, F] in the blocks of BLOCKS."""
    plain = features.observe(table, states, players)
    chances = count_chances(table, states, players)
    out = np.empty((len(states), NUM_FEATURES), dtype=np.float32)
    lines = out[:, : _WIDER.stop].reshape(-1, *_WIDER.shape)  # a view
    lines[:, :, :LINE_SIZE] = plain[:, : _LINES.stop].reshape(-1, *_LINES.shape)
    lines[:, :NUM_COLUMNS, LINE_SIZE:] = chances
    lines[:, NUM_COLUMNS:, LINE_SIZE:] = chances[:, :, ::-1]
    out[:, _WIDER.stop : _OUTLOOK] = plain[:, _LINES.stop :]
    write_outlook(out[:, _OUTLOOK:], chances)
    return out


@kernel
def count_chances(table: Strengths, states: Records, players: Players) -> Floats:
    """[G, 5, 2] shares of the completions in which each of the player's columns wins, and loses."""
    chances = np.zeros((states.shape[0], NUM_COLUMNS, NUM_CHANCES), dtype=np.float32)
    cards = np.empty(52, dtype=np.int8)
    for g in range(states.shape[0]):
        state = states[g]
        player = np.int64(players[g])
        count = list_unseen(state, cards)
        seed = np.uint64(0)
        for index in range(count):
            seed |= np.uint64(1) << np.uint64(cards[index])
        for column in range(NUM_COLUMNS):
            own, other = state["keys"][player, column], state["keys"][1 - player, column]
            complete = hand_size(own) == COLUMN_SIZE and hand_size(other) == COLUMN_SIZE
            fills = 1 if complete else NUM_FILLS
            for fill in range(fills):
                stream = mix(mix(seed, np.uint64(column)), np.uint64(fill))
                # the opponent draws first: the same cards whatever the player has placed
                theirs, drawn, salt = _fill(other, cards, count, np.int64(0), 0, stream)
                mine, _, _ = _fill(own, cards, count, drawn, salt, stream)
                strength, opposite = five_card_strength(table, mine), five_card_strength(table, theirs)
                chances[g, column, 0] += strength > opposite
                chances[g, column, 1] += strength < opposite
            chances[g, column] /= fills
    return chances


@kernel
def _fill(
    key: Int, cards: Cards, count: int, drawn: np.int64, salt: int, stream: np.uint64
) -> tuple[Int, np.int64, int]:
    """The key of a hand completed from cards[0:count], the cards drawn (bits) and the next salt, given those before."""
    total: Any = np.int64(key)
    missing = COLUMN_SIZE - hand_size(key)
    while missing > 0:
        chosen = draw_below(count, stream, salt)
        salt += 1
        bit = np.int64(1) << np.int64(chosen)
        if not drawn & bit:
            drawn |= bit
            total += CARD_KEYS[cards[chosen]]
            missing -= 1
    return total, drawn, salt


@kernel
def write_outlook(out: Floats, chances: Floats) -> None:
    """Fill `out` [G, 2] by equation (3) from `chances` [G, 5, 2]."""
    wins = np.empty(NUM_COLUMNS)
    for g in range(out.shape[0]):
        for side in range(NUM_CHANCES):
            for column in range(NUM_COLUMNS):
                wins[column] = chances[g, column, side]
            out[g, side] = win_chance(wins)
