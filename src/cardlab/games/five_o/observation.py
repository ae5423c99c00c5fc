"""What a player sees, as numbers of order one: ten columns and what they share.

Lines 0 to 4 are the player's own columns, 5 to 9 those opposite.
"""

import numpy as np

from cardlab.core.kernels import kernel
from cardlab.games.cards.hands import Int, Strengths
from cardlab.games.five_o.column_features import (
    AT_LEAST,
    LEAD,
    LINE_SIZE,
    NUM_FACTS,
    OWN,
    UNIT,
    VALUE,
    Row,
    lead,
    measure,
    write_line,
)
from cardlab.games.five_o.hand_values import ALL_AT, NUM_COUNTS, SUITS_AT, count_unseen
from cardlab.games.five_o.rules import (
    NUM_COLUMNS,
    NUM_PLAYERS,
    NUM_TURNS,
    PLAYING,
    Record,
    Records,
    mover,
    round_of,
)
from cardlab.games.protocol import Actions, Bools, Floats, Players, find_block, layout, width

NUM_LINES = NUM_PLAYERS * NUM_COLUMNS

# In brackets: the entries of a block, in order.
BLOCKS = layout(
    lines=(NUM_LINES, LINE_SIZE),
    drawn=(18,),  # the card to place: one-hot rank, one-hot suit, whether it is known
    unseen=(18,),  # cards not seen: of each rank / 4, of each suit / 13, all / 52
    round=(4,),  # one-hot, 2 … 5; none at the end
    clock=(1,),  # cards placed / 40
    turn=(3,),  # [the player is to place, the opponent is, the player goes first]
    phase=(3,),  # one-hot: playing, over, waiting for the showdown
    ahead=(2,),  # columns of more value than those opposite, and of less / 5
)
NUM_FEATURES = width(BLOCKS)

ACTION_BLOCKS = layout(
    after=(LINE_SIZE,),  # the column with the card placed
    opposite=(LINE_SIZE,),  # the column opposite
    change=(3,),  # gained by the card: [guaranteed strength / 7462, value / 7462, logarithm of the value / 4]
)
NUM_ACTION_FEATURES = width(ACTION_BLOCKS)

PRIVILEGED_BLOCKS = layout(
    hidden=(NUM_COLUMNS, 52),  # the opponent's face-down card in each column, one-hot
    coming=(
        NUM_PLAYERS,
        52,
    ),  # what the player is still to draw, and the opponent: 1 for the next card, less for others
)
NUM_PRIVILEGED = width(PRIVILEGED_BLOCKS)

_DRAWN, _UNSEEN, _ROUND, _CLOCK, _TURN, _PHASE, _AHEAD = (
    find_block(BLOCKS, name).start for name in ("drawn", "unseen", "round", "clock", "turn", "phase", "ahead")
)
_OPPOSITE, _CHANGE = (find_block(ACTION_BLOCKS, name).start for name in ("opposite", "change"))
_COMING = find_block(PRIVILEGED_BLOCKS, "coming").start


@kernel
def write_shared(out: Row, state: Record, player: Int) -> None:
    """Write what the lines share, `unseen` and `ahead` apart."""
    turn = np.int64(state["turn"])
    if turn < NUM_TURNS:
        card = np.int64(state["deck"][turn])
        if card >= 0:
            out[_DRAWN + (card >> 2)] = 1.0
            out[_DRAWN + 13 + (card & 3)] = 1.0
            out[_DRAWN + 17] = 1.0
        out[_ROUND + round_of(turn) - 2] = 1.0
    out[_CLOCK] = turn / NUM_TURNS
    if state["phase"] == PLAYING:
        out[_TURN + (0 if turn & 1 == player else 1)] = 1.0
    out[_TURN + 2] = player == 0
    out[_PHASE + np.int64(state["phase"])] = 1.0


