"""Big 2 with open hands and few cards, solved exactly: max^n with a transposition table.

Max^n (Luckhardt and Irani 1986): each player maximises the own payoff; ties go to the most cards, then to the first
action, as in the greedy agent, and a pass is last. Within one deal a set of cards is an integer with one bit per card
in play, and a position is one integer (`position_of`). An outcome is the cards left to each player, four bits each.
`dealt` [3, 32] describes a deal; its rows and columns are named below. `list_plays` fills `plays` [4, A, 2] and
`starts` [4, 6].
"""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.big2.actions import (
    ACTION_POSITIONS,
    KIND_SIZES,
    NO_KIND,
    NUM_ACTIONS,
    SIZE_STARTS,
    STRAIGHT_FLUSH,
    classify,
    strength,
)
from cardlab.games.big2.legal_actions import mark_legal
from cardlab.games.big2.rules import loser_payment
from cardlab.games.cards.hands import count_bits, lowest_bit

Ints = NDArray[np.int64]

MAX_CARDS = 32  # in play, so that a position and the number of its deal fit one integer
MAX_DEALS = 1 << 17  # that one transposition table distinguishes
SLOTS_BITS = 16
SLOTS = 1 << SLOTS_BITS  # of a transposition table [2, SLOTS]: positions, and their outcomes
NO_STRENGTH = -1  # no hand to beat: the player to move has control
UNBOUNDED = -1000  # below every payoff
PRUNED = -1  # instead of an outcome: not better for the parent's player than its best known payoff
UNKNOWN = -2  # instead of an outcome that is not computed yet
WINNING_PLAY, NO_CHILD = -2, -1  # instead of a position
NO_PLAYER = -1  # no parent

# Columns of a frame of the solver's stack, one frame per open position.
POSITION, PARENT, BOUND, ROW, STOP, BEST, BEST_PAYOFF, WIN_OUTCOME, MAX_PAYOFF = range(9)
_MAX_DEPTH = 4 * MAX_CARDS  # frames: each play sheds a card, after at most three passes

# Rows of `dealt`; the first row has the cards of players 0 to 3 and two options of the game.
HELD, LOWER, BETWEEN = range(3)
DOUBLED, UNBEATABLE = 4, 5

_REMAINING = 13  # bits below the remaining cards: turn 2, passes 2, strength to beat 9
_DEAL = _REMAINING + MAX_CARDS
_CARDS = (1 << MAX_CARDS) - 1


@kernel
def payoff(outcome: int, player: int, doubled: int) -> int:
    """Payoff of `player` for an outcome."""
    own = outcome >> 4 * player & 15
    if own > 0:
        return -loser_payment(own, doubled)
    total = 0
    for other in range(4):
        total += loser_payment(outcome >> 4 * other & 15, doubled)
    return total


@kernel
def position_of(deal: int, remaining: int, to_beat: int, passes: int, turn: int) -> int:
    """A position of deal number `deal` as one integer; `to_beat` is a strength or NO_STRENGTH."""
    return deal << _DEAL | remaining << _REMAINING | (to_beat + 1) << 4 | passes << 2 | turn


@kernel
def list_plays(hand: NDArray[np.int8], count: int, bits: Ints, plays: Ints, starts: Ints) -> None:
    """Write the plays of hand[0:count] with control to `plays` [A, 2]: their cards, by the `bits` [52], and strength.

    Plays are sorted by descending size, then by action; those of `size` cards are in rows starts[size] to
    starts[size - 1] - 1, with `starts` [6].
    """
    legal = np.zeros(NUM_ACTIONS, dtype=np.bool_)
    mark_legal(hand, count, NO_KIND, -1, np.empty(14, dtype=np.int8), legal)
    cards = np.empty(5, dtype=np.int8)
    row = 0
    for size in range(5, 0, -1):
        starts[size] = row
        for action in range(SIZE_STARTS[size], SIZE_STARTS[size + 1]):
            if not legal[action]:
                continue
            plays[row, 0] = 0
            for index in range(size):
                cards[index] = hand[ACTION_POSITIONS[action, index]]
                plays[row, 0] |= bits[cards[index]]
            kind, key = classify(cards, size)
            plays[row, 1] = strength(kind, key)
            row += 1
    starts[0] = row


