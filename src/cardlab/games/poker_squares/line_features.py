"""Features of one row or column: its cards, its possible hands, and the lines that compete for cards.

Grids with and without a face-up card have features. Lines of one orientation with equal cards and equal unseen cards
have equal features. So one encoder can serve all ten lines, and a network can sum their values.
"""

import numpy as np

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_RANKS, Cards
from cardlab.games.cards.hands import FLUSH, HIGH_CARD, ROYAL_FLUSH, STRAIGHT, STRAIGHT_FLUSH, STRAIGHT_MASKS
from cardlab.games.poker_squares.line_statistics import (
    ALL_PROBABILITY,
    AT_LEAST_PROBABILITY,
    COMPLETE,
    SUITED,
    TRAIT_LACKS_ONE,
    TRAIT_OF_SUIT,
    TRAIT_PAIRED,
    TRAIT_SHARES,
    TRAIT_SUITED,
    LineStatistics,
    line_contents,
)
from cardlab.games.poker_squares.rules import CATEGORY_OF_PAIRS, SIDE, Scores, line_category, line_cell
from cardlab.games.protocol import Floats, layout, width

NUM_SLOTS = 4  # ranks of an open line, the most frequent first, then those likeliest to come

# Complete lines have zeros after the first five blocks. Brackets list the entries of a block.
LINE_BLOCKS = layout(
    score=(1,),  # current score / unit
    complete=(1,),
    row=(1,),  # 1 for a row, 0 for a column
    cards=(6,),  # one-hot, 0 … 5
    pattern=(6,),  # one-hot: ranks distinct, pair, two pair, three, full house, four; none for an empty line
    turn=(5,),  # cards placed, interpolated between 0, 6.25, 12.5, 18.75, 25
    fit=(4,),  # the face-up card: [known, copies of its rank in the line / 3, of the line's suit, keeps a straight]
    slot_count=(NUM_SLOTS,),  # cards of the slot's rank / 4
    slot_unseen=(NUM_SLOTS,),  # copies not seen / 3
    slot_chance=(NUM_SLOTS,),  # probability that at least one turns up
    slot_chance_of_two=(2,),
    slot_rivals=(NUM_SLOTS,),  # other open lines of the same orientation that hold the rank / 2
    slot_allies=(NUM_SLOTS,),  # open lines of the other orientation that hold the rank / 2
    flush=(8,),  # [possible, unseen / 13, chance, chance after rivals, slack / 8, rivals / 2, allies / 2, needs / 8]
    straight=(5,),  # [possible, windows / 5, best window's chance, sum of chances, outs of a line of four / 8]
    straight_flush=(4,),  # [possible, windows / 5, best window's chance, royal flush possible]
    expected=(1,),  # lines of four: mean score after one more unseen card / unit
    crossing=(6,),  # crossing lines at empty cells / 5: [cards / 5, same suit, other suit, paired, sharing a
    # rank with this line, lacking one card]
    same_way=(4,),  # lines of the same orientation / 5: [empty, suited, paired, mixed]
    other_way=(4,),  # lines of the other orientation / 5: as same_way
)
LINE_SIZE = width(LINE_BLOCKS)


_STARTS = [block.start for block in LINE_BLOCKS]
_SCORE, _COMPLETE, _ROW, _CARDS, _PATTERN, _TURN, _FIT = _STARTS[:7]
_COUNT, _UNSEEN, _CHANCE, _CHANCE_OF_TWO, _RIVALS, _ALLIES = _STARTS[7:13]
_FLUSH, _STRAIGHT, _STRAIGHT_FLUSH, _EXPECTED, _CROSSING, _SAME_WAY, _OTHER_WAY = _STARTS[13:]

PATTERN_OF_PAIRS = np.array([0, 1, 2, 3, 4, 4, 5], dtype=np.int8)


@kernel
def encode_line(
    stats: LineStatistics, grid: Cards, line: int, card: int, scores: Scores, unit: float, out: Floats
) -> None:
    """Write the features of `line` to `out` [LINE_SIZE], which holds zeros.

    `card` is the face-up card (-1: unknown); `unit` is the number of points that equals 1.
    """
    num_cards = int(stats["num_cards"][line])
    pairs = int(stats["pairs"][line])
    out[_SCORE] = scores[line_category(line_contents(stats, line))] / unit
    out[_ROW] = 1 if line < SIDE else 0
    out[_CARDS + num_cards] = 1
    if num_cards > 0:
        out[_PATTERN + PATTERN_OF_PAIRS[pairs]] = 1
    if stats["line_type"][line] == COMPLETE:
        out[_COMPLETE] = 1
        return
    _encode_turn(stats, card, out)
    _encode_crossing(stats, grid, line, out)
    if num_cards == 0:
        return
    _encode_ranks(stats, grid, line, out)
    _encode_flush(stats, line, out)
    straight_outs = straight_flush_outs = royal_outs = 0
    if pairs == 0:
        straight_outs, straight_flush_outs, royal_outs = _encode_straight(stats, line, out)
    if card >= 0:
        _encode_fit(stats, line, card, out)
    if num_cards == SIDE - 1:
        out[_EXPECTED] = _expected(stats, line, scores, straight_outs, straight_flush_outs, royal_outs) / unit


