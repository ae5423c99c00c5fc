"""Observations of a player: ten columns and shared features, of order one.

Lines 0 to 4 are the player's own columns, 5 to 9 the opposite columns.
"""

import numpy as np

from cardlab.core.kernels import kernel
from cardlab.games.cards.hands import Int, Strengths
from cardlab.games.five_o.column_features import (
    AT_LEAST,
    LINE_SIZE,
    LOG_RATIO,
    NUM_STATISTICS,
    OWN,
    UNIT,
    VALUE,
    Row,
    compute_column_statistics,
    log_value_ratio,
    write_column,
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

# Brackets list the entries of a block.
BLOCKS = layout(
    lines=(NUM_LINES, LINE_SIZE),
    drawn=(18,),  # the card to place: one-hot rank, one-hot suit, whether it is known
    unseen=(18,),  # unseen cards: of each rank / 4, of each suit / 13, all / 52
    round=(4,),  # one-hot, 2 … 5; none at the end
    clock=(1,),  # cards placed / 40
    turn=(3,),  # [the player is to place, the opponent is, the player goes first]
    phase=(3,),  # one-hot: playing, over, waiting for the showdown
    ahead=(2,),  # columns of higher, and of lower, value than the opposite one / 5
)
NUM_FEATURES = width(BLOCKS)

ACTION_BLOCKS = layout(
    after=(LINE_SIZE,),  # the column with the card placed
    opposite=(LINE_SIZE,),  # the opposite column
    change=(3,),  # change by the card: [guaranteed strength / 7462, value / 7462, logarithm of the value / 4]
)
NUM_ACTION_FEATURES = width(ACTION_BLOCKS)

PRIVILEGED_BLOCKS = layout(
    hidden=(NUM_COLUMNS, 52),  # the opponent's face-down card in each column, one-hot
    coming=(NUM_PLAYERS, 52),  # future cards of the player and the opponent: 1 for the next, less for later
)
NUM_PRIVILEGED = width(PRIVILEGED_BLOCKS)

_DRAWN, _UNSEEN, _ROUND, _CLOCK, _TURN, _PHASE, _AHEAD = (
    find_block(BLOCKS, name).start for name in ("drawn", "unseen", "round", "clock", "turn", "phase", "ahead")
)
_OPPOSITE, _CHANGE = (find_block(ACTION_BLOCKS, name).start for name in ("opposite", "change"))
_COMING = find_block(PRIVILEGED_BLOCKS, "coming").start


@kernel
def write_shared(out: Row, state: Record, player: Int) -> None:
    """Write the shared blocks except `unseen` and `ahead`."""
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
    """[G, F] in BLOCKS."""
    out = np.zeros((states.shape[0], NUM_FEATURES), dtype=np.float32)
    unseen = np.empty(NUM_COUNTS, dtype=np.int64)
    stats = np.empty((NUM_LINES, NUM_STATISTICS))
    for g in range(states.shape[0]):
        state = states[g]
        player = np.int64(players[g])
        count_unseen(state, unseen)
        for line in range(NUM_LINES):
            side = player if line < NUM_COLUMNS else 1 - player
            compute_column_statistics(table, state, side, line % NUM_COLUMNS, -1, unseen, stats[line])
        for line in range(NUM_LINES):
            side = player if line < NUM_COLUMNS else 1 - player
            row = out[g, line * LINE_SIZE : (line + 1) * LINE_SIZE]
            row[OWN] = line < NUM_COLUMNS
            other = stats[(line + NUM_COLUMNS) % NUM_LINES]
            write_column(row, state, side, line % NUM_COLUMNS, -1, stats[line], other)
        for column in range(NUM_COLUMNS):
            own, other_value = stats[column, VALUE], stats[column + NUM_COLUMNS, VALUE]
            out[g, _AHEAD] += 0.2 * (own > other_value)
            out[g, _AHEAD + 1] += 0.2 * (own < other_value)
            ratio = log_value_ratio(stats[column], stats[column + NUM_COLUMNS])
            out[g, column * LINE_SIZE + LOG_RATIO] = ratio
            out[g, (column + NUM_COLUMNS) * LINE_SIZE + LOG_RATIO] = -ratio
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
    """Rows [K], actions [K] and features [K, Fa] in ACTION_BLOCKS of the legal columns."""
    count = 0
    for g in range(legal.shape[0]):
        for column in range(NUM_COLUMNS):
            count += legal[g, column]
    rows = np.empty(count, dtype=np.intp)
    actions = np.empty(count, dtype=np.int16)
    out = np.zeros((count, NUM_ACTION_FEATURES), dtype=np.float32)
    unseen = np.empty(NUM_COUNTS, dtype=np.int64)
    before, after, other = np.empty(NUM_STATISTICS), np.empty(NUM_STATISTICS), np.empty(NUM_STATISTICS)
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
            compute_column_statistics(table, state, player, column, -1, unseen, before)
            compute_column_statistics(table, state, player, column, card, unseen, after)
            compute_column_statistics(table, state, 1 - player, column, -1, unseen, other)
            rows[pair], actions[pair] = g, column
            row = out[pair]
            row[OWN] = 1.0
            write_column(row[:LINE_SIZE], state, player, column, card, after, other)
            write_column(row[_OPPOSITE : _OPPOSITE + LINE_SIZE], state, 1 - player, column, -1, other, after)
            row[LOG_RATIO] = log_value_ratio(after, other)
            row[_OPPOSITE + LOG_RATIO] = -row[LOG_RATIO]
            row[_CHANGE] = (after[AT_LEAST] - before[AT_LEAST]) * UNIT
            row[_CHANGE + 1] = (after[VALUE] - before[VALUE]) * UNIT
            row[_CHANGE + 2] = log_value_ratio(after, before)
            pair += 1
    return rows, actions, out


@kernel
def observe_hidden(states: Records, players: Players, hidden_round: int) -> Floats:
    """[G, Fp] in PRIVILEGED_BLOCKS; all zero once the game is over."""
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