@kernel
def next_position(
    deal: int, remaining: int, leader: int, to_beat: int, passes: int, plays: Ints, starts: Ints, unbeatable: int
) -> int:
    """The position of the next player who can beat `to_beat`, played by `leader`, after `passes` passes.

    Players who cannot beat it pass. `to_beat` is stored as the highest strength that the same hands beat, so that
    equivalent positions are equal.
    """
    size = int(KIND_SIZES[to_beat // 52])
    first = 3
    weakest = 1 << 9
    for after in range(3 if unbeatable and to_beat >= 52 * STRAIGHT_FLUSH else passes, 3):
        other = (leader + 1 + after) & 3
        for row in range(starts[other, size], starts[other, size - 1]):
            if to_beat < plays[other, row, 1] < weakest and plays[other, row, 0] & ~remaining == 0:
                weakest = int(plays[other, row, 1])
                first = min(first, after)
    if first == 3:
        return position_of(deal, remaining, NO_STRENGTH, 0, leader)
    return position_of(deal, remaining, weakest - 1, first, (leader + 1 + first) & 3)


@kernel
def after_play(position: int, cards: int, to_beat: int, plays: Ints, starts: Ints, unbeatable: int) -> int:
    """The position after a play of strength `to_beat` that does not empty the hand."""
    remaining = (position >> _REMAINING & _CARDS) ^ cards
    return next_position(position >> _DEAL, remaining, position & 3, to_beat, 0, plays, starts, unbeatable)


@kernel
def after_pass(position: int, plays: Ints, starts: Ints, unbeatable: int) -> int:
    """The position after a pass; the third pass in a row gives control to the last player who played."""
    passes = position >> 2 & 3
    leader = ((position & 3) - 1 - passes) & 3
    to_beat = (position >> 4 & 511) - 1
    remaining = position >> _REMAINING & _CARDS
    return next_position(position >> _DEAL, remaining, leader, to_beat, passes + 1, plays, starts, unbeatable)


@kernel
def current_outcome(position: int, dealt: Ints) -> int:
    """The cards left to each player."""
    remaining = position >> _REMAINING & _CARDS
    outcome = 0
    for player in range(4):
        outcome |= count_bits(remaining & dealt[HELD, player]) << 4 * player
    return outcome


@kernel
def is_lowest_interchangeable(row: int, remaining: int, to_beat: int, plays: Ints, dealt: Ints) -> bool:
    """Whether a play uses the lowest among interchangeable cards, so that no equivalent play comes before it."""
    cards = int(plays[row, 0])
    left = cards
    while left != 0:
        card = lowest_bit(left)
        left &= left - 1
        lower = int(dealt[LOWER, card])
        if lower & remaining & ~cards != 0 and dealt[BETWEEN, card] & remaining == 0:
            other = row - 1
            while plays[other, 0] != (cards | lower) ^ (1 << card):
                other -= 1
            if plays[other, 1] > to_beat:  # else the hand to beat lies between the two plays
                return False
    return True


@kernel
def next_row(row: int, stop: int, remaining: int, to_beat: int, plays: Ints, dealt: Ints) -> int:
    """The first of the rows `row` to `stop` of `plays` [A, 2] to search; `stop` or above for none."""
    while row < stop:
        fits = plays[row, 0] & ~remaining == 0 and plays[row, 1] > to_beat
        if fits and is_lowest_interchangeable(row, remaining, to_beat, plays, dealt):
            return row
        row += 1
    return row


@kernel
def parent_payoff_bound(outcome: int, parent: int, turn: int, dealt: Ints, won: int) -> int:
    """Upper bound on the payoff of `parent` where `turn` can reach `outcome`, or win with the outcome `won`.

    Payoffs sum to zero, so a winner takes at least this much from the others (Korf 1991, shallow pruning).
    """
    doubled = int(dealt[HELD, DOUBLED])
    paid = payoff(outcome, turn, doubled)
    if paid < 0:
        return -UNBOUNDED
    spare = 0
    for other in range(4):
        if other not in (parent, turn):
            spare += loser_payment(won >> 4 * other & 15, doubled)
    return min(-1, spare - paid)


@kernel
def solve(position: int, dealt: Ints, plays: Ints, starts: Ints, table: Ints) -> int:
    """The outcome of best play from `position`; `table` [2, SLOTS] is the transposition table.

    The search uses an explicit stack: numba crashes on recursive functions from its cache (numba issue 6061).
    """
    stack = np.empty((_MAX_DEPTH, 9), dtype=np.int64)
    depth = 0
    outcome = look_up_outcome(position, table)
    if outcome != UNKNOWN:
        return outcome
    fill_frame(stack[0], position, NO_PLAYER, UNBOUNDED, dealt, starts)
    while True:
        frame = stack[depth]
        if outcome >= 0:
            update_frame(frame, outcome, dealt)
        outcome = UNKNOWN
        if frame[ROW] == PRUNED:
            outcome = PRUNED
        else:
            child = next_child(frame, dealt, plays, starts)
            if child == WINNING_PLAY:
                outcome = int(frame[WIN_OUTCOME])
                continue
            if child != NO_CHILD:
                outcome = look_up_outcome(child, table)
                if outcome == UNKNOWN:
                    depth += 1
                    fill_frame(stack[depth], child, int(frame[POSITION]) & 3, int(frame[BEST_PAYOFF]), dealt, starts)
                continue
            outcome = int(frame[BEST])
            slot = slot_of(int(frame[POSITION]))  # its entry is replaced
            table[0, slot], table[1, slot] = frame[POSITION], outcome
        if depth == 0:
            return outcome
        depth -= 1


@kernel
def look_up_outcome(position: int, table: Ints) -> int:
    """The stored outcome of a position, or UNKNOWN."""
    slot = slot_of(position)
    return int(table[1, slot]) if table[0, slot] == position else UNKNOWN


@kernel
def slot_of(position: int) -> int:
    """The slot of a position, by multiplicative hashing (Knuth)."""
    return (position * 0x2545F4914F6CDD1D & 0x7FFFFFFFFFFFFFFF) >> (63 - SLOTS_BITS)


@kernel
def fill_frame(frame: Ints, position: int, parent: int, bound: int, dealt: Ints, starts: Ints) -> None:
    """Fill the frame of a position; its outcome matters only if it pays more than `bound` to `parent`."""
    turn = position & 3
    to_beat = (position >> 4 & 511) - 1
    size = int(KIND_SIZES[to_beat // 52]) if to_beat >= 0 else 5
    frame[POSITION] = position
    frame[PARENT] = NO_PLAYER if parent == turn else parent
    frame[BOUND] = bound
    frame[ROW] = starts[turn, size]
    frame[STOP] = starts[turn, size - 1 if to_beat >= 0 else 0]
    frame[BEST] = PRUNED
    frame[BEST_PAYOFF] = UNBOUNDED
    frame[WIN_OUTCOME] = current_outcome(position, dealt) & ~(15 << 4 * turn)
    frame[MAX_PAYOFF] = payoff(int(frame[WIN_OUTCOME]), turn, int(dealt[HELD, DOUBLED]))


@kernel
def next_child(frame: Ints, dealt: Ints, plays: Ints, starts: Ints) -> int:
    """The next child position, WINNING_PLAY for a play of the last cards, or NO_CHILD; the pass is last."""
    position = int(frame[POSITION])
    turn = position & 3
    to_beat = (position >> 4 & 511) - 1
    remaining = position >> _REMAINING & _CARDS
    unbeatable = int(dealt[HELD, UNBEATABLE])
    if frame[BEST_PAYOFF] >= frame[MAX_PAYOFF] or frame[ROW] > frame[STOP]:
        return NO_CHILD
    row = next_row(int(frame[ROW]), int(frame[STOP]), remaining, to_beat, plays[turn], dealt)
    frame[ROW] = row + 1
    if row == frame[STOP]:
        return after_pass(position, plays, starts, unbeatable) if to_beat >= 0 else NO_CHILD
    if plays[turn, row, 0] == remaining & dealt[HELD, turn]:
        return WINNING_PLAY
    return after_play(position, int(plays[turn, row, 0]), int(plays[turn, row, 1]), plays, starts, unbeatable)


@kernel
def update_frame(frame: Ints, outcome: int, dealt: Ints) -> None:
    """Update a frame with the outcome of a child; ROW is PRUNED if the parent will not choose this position."""
    turn = int(frame[POSITION]) & 3
    paid = payoff(outcome, turn, int(dealt[HELD, DOUBLED]))
    if paid <= frame[BEST_PAYOFF]:
        return
    frame[BEST] = outcome
    frame[BEST_PAYOFF] = paid
    parent, won = int(frame[PARENT]), int(frame[WIN_OUTCOME])
    if parent != NO_PLAYER and parent_payoff_bound(outcome, parent, turn, dealt, won) <= frame[BOUND]:
        frame[ROW] = PRUNED
