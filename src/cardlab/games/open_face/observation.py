"""Named blocks of observations and the kernels that fill them."""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_CARDS, NUM_RANKS, NUM_SUITS
from cardlab.games.open_face import row_features
from cardlab.games.open_face.row_features import (
    NUM_LINES,
    ROW_STATISTICS,
    ROYALTY_UNIT,
    compute_row_statistics,
    foul_is_certain,
    is_safe,
    write_row,
)
from cardlab.games.open_face.royalties import RankBounds, nodes
from cardlab.games.open_face.rules import (
    NUM_DEALT,
    NUM_OPENING,
    NUM_ROWS,
    NUM_SLOTS,
    num_turned,
    owner,
    to_int64,
)
from cardlab.games.protocol import Floats, InfoStates, Players, layout, width

NUM_STATUS = 17
NUM_SLOT_SYMBOLS = NUM_CARDS + 1

BLOCKS = layout(
    status=(NUM_STATUS,),
    card=(NUM_RANKS + NUM_SUITS,),
    to_place=(NUM_CARDS,),
    unseen=(NUM_CARDS,),
    unseen_ranks=(NUM_RANKS,),
    unseen_suits=(NUM_SUITS,),
    lines=(NUM_LINES, row_features.ROW_WIDTH),
)
PAPER_BLOCKS = layout(slots=(NUM_DEALT + 1, NUM_SLOT_SYMBOLS))

_CARD, _TO_PLACE, _UNSEEN, _UNSEEN_RANKS, _UNSEEN_SUITS, _LINES = (block.start for block in BLOCKS[1:])
_WIDTH = width(BLOCKS)
_LINE = row_features.ROW_WIDTH


def observe_rows(info_states: InfoStates, players: Players) -> Floats:
    """[G, F] in BLOCKS."""
    return _observe_rows(info_states, players, nodes(), np.zeros(1, dtype=ROW_STATISTICS))


@kernel
def _observe_rows(info_states: InfoStates, players: Players, table: RankBounds, scratch: NDArray[np.void]) -> Floats:
    out = np.zeros((info_states.shape[0], _WIDTH), dtype=np.float32)
    stats = scratch[0]
    for g in range(info_states.shape[0]):
        state, viewer = info_states[g], to_int64(players[g])
        compute_row_statistics(state, viewer, table, stats)
        _write_status(out[g], stats, state, viewer)
        _write_cards(out[g], state)
        for line in range(NUM_LINES):
            start = _LINES + line * _LINE
            write_row(out[g, start : start + _LINE], stats, line)
    return out


@kernel
def _write_status(out: Floats, stats: np.void, state: np.void, viewer: int) -> None:
    """Write player to move and first player, progress, and per board: certain foul, safe, royalties, cards to come."""
    step = to_int64(state["step"])
    if stats["mover"] >= 0:
        out[stats["mover"]] = 1.0
    out[2] = step == NUM_DEALT
    out[3] = step < NUM_DEALT and stats["card"] < 0
    out[4] = viewer == 0
    out[5] = step < 2 * NUM_OPENING
    out[6] = step / 26.0
    for side in range(2):
        first = NUM_ROWS * side
        out[7 + side] = foul_is_certain(stats, first)
        out[9 + side] = is_safe(stats, first + 1, first) and is_safe(stats, first + 2, first + 1)
        certain, placed = 0, 0
        for line in range(first, first + NUM_ROWS):
            certain += stats["royalties"][line]
            placed += stats["sizes"][line]
        out[11 + side] = certain / ROYALTY_UNIT
        out[13 + side] = (NUM_SLOTS - placed) / 13.0
    out[15] = min(max(num_turned(step) - step, 0), NUM_OPENING) / 5.0
    out[16] = state["scores"][viewer] / ROYALTY_UNIT


@kernel
def _write_cards(out: Floats, state: np.void) -> None:
    """Write the next card, all visible cards to place, and the unseen cards."""
    for column in range(_UNSEEN, _UNSEEN + NUM_CARDS):
        out[column] = 1.0
    for rank in range(NUM_RANKS):
        out[_UNSEEN_RANKS + rank] = 1.0
    for suit in range(NUM_SUITS):
        out[_UNSEEN_SUITS + suit] = 1.0
    step = to_int64(state["step"])
    for index in range(NUM_DEALT):
        card = to_int64(state["deck"][index])
        if card < 0:
            break
        out[_UNSEEN + card] = 0.0
        out[_UNSEEN_RANKS + (card >> 2)] -= 1.0 / NUM_SUITS
        out[_UNSEEN_SUITS + (card & 3)] -= 1.0 / NUM_RANKS
        if index >= step:
            out[_TO_PLACE + card] = 1.0
        if index == step:
            write_card(out[_CARD:_TO_PLACE], card)


@kernel
def write_card(out: Floats, card: int) -> None:
    """Set the rank and the suit of a card in `out` [17]."""
    out[card >> 2] = 1.0
    out[NUM_RANKS + (card & 3)] = 1.0


def observe_paper(info_states: InfoStates, players: Players) -> Floats:
    """[G, 27 · 53] one-hot slots: viewer's 13 front to back, opponent's 13, card to place; symbol 52 is empty."""
    return _observe_paper(info_states, players)


@kernel
def _observe_paper(info_states: InfoStates, players: Players) -> Floats:
    out = np.zeros((info_states.shape[0], (NUM_DEALT + 1) * NUM_SLOT_SYMBOLS), dtype=np.float32)
    slots = np.empty(NUM_DEALT + 1, dtype=np.int64)
    filled = np.empty(NUM_LINES, dtype=np.int64)
    for g in range(info_states.shape[0]):
        state = info_states[g]
        slots[:] = NUM_CARDS
        filled[:] = 0
        for index in range(to_int64(state["step"])):
            row = to_int64(state["rows"][index])
            side = int(owner(index) != players[g])
            line = NUM_ROWS * side + row
            first_slot = 0 if row == 0 else 5 * row - 2
            slots[NUM_SLOTS * side + first_slot + filled[line]] = state["deck"][index]
            filled[line] += 1
        if state["mover"] >= 0:
            slots[NUM_DEALT] = state["deck"][state["step"]]
        for slot in range(NUM_DEALT + 1):
            out[g, slot * NUM_SLOT_SYMBOLS + slots[slot]] = 1.0
    return out