@kernel
def _encode_turn(stats: LineStatistics, card: int, out: Floats) -> None:
    place = (stats["seen"] - (1 if card >= 0 else 0)) / 6.25
    below = min(int(place), 3)
    out[_TURN + below] = below + 1 - place
    out[_TURN + below + 1] = place - below


@kernel
def _encode_ranks(stats: LineStatistics, grid: Cards, line: int, out: Floats) -> None:
    """Fill the slots, sorted by (cards held, copies not seen, rank)."""
    orientation = 0 if line < SIDE else 1
    counts = stats["counts"][line]
    slots = stats["slots"]
    num_slots = ranks = 0
    for position in range(SIDE):
        card = int(grid[line_cell(line, position)])
        rank = card >> 2
        if card < 0 or (ranks >> rank) & 1:
            continue
        ranks |= 1 << rank
        key = ((counts >> (4 * rank)) & 15) << 8 | stats["unseen_by_rank"][rank] << 4 | rank
        slot = num_slots
        num_slots += 1
        while slot > 0 and key > slots[slot - 1]:
            slots[slot] = slots[slot - 1]
            slot -= 1
        slots[slot] = key
    for slot in range(num_slots):
        rank = slots[slot] & 15
        unseen = (slots[slot] >> 4) & 15
        out[_COUNT + slot] = (slots[slot] >> 8) / 4
        out[_UNSEEN + slot] = unseen / 3
        out[_CHANCE + slot] = stats["chance"][rank]
        out[_RIVALS + slot] = (((stats["holders"][orientation] >> (4 * rank)) & 15) - 1) / 2
        out[_ALLIES + slot] = ((stats["holders"][1 - orientation] >> (4 * rank)) & 15) / 2
        if slot < 2:
            out[_CHANCE_OF_TWO + slot] = AT_LEAST_PROBABILITY[stats["seen"], unseen, 2]


@kernel
def _encode_flush(stats: LineStatistics, line: int, out: Floats) -> None:
    suit = stats["suit"][line]
    if suit < 0:
        return
    orientation = 0 if line < SIDE else 1
    need = SIDE - stats["num_cards"][line]
    unseen = stats["unseen_by_suit"][suit]
    if unseen < need:
        return
    own = 1 if stats["line_type"][line] == SUITED else 0
    needed_cards = stats["needed_cards"][orientation, suit] - own * need
    out[_FLUSH] = 1
    out[_FLUSH + 1] = unseen / 13
    out[_FLUSH + 2] = AT_LEAST_PROBABILITY[stats["seen"], unseen, need]
    out[_FLUSH + 3] = AT_LEAST_PROBABILITY[stats["seen"], max(unseen - needed_cards, 0), need]
    out[_FLUSH + 4] = (unseen - need - needed_cards) / 8
    out[_FLUSH + 5] = (stats["suited_lines"][orientation, suit] - own) / 2
    out[_FLUSH + 6] = stats["suited_lines"][1 - orientation, suit] / 2
    out[_FLUSH + 7] = needed_cards / 8


@kernel
def _window(stats: LineStatistics, ranks: int, window: int) -> tuple[float, int]:
    """Probability that all ranks of the window missing from `ranks` come (as if independent), and the fewest copies."""
    chance, copies = 1.0, 4
    for step in range(SIDE):
        rank = (window + step - 1) % NUM_RANKS
        if not (ranks >> rank) & 1:
            chance *= stats["chance"][rank]
            copies = min(copies, stats["unseen_by_rank"][rank])
    return chance, copies


