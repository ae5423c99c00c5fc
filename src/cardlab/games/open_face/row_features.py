"""The columns that describe one row of one board, the same for all six, so that one encoder may serve them all."""

import numpy as np

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_RANKS, NUM_SUITS
from cardlab.games.cards.hands import FLUSH, FOUR, FULL_HOUSE, PAIR, STRAIGHT, STRAIGHT_FLUSH, THREE, TWO_PAIR
from cardlab.games.open_face.row_statistics import NUM_LINES, flush_suit, is_broken, is_safe, straight_ranks
from cardlab.games.open_face.rules import NUM_ROWS, capacity, wide
from cardlab.games.protocol import Floats, layout, width

MADE_HANDS = STRAIGHT_FLUSH + 1  # a royal flush counts as the straight flush it is
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
WIDTH = width(BLOCKS)
_ROW, _SIZE, _MADE, _RANKS = _STARTS["row"], _STARTS["size"], _STARTS["made"], _STARTS["ranks"]
_SUITS, _BOUNDS, _ROYALTIES = _STARTS["suits"], _STARTS["bounds"], _STARTS["royalties"]
_DRAWS, _FIT, _ORDER, _DUEL = _STARTS["draws"], _STARTS["fit"], _STARTS["order"], _STARTS["duel"]

_RANK_UNIT = 7463.0 * 32.0  # brings the rank of every row below one
ROYALTY_UNIT = 10.0  # points


@kernel
def write_line(out: Floats, found: np.void, line: int) -> None:
    """Write the columns of one line into `out` [WIDTH], which must be zero."""
    out[line // NUM_ROWS] = 1.0
    out[_ROW + line % NUM_ROWS] = 1.0
    out[_SIZE + found["sizes"][line]] = 1.0
    for rank in range(NUM_RANKS):
        out[_RANKS + rank] = 0.5 * found["ranks"][line, rank]
    for suit in range(NUM_SUITS):
        out[_SUITS + suit] = 0.2 * found["suits"][line, suit]
    out[_BOUNDS] = found["lows"][line] / _RANK_UNIT
    out[_BOUNDS + 1] = found["highs"][line] / _RANK_UNIT
    out[_ROYALTIES] = found["royalties"][line] / ROYALTY_UNIT
    out[_ROYALTIES + 1] = found["hopes"][line] / ROYALTY_UNIT
    suit = flush_suit(found, line)
    wanted = straight_ranks(found, line)
    if found["sizes"][line] > 0:
        out[_MADE + made_hand(found, line, suit, wanted)] = 1.0
    if found["sizes"][line] < capacity(line % NUM_ROWS):
        _write_draws(out, found, line, suit, wanted)
        _write_fit(out, found, line, suit, wanted)
    _write_order(out, found, line)
    _write_duel(out, found, line)


@kernel
def made_hand(found: np.void, line: int, suit: int, wanted: int) -> int:
    """The category that the cards of a line make so far; `suit` and `wanted` of flush_suit and straight_ranks."""
    if found["sizes"][line] == 5 and (suit >= 0 or wanted == 0):
        if suit < 0:
            return STRAIGHT
        return STRAIGHT_FLUSH if wanted == 0 else FLUSH
    most = pairs = 0
    for rank in range(NUM_RANKS):
        copies = found["ranks"][line, rank]
        most = max(most, copies)
        pairs += copies >= 2
    if most == 4:
        return FOUR
    if most == 3:
        return FULL_HOUSE if pairs == 2 else THREE
    return TWO_PAIR if pairs == 2 else pairs * PAIR


@kernel
def _write_draws(out: Floats, found: np.void, line: int, suit: int, wanted: int) -> None:
    """Whether flush and straight are alive, and how many free cards help: flush, straight, a pair, more."""
    if suit >= 0:
        out[_DRAWS] = 1.0
        out[_DRAWS + 1] = found["free_suits"][suit] / 13.0
    straight = pair = more = 0
    for rank in range(NUM_RANKS):
        free = found["free_ranks"][rank]
        copies = found["ranks"][line, rank]
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
def _write_fit(out: Floats, found: np.void, line: int, suit: int, wanted: int) -> None:
    """What the card to place would be here: there is room, copies of its rank, keeps the flush, keeps a straight."""
    card = wide(found["card"])
    if card < 0 or found["mover"] != line // NUM_ROWS:
        return
    out[_FIT] = 1.0
    out[_FIT + 1] = found["ranks"][line, card >> 2] / 3.0
    out[_FIT + 2] = suit >= 0 and suit == card & 3
    out[_FIT + 3] = wanted >= 0 and wanted >> (card >> 2) & 1


@kernel
def _write_order(out: Floats, found: np.void, line: int) -> None:
    """Against the weaker, then the stronger neighbour: safe for certain, broken for certain, out of order now."""
    for side in range(2):
        stronger = line + side
        if stronger % NUM_ROWS == 0:
            continue
        start = _ORDER + 3 * side
        out[start] = is_safe(found, stronger, stronger - 1)
        out[start + 1] = is_broken(found, stronger, stronger - 1)
        out[start + 2] = found["lows"][stronger] < found["lows"][stronger - 1]


@kernel
def _write_duel(out: Floats, found: np.void, line: int) -> None:
    """Against the other board's row: won for certain, lost for certain, ahead (1) or behind (-1) so far."""
    other = (line + NUM_ROWS) % NUM_LINES
    out[_DUEL] = found["lows"][line] > found["highs"][other]
    out[_DUEL + 1] = found["highs"][line] < found["lows"][other]
    out[_DUEL + 2] = np.sign(found["lows"][line] - found["lows"][other])
