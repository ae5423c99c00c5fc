"""Features of one row of one board, equal for all six rows, so that one encoder can serve them."""

import numpy as np

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_RANKS, NUM_SUITS
from cardlab.games.cards.hands import FLUSH, FOUR, FULL_HOUSE, PAIR, STRAIGHT, STRAIGHT_FLUSH, THREE, TWO_PAIR
from cardlab.games.open_face.row_statistics import NUM_LINES, flush_suit, is_certainly_below, is_safe, straight_ranks
from cardlab.games.open_face.rules import NUM_ROWS, capacity, to_int64
from cardlab.games.protocol import Floats, layout, width

MADE_HANDS = STRAIGHT_FLUSH + 1  # a royal flush counts as a straight flush
BLOCKS = layout(
    owner=(2,),
    row=(3,),
    size=(6,),
    made=(MADE_HANDS,),
    ranks=(NUM_RANKS,),
    suits=(NUM_SUITS,),
    bounds=(2,),
    royalties=(2,),
    draws=(6,),
    fit=(4,),
    order=(6,),
    duel=(3,),
)
_STARTS = {block.name: block.start for block in BLOCKS}
ROW_WIDTH = width(BLOCKS)
_ROW, _SIZE, _MADE, _RANKS = _STARTS["row"], _STARTS["size"], _STARTS["made"], _STARTS["ranks"]
_SUITS, _BOUNDS, _ROYALTIES = _STARTS["suits"], _STARTS["bounds"], _STARTS["royalties"]
_DRAWS, _FIT, _ORDER, _DUEL = _STARTS["draws"], _STARTS["fit"], _STARTS["order"], _STARTS["duel"]

_RANK_UNIT = 7463.0 * 32.0  # scales the rank of every row below 1
ROYALTY_UNIT = 10.0  # points


@kernel
def write_row(out: Floats, stats: np.void, line: int) -> None:
    """Write the features of one line to `out` [ROW_WIDTH] of zeros."""
    out[line // NUM_ROWS] = 1.0
    out[_ROW + line % NUM_ROWS] = 1.0
    out[_SIZE + stats["sizes"][line]] = 1.0
    for rank in range(NUM_RANKS):
        out[_RANKS + rank] = 0.5 * stats["ranks"][line, rank]
    for suit in range(NUM_SUITS):
        out[_SUITS + suit] = 0.2 * stats["suits"][line, suit]
    out[_BOUNDS] = stats["lows"][line] / _RANK_UNIT
    out[_BOUNDS + 1] = stats["highs"][line] / _RANK_UNIT
    out[_ROYALTIES] = stats["royalties"][line] / ROYALTY_UNIT
    out[_ROYALTIES + 1] = stats["max_royalties"][line] / ROYALTY_UNIT
    suit = flush_suit(stats, line)
    wanted = straight_ranks(stats, line)
    if stats["sizes"][line] > 0:
        out[_MADE + made_hand(stats, line, suit, wanted)] = 1.0
    if stats["sizes"][line] < capacity(line % NUM_ROWS):
        _write_draws(out, stats, line, suit, wanted)
        _write_fit(out, stats, line, suit, wanted)
    _write_order(out, stats, line)
    _write_duel(out, stats, line)


@kernel
def made_hand(stats: np.void, line: int, suit: int, wanted: int) -> int:
    """Current category of a line; `suit` and `wanted` are the results of flush_suit and straight_ranks."""
    if stats["sizes"][line] == 5 and (suit >= 0 or wanted == 0):
        if suit < 0:
            return STRAIGHT
        return STRAIGHT_FLUSH if wanted == 0 else FLUSH
    most = pairs = 0
    for rank in range(NUM_RANKS):
        copies = stats["ranks"][line, rank]
        most = max(most, copies)
        pairs += copies >= 2
    if most == 4:
        return FOUR
    if most == 3:
        return FULL_HOUSE if pairs == 2 else THREE
    return TWO_PAIR if pairs == 2 else pairs * PAIR


@kernel
def _write_draws(out: Floats, stats: np.void, line: int, suit: int, wanted: int) -> None:
    """Write whether flush and straight are possible, and the free cards that help: flush, straight, pair, more."""
    if suit >= 0:
        out[_DRAWS] = 1.0
        out[_DRAWS + 1] = stats["free_suits"][suit] / 13.0
    straight = pair = more = 0
    for rank in range(NUM_RANKS):
        free = stats["free_ranks"][rank]
        copies = stats["ranks"][line, rank]
        if copies == 1:
            pair += free
        elif copies >= 2:
            more += free
        elif wanted >> rank & 1:
            straight += free
    if wanted >= 0:
        out[_DRAWS + 2] = 1.0
        out[_DRAWS + 3] = straight / 20.0
    out[_DRAWS + 4] = pair / 12.0
    out[_DRAWS + 5] = more / 4.0


@kernel
def _write_fit(out: Floats, stats: np.void, line: int, suit: int, wanted: int) -> None:
    """Write the fit of the card to place: room, copies of its rank, keeps the flush, keeps a straight."""
    card = to_int64(stats["card"])
    if card < 0 or stats["mover"] != line // NUM_ROWS:
        return
    out[_FIT] = 1.0
    out[_FIT + 1] = stats["ranks"][line, card >> 2] / 3.0
    out[_FIT + 2] = suit >= 0 and suit == card & 3
    out[_FIT + 3] = wanted >= 0 and wanted >> (card >> 2) & 1


@kernel
def _write_order(out: Floats, stats: np.void, line: int) -> None:
    """Write the order against the weaker, then the stronger neighbour: certainly kept, certainly broken, broken now."""
    for side in range(2):
        stronger = line + side
        if stronger % NUM_ROWS == 0:
            continue
        start = _ORDER + 3 * side
        out[start] = is_safe(stats, stronger, stronger - 1)
        out[start + 1] = is_certainly_below(stats, stronger, stronger - 1)
        out[start + 2] = stats["lows"][stronger] < stats["lows"][stronger - 1]


@kernel
def _write_duel(out: Floats, stats: np.void, line: int) -> None:
    """Write the comparison with the opposite row: certainly won, certainly lost, ahead (1) or behind (-1) now."""
    other = (line + NUM_ROWS) % NUM_LINES
    out[_DUEL] = stats["lows"][line] > stats["highs"][other]
    out[_DUEL + 1] = stats["highs"][line] < stats["lows"][other]
    out[_DUEL + 2] = np.sign(stats["lows"][line] - stats["lows"][other])
