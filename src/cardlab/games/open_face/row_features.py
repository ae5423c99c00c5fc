"""Statistics of the six rows, and the features of one row of one board.

Lines 0 to 2 are the viewer's front, middle and back, lines 3 to 5 the opponent's. Features are equal for all six rows,
so that one encoder can serve them.
"""

import numpy as np

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_RANKS, NUM_SUITS, UNKNOWN
from cardlab.games.cards.hands import (
    FLUSH,
    FOUR,
    FULL_HOUSE,
    PAIR,
    STRAIGHT,
    STRAIGHT_FLUSH,
    STRAIGHT_MASKS,
    THREE,
    TWO_PAIR,
)
from cardlab.games.open_face.royalties import EMPTY, MAX_NODE_SIZE, RankBounds, royalty
from cardlab.games.open_face.rules import NUM_DEALT, NUM_ROWS, capacity, owner, to_int64
from cardlab.games.protocol import NO_PLAYER, Floats, layout, width

NUM_LINES = 2 * NUM_ROWS
ROW_STATISTICS = np.dtype(
    [
        ("ranks", np.int8, (NUM_LINES, NUM_RANKS)),  # cards of each rank in each line
        ("suits", np.int8, (NUM_LINES, NUM_SUITS)),
        ("sizes", np.int8, (NUM_LINES,)),
        ("repeats", np.int8, (NUM_LINES,)),  # cards of a rank that an earlier card of the line has
        ("held", np.int16, (NUM_LINES,)),  # bit r: the line has a card of rank r
        ("nodes", np.int16, (NUM_LINES,)),  # index into rank_bounds.nodes() of the first four cards
        ("lows", np.int32, (NUM_LINES,)),  # bounds of the final rank (royalties.py)
        ("highs", np.int32, (NUM_LINES,)),
        ("royalties", np.int16, (NUM_LINES,)),  # guaranteed royalties, barring a foul
        ("max_royalties", np.int16, (NUM_LINES,)),  # royalties at the upper bound
        ("free_ranks", np.int8, (NUM_RANKS,)),  # cards on no board, visible cards to place included
        ("free_suits", np.int8, (NUM_SUITS,)),
        ("free_bits", np.int16),  # bit r: a card of rank r is free
        ("card", np.int8),  # the next card; UNKNOWN when over or unknown
        ("mover", np.int8),  # who places it: 0 the viewer, 1 the opponent, NO_PLAYER when over
    ],
    align=True,
)


@kernel
def compute_row_statistics(state: np.void, viewer: int, nodes: RankBounds, stats: np.void) -> None:
    """Fill the record `stats` (ROW_STATISTICS) from `state` as `viewer` sees it."""
    for line in range(NUM_LINES):
        stats["ranks"][line][:] = 0
        stats["suits"][line][:] = 0
        stats["sizes"][line] = stats["repeats"][line] = stats["held"][line] = 0
        stats["nodes"][line] = EMPTY
    stats["free_ranks"][:] = NUM_SUITS
    stats["free_suits"][:] = NUM_RANKS
    stats["free_bits"] = (1 << NUM_RANKS) - 1
    stats["card"] = UNKNOWN
    stats["mover"] = NO_PLAYER
    for index in range(NUM_DEALT):
        card = to_int64(state["deck"][index])
        if card < 0:
            break
        row = to_int64(state["rows"][index])
        if row >= 0:
            _add_card(stats, NUM_ROWS * int(owner(index) != viewer) + row, card, nodes)
    step = to_int64(state["step"])
    if step < NUM_DEALT:
        stats["card"] = state["deck"][step]
        stats["mover"] = np.int8(owner(step) != viewer)
    for line in range(NUM_LINES):
        player = viewer if line < NUM_ROWS else 1 - viewer
        _update_bounds(stats, line, to_int64(state["ranks"][player, line % NUM_ROWS]), nodes)


@kernel
def _add_card(stats: np.void, line: int, card: int, nodes: RankBounds) -> None:
    """Add a free card to a line."""
    rank = card >> 2
    stats["repeats"][line] += stats["ranks"][line, rank] > 0
    stats["held"][line] |= 1 << rank
    stats["ranks"][line, rank] += 1
    stats["suits"][line, card & 3] += 1
    stats["sizes"][line] += 1
    stats["free_suits"][card & 3] -= 1
    stats["free_ranks"][rank] -= 1
    if stats["free_ranks"][rank] == 0:
        stats["free_bits"] &= ~(1 << rank)
    if stats["sizes"][line] <= MAX_NODE_SIZE:
        stats["nodes"][line] = nodes[stats["nodes"][line]]["next"][rank]


@kernel
def _update_bounds(stats: np.void, line: int, rank: int, nodes: RankBounds) -> None:
    """Set the bounds and royalties of a line; `rank` is the rank of a complete row and unused before."""
    row = line % NUM_ROWS
    node = nodes[stats["nodes"][line]]
    if stats["sizes"][line] == capacity(row):
        low = high = rank
    elif row == 0:
        low, high = to_int64(node["low_front"]), to_int64(node["high_front"])
    else:
        low, high = to_int64(node["low"]), to_int64(node["high"])
        if stats["sizes"][line] == 0 or flush_suit(stats, line) >= 0:
            high = max(high, to_int64(node["suited"]))
    stats["lows"][line] = low
    stats["highs"][line] = high
    stats["royalties"][line] = royalty(low, row)
    stats["max_royalties"][line] = royalty(high, row)


@kernel
def flush_suit(stats: np.void, line: int) -> int:
    """Suit in which a middle or back row with cards is or can become a flush; -1 if impossible."""
    size = to_int64(stats["sizes"][line])
    if line % NUM_ROWS == 0 or size == 0:
        return -1
    for suit in range(NUM_SUITS):
        if stats["suits"][line, suit] == size and stats["free_suits"][suit] >= 5 - size:
            return suit
    return -1


@kernel
def straight_ranks(stats: np.void, line: int) -> int:
    """Mask of the free ranks that fit a straight of a middle or back row: 0 if complete, -1 if impossible."""
    if line % NUM_ROWS == 0 or stats["repeats"][line] > 0:
        return -1
    held, free = to_int64(stats["held"][line]), to_int64(stats["free_bits"])
    wanted = -1
    for window in STRAIGHT_MASKS:
        missing = window & ~held
        if held & ~window == 0 and missing & ~free == 0:
            wanted = missing if wanted < 0 else wanted | missing
    return wanted


@kernel
def foul_is_certain(stats: np.void, first: int) -> bool:
    """Whether no completion keeps rows first … first + 2 in order; sufficient, not necessary, for a certain foul."""
    lows, highs = stats["lows"], stats["highs"]
    return highs[first + 2] < lows[first + 1] or highs[first + 1] < lows[first] or highs[first + 2] < lows[first]


@kernel
def is_safe(stats: np.void, stronger: int, weaker: int) -> bool:
    """Whether every completion leaves line `stronger` at least as strong as line `weaker`."""
    return stats["lows"][stronger] >= stats["highs"][weaker]


@kernel
def is_certainly_below(stats: np.void, stronger: int, weaker: int) -> bool:
    """Whether every completion leaves line `stronger` below line `weaker`."""
    return stats["highs"][stronger] < stats["lows"][weaker]


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
