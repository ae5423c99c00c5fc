"""What players see, as numbers: the named blocks of the observation and the kernels that fill them."""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_CARDS, NUM_RANKS, NUM_SUITS
from cardlab.games.cards.hands import CARD_KEYS, Strengths, front_table, strength_table
from cardlab.games.open_face import row_features as lines
from cardlab.games.open_face.rank_bounds import Nodes, nodes
from cardlab.games.open_face.row_features import ROYALTY_UNIT, write_line
from cardlab.games.open_face.row_statistics import NUM_LINES, SURVEY, add_card, bound, foul_is_certain, is_safe, survey
from cardlab.games.open_face.royalties import row_rank
from cardlab.games.open_face.rules import NUM_DEALT, NUM_OPENING, NUM_ROWS, NUM_SLOTS, capacity, num_turned, owner, wide
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
    lines=(NUM_LINES, lines.WIDTH),
)
SEED_BLOCKS = layout(slots=(NUM_DEALT + 1, NUM_SLOT_SYMBOLS))
ACTION_BLOCKS = layout(card=(NUM_RANKS + NUM_SUITS,), changes=(NUM_CHANGES,), line=(lines.WIDTH,))
PRIVILEGED_BLOCKS = layout(deck=(2, NUM_CARDS))

_CARD, _TO_PLACE, _UNSEEN, _UNSEEN_RANKS, _UNSEEN_SUITS, _LINES = (block.start for block in BLOCKS[1:])
_WIDTH = width(BLOCKS)
_LINE = lines.WIDTH
_CHANGES, _ACTION_LINE = (block.start for block in ACTION_BLOCKS[1:])
_ACTION_WIDTH = width(ACTION_BLOCKS)


def observe_rows(info_states: InfoStates, players: Players) -> Floats:
    """[G, F] in BLOCKS."""
    return _observe_rows(info_states, players, nodes(), np.zeros(1, dtype=SURVEY))


@kernel
def _observe_rows(info_states: InfoStates, players: Players, table: Nodes, scratch: NDArray[np.void]) -> Floats:
    out = np.zeros((info_states.shape[0], _WIDTH), dtype=np.float32)
    found = scratch[0]
    for g in range(info_states.shape[0]):
        state, viewer = info_states[g], wide(players[g])
        survey(state, viewer, table, found)
        _write_status(out[g], found, state, viewer)
        _write_cards(out[g], state)
        for line in range(NUM_LINES):
            start = _LINES + line * _LINE
            write_line(out[g, start : start + _LINE], found, line)
    return out


@kernel
def _write_status(out: Floats, found: np.void, state: np.void, viewer: int) -> None:
    """Who moves and began, how far the game is, and for both boards: certain foul, safe, royalties, cards to come."""
    step = wide(state["step"])
    if found["mover"] >= 0:
        out[found["mover"]] = 1.0
    out[2] = step == NUM_DEALT
    out[3] = step < NUM_DEALT and found["card"] < 0
    out[4] = viewer == 0
    out[5] = step < 2 * NUM_OPENING
    out[6] = step / 26.0
    for side in range(2):
        first = NUM_ROWS * side
        out[7 + side] = foul_is_certain(found, first)
        out[9 + side] = is_safe(found, first + 1, first) and is_safe(found, first + 2, first + 1)
        certain, placed = 0, 0
        for line in range(first, first + NUM_ROWS):
            certain += found["royalties"][line]
            placed += found["sizes"][line]
        out[11 + side] = certain / ROYALTY_UNIT
        out[13 + side] = (NUM_SLOTS - placed) / 13.0
    out[15] = min(max(num_turned(step) - step, 0), NUM_OPENING) / 5.0
    out[16] = state["scores"][viewer] / ROYALTY_UNIT


@kernel
def _write_cards(out: Floats, state: np.void) -> None:
    """The next card, all in sight that are to be placed, and those nobody has seen."""
    for column in range(_UNSEEN, _UNSEEN + NUM_CARDS):
        out[column] = 1.0
    for rank in range(NUM_RANKS):
        out[_UNSEEN_RANKS + rank] = 1.0
    for suit in range(NUM_SUITS):
        out[_UNSEEN_SUITS + suit] = 1.0
    step = wide(state["step"])
    for index in range(NUM_DEALT):
        card = wide(state["deck"][index])
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
    """Mark the rank and the suit of a card in `out` [17]."""
    out[card >> 2] = 1.0
    out[NUM_RANKS + (card & 3)] = 1.0