@kernel
def observe(table: Strengths, states: Records, players: Players) -> Floats:
    """[G, F] in the blocks of BLOCKS."""
    out = np.zeros((states.shape[0], NUM_FEATURES), dtype=np.float32)
    unseen = np.empty(NUM_COUNTS, dtype=np.int64)
    facts = np.empty((NUM_LINES, NUM_FACTS))
    for g in range(states.shape[0]):
        state = states[g]
        player = np.int64(players[g])
        count_unseen(state, unseen)
        for line in range(NUM_LINES):
            side = player if line < NUM_COLUMNS else 1 - player
            measure(table, state, side, line % NUM_COLUMNS, -1, unseen, facts[line])
        for line in range(NUM_LINES):
            side = player if line < NUM_COLUMNS else 1 - player
            row = out[g, line * LINE_SIZE : (line + 1) * LINE_SIZE]
            row[OWN] = line < NUM_COLUMNS
            other = facts[(line + NUM_COLUMNS) % NUM_LINES]
            write_line(row, state, side, line % NUM_COLUMNS, -1, facts[line], other)
        for column in range(NUM_COLUMNS):
            own, other_value = facts[column, VALUE], facts[column + NUM_COLUMNS, VALUE]
            out[g, _AHEAD] += 0.2 * (own > other_value)
            out[g, _AHEAD + 1] += 0.2 * (own < other_value)
            ratio = lead(facts[column], facts[column + NUM_COLUMNS])
            out[g, column * LINE_SIZE + LEAD] = ratio
            out[g, (column + NUM_COLUMNS) * LINE_SIZE + LEAD] = -ratio
        for index in range(SUITS_AT):
            out[g, _UNSEEN + index] = unseen[index] / 4
        for index in range(SUITS_AT, ALL_AT):
            out[g, _UNSEEN + index] = unseen[index] / 13
        out[g, _UNSEEN + ALL_AT] = unseen[ALL_AT] / 52
        write_shared(out[g], state, player)
    return out


@kernel
def observe_actions(
    table: Strengths, states: Records, legal: Bools, hidden_round: int
) -> tuple[np.ndarray, Actions, Floats]:
    """Rows [K], actions [K] and features [K, Fa], in the blocks of ACTION_BLOCKS, of the columns that are legal."""
    count = 0
    for g in range(legal.shape[0]):
        for column in range(NUM_COLUMNS):
            count += legal[g, column]
    rows = np.empty(count, dtype=np.intp)
    actions = np.empty(count, dtype=np.int16)
    out = np.zeros((count, NUM_ACTION_FEATURES), dtype=np.float32)
    unseen = np.empty(NUM_COUNTS, dtype=np.int64)
    before, after, other = np.empty(NUM_FACTS), np.empty(NUM_FACTS), np.empty(NUM_FACTS)
    pair = 0
    for g in range(legal.shape[0]):
        state = states[g]
        player = np.int64(mover(state, hidden_round))
        if player < 0:
            continue
        card = np.int64(state["deck"][state["turn"]])
        count_unseen(state, unseen)
        for column in range(NUM_COLUMNS):
            if not legal[g, column]:
                continue
            measure(table, state, player, column, -1, unseen, before)
            measure(table, state, player, column, card, unseen, after)
            measure(table, state, 1 - player, column, -1, unseen, other)
            rows[pair], actions[pair] = g, column
            row = out[pair]
            row[OWN] = 1.0
            write_line(row[:LINE_SIZE], state, player, column, card, after, other)
            write_line(row[_OPPOSITE : _OPPOSITE + LINE_SIZE], state, 1 - player, column, -1, other, after)
            row[LEAD] = lead(after, other)
            row[_OPPOSITE + LEAD] = -row[LEAD]
            row[_CHANGE] = (after[AT_LEAST] - before[AT_LEAST]) * UNIT
            row[_CHANGE + 1] = (after[VALUE] - before[VALUE]) * UNIT
            row[_CHANGE + 2] = lead(after, before)
            pair += 1
    return rows, actions, out


@kernel
def show_hidden(states: Records, players: Players, hidden_round: int) -> Floats:
    """[G, Fp] in the blocks of PRIVILEGED_BLOCKS; all zero once the game is over."""
    out = np.zeros((states.shape[0], NUM_PRIVILEGED), dtype=np.float32)
    for g in range(states.shape[0]):
        state = states[g]
        if state["phase"] != PLAYING:
            continue
        player = players[g]
        for column in range(NUM_COLUMNS):
            card = np.int64(state["columns"][1 - player, column, hidden_round - 1])
            if card >= 0:
                out[g, 52 * column + card] = 1.0
        turn = np.int64(state["turn"])
        for index in range(turn, NUM_TURNS):
            side = 0 if index & 1 == player else 1
            out[g, _COMING + 52 * side + np.int64(state["deck"][index])] = 1.0 / (1 + (index - turn) // 2)
    return out