@kernel
def _encode_straight(stats: LineStatistics, line: int, out: Floats) -> tuple[int, int, int]:
    """Unseen cards that make a straight, a straight flush, a royal flush; defined for lines of four only."""
    ranks = stats["ranks"][line]
    suit = stats["suit"][line]
    seen_in_suit = stats["seen_ranks"][suit] if suit >= 0 else 0x1FFF
    need = SIDE - stats["num_cards"][line]
    windows = straight_flushes = outs = straight_flush_outs = royal_outs = 0
    best = total = 0.0
    for window in range(len(STRAIGHT_MASKS)):
        if ranks & ~STRAIGHT_MASKS[window]:
            continue
        chance, copies = _window(stats, ranks, window)
        if copies == 0:
            continue
        outs += copies
        windows += 1
        total += chance
        best = max(best, chance)
        if STRAIGHT_MASKS[window] & ~ranks & seen_in_suit == 0:
            straight_flushes += 1
            royal_outs = 1 if window == len(STRAIGHT_MASKS) - 1 else 0
    straight_flush_outs = straight_flushes - royal_outs
    if windows > 0:
        out[_STRAIGHT] = 1
        out[_STRAIGHT + 1] = windows / 5
        out[_STRAIGHT + 2] = best
        out[_STRAIGHT + 3] = total
        out[_STRAIGHT + 4] = outs / 8 if need == 1 else 0
    if straight_flushes > 0:
        out[_STRAIGHT_FLUSH] = 1
        out[_STRAIGHT_FLUSH + 1] = straight_flushes / 5
        out[_STRAIGHT_FLUSH + 2] = ALL_PROBABILITY[stats["seen"], need]
        out[_STRAIGHT_FLUSH + 3] = royal_outs
    return outs, straight_flush_outs, royal_outs


@kernel
def _encode_fit(stats: LineStatistics, line: int, card: int, out: Floats) -> None:
    rank = card >> 2
    out[_FIT] = 1
    out[_FIT + 1] = ((stats["counts"][line] >> (4 * rank)) & 15) / 3
    out[_FIT + 2] = 1 if stats["suit"][line] == card & 3 else 0
    if stats["pairs"][line] == 0 and not (stats["ranks"][line] >> rank) & 1:
        ranks = stats["ranks"][line] | 1 << rank
        for window in range(len(STRAIGHT_MASKS)):
            if ranks & ~STRAIGHT_MASKS[window] == 0:
                out[_FIT + 3] = 1


@kernel
def _encode_crossing(stats: LineStatistics, grid: Cards, line: int, out: Floats) -> None:
    orientation = 0 if line < SIDE else 1
    suit = stats["suit"][line]
    ranks = stats["ranks"][line]
    traits = 0
    for position in range(SIDE):
        if grid[line_cell(line, position)] < 0:
            other = position + SIDE if orientation == 0 else position
            traits += stats["traits"][other]
            if stats["ranks"][other] & ranks:
                traits += 1 << TRAIT_SHARES
    same_suit = (traits >> (TRAIT_OF_SUIT + 4 * suit)) & 15 if suit >= 0 else 0
    out[_CROSSING] = (traits & 31) / 25
    out[_CROSSING + 1] = same_suit / 5
    out[_CROSSING + 2] = (((traits >> TRAIT_SUITED) & 15) - same_suit) / 5
    out[_CROSSING + 3] = ((traits >> TRAIT_PAIRED) & 15) / 5
    out[_CROSSING + 4] = ((traits >> TRAIT_SHARES) & 15) / 5
    out[_CROSSING + 5] = ((traits >> TRAIT_LACKS_ONE) & 15) / 5
    for line_type in range(4):
        out[_SAME_WAY + line_type] = stats["type_counts"][orientation, line_type] / 5
        out[_OTHER_WAY + line_type] = stats["type_counts"][1 - orientation, line_type] / 5


@kernel
def _expected(
    stats: LineStatistics, line: int, scores: Scores, straight_outs: int, straight_flush_outs: int, royal_outs: int
) -> float:
    """Mean score of a line of four after one more card, drawn uniformly from the unseen cards."""
    pairs = int(stats["pairs"][line])
    ranks = stats["ranks"][line]
    total = 0.0
    others = 52 - stats["seen"]
    for rank in range(13):
        if (ranks >> rank) & 1:
            copies = stats["unseen_by_rank"][rank]
            count = (stats["counts"][line] >> (4 * rank)) & 15
            if copies == 0:
                continue
            others -= copies
            total += copies * scores[CATEGORY_OF_PAIRS[pairs + count]]
    if pairs > 0:
        total += others * scores[CATEGORY_OF_PAIRS[pairs]]
    else:
        suited = stats["unseen_by_suit"][stats["suit"][line]] if stats["suit"][line] >= 0 else 0
        flushes = suited - straight_flush_outs - royal_outs
        straights = straight_outs - straight_flush_outs - royal_outs
        total += flushes * scores[FLUSH] + straights * scores[STRAIGHT]
        total += straight_flush_outs * scores[STRAIGHT_FLUSH] + royal_outs * scores[ROYAL_FLUSH]
        total += (others - suited - straights) * scores[HIGH_CARD]
    return total / (52 - stats["seen"])