def observe_actions(info_states: InfoStates, players: Players, rows: NDArray[np.intp], actions: Actions) -> Floats:
    """[K, Fa] in ACTION_BLOCKS: the pairs (rows[k], actions[k]), ordered by row."""
    tables = (strength_table(), front_table())
    return _observe_actions(info_states, players, rows, actions, nodes(), *tables, np.zeros(2, dtype=SURVEY))


@kernel
def _observe_actions(
    info_states: InfoStates,
    players: Players,
    rows: NDArray[np.intp],
    actions: Actions,
    table: Nodes,
    strengths: Strengths,
    fronts: NDArray[np.int32],
    scratch: NDArray[np.void],
) -> Floats:
    out = np.zeros((rows.size, _ACTION_WIDTH), dtype=np.float32)
    before, after = scratch[0], scratch[1]
    for k in range(rows.size):
        row, action = int(rows[k]), wide(actions[k])
        state = info_states[row]
        if k == 0 or rows[k] != rows[k - 1]:
            survey(state, wide(players[row]), table, before)
        scratch[1] = before
        mover, card = wide(before["mover"]), wide(before["card"])
        line = NUM_ROWS * mover + action
        add_card(after, line, card, table)
        rank = 0
        if after["sizes"][line] == capacity(action):
            key = state["keys"][owner(wide(state["step"])), action] + CARD_KEYS[card]
            rank = row_rank(strengths, fronts, key, action)
        bound(after, line, rank, table)
        after["card"] = -1
        write_card(out[k, :_CHANGES], card)
        _write_changes(out[k, _CHANGES:_ACTION_LINE], before, after, line)
        write_line(out[k, _ACTION_LINE:], after, line)
    return out


@kernel
def _write_changes(out: Floats, before: np.void, after: np.void, line: int) -> None:
    """What the placement does to the board: royalties, room, foul and order, before and after."""
    first = line - line % NUM_ROWS
    out[0] = (after["royalties"][line] - before["royalties"][line]) / ROYALTY_UNIT
    out[1] = (after["hopes"][line] - before["hopes"][line]) / ROYALTY_UNIT
    out[2] = after["sizes"][line] == capacity(line % NUM_ROWS)
    out[3] = foul_is_certain(before, first)
    out[4] = foul_is_certain(after, first)
    out[5] = is_safe(after, first + 1, first) and is_safe(after, first + 2, first + 1)
    out[6] = after["lows"][first + 1] < after["lows"][first]
    out[7] = after["lows"][first + 2] < after["lows"][first + 1]


def observe_seed(info_states: InfoStates, players: Players) -> Floats:
    """[G, 27 · 53]: the viewer's 13 slots front to back, the opponent's, the card to place; one-hot, last: empty."""
    return _observe_seed(info_states, players)


@kernel
def _observe_seed(info_states: InfoStates, players: Players) -> Floats:
    out = np.zeros((info_states.shape[0], (NUM_DEALT + 1) * NUM_SLOT_SYMBOLS), dtype=np.float32)
    slots = np.empty(NUM_DEALT + 1, dtype=np.int64)
    filled = np.empty(NUM_LINES, dtype=np.int64)
    for g in range(info_states.shape[0]):
        state = info_states[g]
        slots[:] = NUM_CARDS
        filled[:] = 0
        for index in range(wide(state["step"])):
            row = wide(state["rows"][index])
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
    """[G, 2 · 52] the cards still to come to the viewer and the opponent: 1 / (1 + own cards that come before)."""
    out = np.zeros((states.shape[0], 2 * NUM_CARDS), dtype=np.float32)
    for g in range(states.shape[0]):
        state = states[g]
        before = np.zeros(2, dtype=np.int64)
        for index in range(num_turned(wide(state["step"])), NUM_DEALT):
            side = int(owner(index) != players[g])
            out[g, NUM_CARDS * side + state["deck"][index]] = 1.0 / (1.0 + before[side])
            before[side] += 1
    return out
