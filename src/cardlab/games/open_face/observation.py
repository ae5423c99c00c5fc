"""Named blocks of observations and the kernels that fill them."""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_CARDS, NUM_RANKS, NUM_SUITS
from cardlab.games.cards.hands import CARD_KEYS, Strengths, front_table, strength_table
from cardlab.games.open_face import row_features
from cardlab.games.open_face.rank_bounds import RankBounds, nodes
from cardlab.games.open_face.row_features import ROYALTY_UNIT, write_row
from cardlab.games.open_face.row_statistics import (
    NUM_LINES,
    ROW_STATISTICS,
    add_card,
    compute_row_statistics,
    foul_is_certain,
    is_safe,
    update_bounds,
)
from cardlab.games.open_face.royalties import row_rank
from cardlab.games.open_face.rules import (
    NUM_DEALT,
    NUM_OPENING,
    NUM_ROWS,
    NUM_SLOTS,
    capacity,
    num_turned,
    owner,
    to_int64,
)
from cardlab.games.protocol import Actions, Floats, InfoStates, Players, States, layout, width

NUM_STATUS = 17
NUM_CHANGES = 8
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
ACTION_BLOCKS = layout(card=(NUM_RANKS + NUM_SUITS,), changes=(NUM_CHANGES,), line=(row_features.ROW_WIDTH,))
PRIVILEGED_BLOCKS = layout(deck=(2, NUM_CARDS))

_CARD, _TO_PLACE, _UNSEEN, _UNSEEN_RANKS, _UNSEEN_SUITS, _LINES = (block.start for block in BLOCKS[1:])
_WIDTH = width(BLOCKS)
_LINE = row_features.ROW_WIDTH
_CHANGES, _ACTION_LINE = (block.start for block in ACTION_BLOCKS[1:])
_ACTION_WIDTH = width(ACTION_BLOCKS)


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


def observe_actions(info_states: InfoStates, players: Players, rows: NDArray[np.intp], actions: Actions) -> Floats:
    """[K, Fa] in ACTION_BLOCKS of the pairs (rows[k], actions[k]), ordered by row."""
    tables = (strength_table(), front_table())
    return _observe_actions(info_states, players, rows, actions, nodes(), *tables, np.zeros(2, dtype=ROW_STATISTICS))


@kernel
def _observe_actions(
    info_states: InfoStates,
    players: Players,
    rows: NDArray[np.intp],
    actions: Actions,
    table: RankBounds,
    strengths: Strengths,
    fronts: NDArray[np.int32],
    scratch: NDArray[np.void],
) -> Floats:
    out = np.zeros((rows.size, _ACTION_WIDTH), dtype=np.float32)
    before, after = scratch[0], scratch[1]
    for k in range(rows.size):
        row, action = int(rows[k]), to_int64(actions[k])
        state = info_states[row]
        if k == 0 or rows[k] != rows[k - 1]:
            compute_row_statistics(state, to_int64(players[row]), table, before)
        scratch[1] = before
        mover, card = to_int64(before["mover"]), to_int64(before["card"])
        line = NUM_ROWS * mover + action
        add_card(after, line, card, table)
        rank = 0
        if after["sizes"][line] == capacity(action):
            key = state["keys"][owner(to_int64(state["step"])), action] + CARD_KEYS[card]
            rank = row_rank(strengths, fronts, key, action)
        update_bounds(after, line, rank, table)
        after["card"] = -1
        write_card(out[k, :_CHANGES], card)
        _write_changes(out[k, _CHANGES:_ACTION_LINE], before, after, line)
        write_row(out[k, _ACTION_LINE:], after, line)
    return out


@kernel
def _write_changes(out: Floats, before: np.void, after: np.void, line: int) -> None:
    """Write the effect of the placement on the board: royalties, room, foul and order, before and after."""
    first = line - line % NUM_ROWS
    out[0] = (after["royalties"][line] - before["royalties"][line]) / ROYALTY_UNIT
    out[1] = (after["max_royalties"][line] - before["max_royalties"][line]) / ROYALTY_UNIT
    out[2] = after["sizes"][line] == capacity(line % NUM_ROWS)
    out[3] = foul_is_certain(before, first)
    out[4] = foul_is_certain(after, first)
    out[5] = is_safe(after, first + 1, first) and is_safe(after, first + 2, first + 1)
    out[6] = after["lows"][first + 1] < after["lows"][first]
    out[7] = after["lows"][first + 2] < after["lows"][first + 1]


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


@kernel
def observe_deck(states: States, players: Players) -> Floats:
    """[G, 2 · 52] future cards of the viewer and of the opponent: 1 / (1 + own cards that come before)."""
    out = np.zeros((states.shape[0], 2 * NUM_CARDS), dtype=np.float32)
    for g in range(states.shape[0]):
        state = states[g]
        before = np.zeros(2, dtype=np.int64)
        for index in range(num_turned(to_int64(state["step"])), NUM_DEALT):
            side = int(owner(index) != players[g])
            out[g, NUM_CARDS * side + state["deck"][index]] = 1.0 / (1.0 + before[side])
            before[side] += 1
    return out
