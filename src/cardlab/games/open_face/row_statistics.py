"""What the six rows of a table hold, may become and risk: counted once, then read by every feature.

Lines are 0 to 2 for the viewer's front, middle and back, 3 to 5 for the opponent's.
"""

import numpy as np

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_RANKS, NUM_SUITS, UNKNOWN
from cardlab.games.open_face.rank_bounds import EMPTY, MAX_NODE_SIZE, Nodes
from cardlab.games.open_face.royalties import royalty
from cardlab.games.open_face.rules import NUM_DEALT, NUM_ROWS, capacity, owner, wide

NUM_LINES = 2 * NUM_ROWS
WINDOWS = np.array([0b1_0000_0000_1111] + [0b11111 << low for low in range(9)])  # ranks of each straight, A to 5 first
SURVEY = np.dtype(
    [
        ("ranks", np.int8, (NUM_LINES, NUM_RANKS)),  # cards of each rank in each line
        ("suits", np.int8, (NUM_LINES, NUM_SUITS)),
        ("sizes", np.int8, (NUM_LINES,)),
        ("repeats", np.int8, (NUM_LINES,)),  # cards whose rank the line already held
        ("held", np.int16, (NUM_LINES,)),  # bit r: the line has a card of rank r
        ("nodes", np.int16, (NUM_LINES,)),  # index into prospects.nodes() of the first four cards
        ("lows", np.int32, (NUM_LINES,)),  # bounds of the rank of the complete row (royalties.py)
        ("highs", np.int32, (NUM_LINES,)),
        ("royalties", np.int16, (NUM_LINES,)),  # that the row cannot lose, unless by a foul
        ("hopes", np.int16, (NUM_LINES,)),  # royalties of the strongest row it may become
        ("free_ranks", np.int8, (NUM_RANKS,)),  # cards that are on no board, those in sight to be placed among them
        ("free_suits", np.int8, (NUM_SUITS,)),
        ("free_bits", np.int16),  # bit r: a card of rank r is free
        ("card", np.int8),  # to be placed next; UNKNOWN when over or not known
        ("mover", np.int8),  # 0 the viewer, 1 the opponent; who places that card, NOBODY when over
    ],
    align=True,
)


@kernel
def survey(state: np.void, viewer: int, nodes: Nodes, found: np.void) -> None:
    """Fill the record `found` (SURVEY) with the table of `state` as `viewer` sees it."""
    _clear(found)
    for index in range(NUM_DEALT):
        card = wide(state["deck"][index])
        if card < 0:
            break
        row = wide(state["rows"][index])
        if row >= 0:
            add_card(found, NUM_ROWS * int(owner(index) != viewer) + row, card, nodes)
    step = wide(state["step"])
    if step < NUM_DEALT:
        found["card"] = state["deck"][step]
        found["mover"] = np.int8(owner(step) != viewer)
    for line in range(NUM_LINES):
        player = viewer if line < NUM_ROWS else 1 - viewer
        bound(found, line, wide(state["ranks"][player, line % NUM_ROWS]), nodes)


@kernel
def _clear(found: np.void) -> None:
    for line in range(NUM_LINES):
        for rank in range(NUM_RANKS):
            found["ranks"][line, rank] = 0
        for suit in range(NUM_SUITS):
            found["suits"][line, suit] = 0
        found["sizes"][line] = found["repeats"][line] = found["held"][line] = 0
        found["nodes"][line] = EMPTY
    for rank in range(NUM_RANKS):
        found["free_ranks"][rank] = NUM_SUITS
    for suit in range(NUM_SUITS):
        found["free_suits"][suit] = NUM_RANKS
    found["free_bits"] = (1 << NUM_RANKS) - 1
    found["card"] = UNKNOWN
    found["mover"] = -1


@kernel
def add_card(found: np.void, line: int, card: int, nodes: Nodes) -> None:
    """Put a free card into a line; `bound` is to be called after the last one."""
    rank = card >> 2
    found["repeats"][line] += found["ranks"][line, rank] > 0
    found["held"][line] |= 1 << rank
    found["ranks"][line, rank] += 1
    found["suits"][line, card & 3] += 1
    found["sizes"][line] += 1
    found["free_suits"][card & 3] -= 1
    found["free_ranks"][rank] -= 1
    if found["free_ranks"][rank] == 0:
        found["free_bits"] &= ~(1 << rank)
    if found["sizes"][line] <= MAX_NODE_SIZE:
        found["nodes"][line] = nodes[found["nodes"][line]]["next"][rank]


@kernel
def bound(found: np.void, line: int, rank: int, nodes: Nodes) -> None:
    """Set the bounds and royalties of a line; `rank` is that of the complete row, and not read before."""
    row = line % NUM_ROWS
    node = nodes[found["nodes"][line]]
    if found["sizes"][line] == capacity(row):
        low = high = rank
    elif row == 0:
        low, high = wide(node["low_front"]), wide(node["high_front"])
    else:
        low, high = wide(node["low"]), wide(node["high"])
        if found["sizes"][line] == 0 or flush_suit(found, line) >= 0:
            high = max(high, wide(node["suited"]))
    found["lows"][line] = low
    found["highs"][line] = high
    found["royalties"][line] = royalty(low, row)
    found["hopes"][line] = royalty(high, row)


@kernel
def flush_suit(found: np.void, line: int) -> int:
    """The suit in which a middle or back with cards is, or may become, a flush; -1 when it cannot."""
    size = wide(found["sizes"][line])
    if line % NUM_ROWS == 0 or size == 0:
        return -1
    for suit in range(NUM_SUITS):
        if found["suits"][line, suit] == size and found["free_suits"][suit] >= 5 - size:
            return suit
    return -1


@kernel
def straight_ranks(found: np.void, line: int) -> int:
    """Bits of the free ranks that fit a straight of this middle or back: 0 when it is one, -1 when it cannot be."""
    if line % NUM_ROWS == 0 or found["repeats"][line] > 0:
        return -1
    held, free = wide(found["held"][line]), wide(found["free_bits"])
    wanted = -1
    for window in WINDOWS:
        missing = window & ~held
        if held & ~window == 0 and missing & ~free == 0:
            wanted = missing if wanted < 0 else wanted | missing
    return wanted


@kernel
def foul_is_certain(found: np.void, first: int) -> bool:
    """Whether no completion keeps the rows first … first + 2 in order (no false alarm; some fouls show later)."""
    lows, highs = found["lows"], found["highs"]
    return highs[first + 2] < lows[first + 1] or highs[first + 1] < lows[first] or highs[first + 2] < lows[first]


@kernel
def is_safe(found: np.void, stronger: int, weaker: int) -> bool:
    """Whether every completion leaves line `stronger` at least as strong as line `weaker`."""
    return found["lows"][stronger] >= found["highs"][weaker]


@kernel
def is_broken(found: np.void, stronger: int, weaker: int) -> bool:
    """Whether every completion leaves line `stronger` below line `weaker`."""
    return found["highs"][stronger] < found["lows"][weaker]
