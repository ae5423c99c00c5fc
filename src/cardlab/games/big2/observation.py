"""Observations in named blocks: the paper's 412 inputs (`published`), and all public information (`full`).

Cards, ranks and suits are in Big 2's order; players are ordered by distance from the owner.
"""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.big2.actions import FLUSH, FULL_HOUSE, HAND_SIZE, STRAIGHT, STRAIGHT_FLUSH, classify
from cardlab.games.big2.legal_actions import find_ranks
from cardlab.games.big2.rules import HIDDEN, PLAYED, PLAYING, hand_bits, list_hand
from cardlab.games.protocol import AnyStates, Floats, InfoStates, Players, find_block, layout, width

PUBLISHED = layout(
    hand=(HAND_SIZE, 22),  # by position: rank 13, suit 4, part of a pair, three, four, straight, flush
    next_cards_left=(13,),  # one-hot, 1 to 13
    next_high_cards=(8,),  # has played A♦ … 2♠
    next_shown=(6,),  # has ever played a pair, three, four cards, straight, flush, full house
    across_cards_left=(13,),
    across_high_cards=(8,),
    across_shown=(6,),
    previous_cards_left=(13,),
    previous_high_cards=(8,),
    previous_shown=(6,),
    high_cards=(16,),  # Q♦ … 2♠ played by anyone
    rank=(13,),  # of the hand to beat, by its deciding card
    suit=(4,),  # of the deciding card; none for a full house
    control=(1,),
    kind=(8,),  # single … full house; a straight flush is both straight and flush
    passes=(3,),  # since the hand to beat was played: 0, 1, 2
)

FULL = layout(
    hand=(52,),
    played=(4, 52),  # who has played each card
    recency=(52,),  # 1 / (1 + tricks ago) of each card played: 1 in the current trick
    passed=(3, 9, 13),  # kind and rank of the hands that each opponent has passed on
    cards_left=(4, 13),  # one-hot, 1 to 13
    kind=(9,),  # of the hand to beat
    rank=(13,),
    suit=(4,),
    control=(1,),
    passes=(3,),
    beat_by=(4,),  # who played the hand to beat
    led_by=(4,),  # who led the current trick, or will lead it
    turn=(4,),  # who decides next
    phase=(3,),  # playing, over, unresolved
    tricks=(1,),  # completed, over 16
)

PRIVILEGED = layout(hands=(3, 52))  # of the opponents

_OTHERS = find_block(PUBLISHED, "next_cards_left").start
_OTHERS_WIDTH = find_block(PUBLISHED, "across_cards_left").start - _OTHERS
_PUBLISHED_WIDTH, _FULL_WIDTH = width(PUBLISHED), width(FULL)
_HIGH_CARDS, _RANK, _SUIT, _CONTROL, _KIND, _PASSES = (
    find_block(PUBLISHED, name).start for name in ("high_cards", "rank", "suit", "control", "kind", "passes")
)
_, _PLAYED_START, _RECENCY, _PASSED, _CARDS_LEFT, *_TRICK_STARTS, _TURN, _PHASE, _TRICKS = (
    block.start for block in FULL
)
_FULL_KIND, _FULL_RANK, _FULL_SUIT, _FULL_CONTROL, _FULL_PASSES, _BEAT_BY, _LED_BY = _TRICK_STARTS


@kernel
def observe_published(info_states: InfoStates, players: Players) -> Floats:
    """[G, 412] the paper's inputs."""
    out = np.zeros((info_states.shape[0], _PUBLISHED_WIDTH), dtype=np.float32)
    hand = np.empty(14, dtype=np.int8)
    starts = np.empty(14, dtype=np.int8)
    for g in range(info_states.shape[0]):
        state = info_states[g]
        place = state["place"]
        player = int(players[g])
        row = out[g]
        find_ranks(hand_bits(place, player), starts)
        _write_slots(hand, list_hand(place, player, hand), starts, row)
        for seat in range(1, 4):
            other = (player + seat) % 4
            start = _OTHERS + (seat - 1) * _OTHERS_WIDTH
            left = int(state["counts"][other])
            if left > 0:
                row[start + left - 1] = 1
            for bit in range(6):
                row[start + 21 + bit] = (state["shown"][other] >> bit) & 1
        _write_high_cards(place, int(state["opener"]), player, row)
        _write_hand_to_beat(int(state["kind"]), int(state["key"]), int(state["passes"]), row)
    return out


@kernel
def _write_slots(hand: NDArray[np.int8], count: int, starts: NDArray[np.int8], row: NDArray[np.float32]) -> None:
    suits = np.zeros(4, dtype=np.int64)
    for position in range(count):
        suits[hand[position] & 3] += 1
    run_start = 0
    for rank in range(13):
        if starts[rank] == starts[rank + 1]:
            run_start = rank + 1
        run_end = rank
        while run_end < 12 and starts[run_end + 1] < starts[run_end + 2]:
            run_end += 1
        same_rank = starts[rank + 1] - starts[rank]
        for position in range(starts[rank], starts[rank + 1]):
            slot = 22 * position
            suit = int(hand[position]) & 3
            row[slot + rank] = 1
            row[slot + 13 + suit] = 1
            row[slot + 17] = same_rank >= 2
            row[slot + 18] = same_rank >= 3
            row[slot + 19] = same_rank == 4
            row[slot + 20] = run_end - run_start >= 4
            row[slot + 21] = suits[suit] >= 5


@kernel
def _write_high_cards(place: NDArray[np.uint8], opener: int, player: int, row: NDArray[np.float32]) -> None:
    for card in range(36, 52):
        if place[card] < PLAYED:
            continue
        row[_HIGH_CARDS + card - 36] = 1
        seat = (opener + int(place[card]) - PLAYED - player) % 4
        if card >= 44 and seat > 0:
            row[_OTHERS + (seat - 1) * _OTHERS_WIDTH + 13 + card - 44] = 1


@kernel
def _write_hand_to_beat(kind: int, key: int, passes: int, row: NDArray[np.float32]) -> None:
    if kind < 0:
        row[_CONTROL] = 1
        return
    row[_RANK + (key >> 2)] = 1
    if kind != FULL_HOUSE:
        row[_SUIT + (key & 3)] = 1
    if kind == STRAIGHT_FLUSH:
        row[_KIND + STRAIGHT] = 1
        row[_KIND + FLUSH] = 1
    else:
        row[_KIND + kind] = 1
    row[_PASSES + passes] = 1


@kernel
def observe_full(info_states: InfoStates, players: Players) -> Floats:
    """[G, 761] all information of `players`."""
    out = np.zeros((info_states.shape[0], _FULL_WIDTH), dtype=np.float32)
    sizes = np.empty(256, dtype=np.int8)
    cards = np.empty((256, 5), dtype=np.int8)
    tricks = np.empty(256, dtype=np.int16)
    for g in range(info_states.shape[0]):
        state = info_states[g]
        player = int(players[g])
        opener = int(state["opener"])
        moves = int(state["moves"])
        row = out[g]
        _sort_by_move(state["place"], moves, sizes, cards)
        trick, leader = _write_passes(sizes, cards, moves, (opener - player) % 4, tricks, row)
        for card in range(52):
            location = int(state["place"][card])
            if location == player:
                row[card] = 1
            elif location >= PLAYED:
                move = location - PLAYED
                row[_PLAYED_START + 52 * ((opener + move - player) % 4) + card] = 1
                row[_RECENCY + card] = 1 / (1 + trick - tricks[move])
        for seat in range(4):
            left = int(state["counts"][(player + seat) % 4])
            if left > 0:
                row[_CARDS_LEFT + 13 * seat + left - 1] = 1
        row[_LED_BY + leader] = 1
        row[_TRICKS] = trick / 16
        row[_PHASE + int(state["phase"])] = 1
        _write_trick(state, (opener + moves - player) % 4, row)
    return out


@kernel
def _write_trick(state: np.void, turn: int, row: NDArray[np.float32]) -> None:
    """Write the hand to beat and the player to move, at distance `turn`."""
    if state["phase"] == PLAYING:
        row[_TURN + turn] = 1
    kind = int(state["kind"])
    if kind < 0:
        row[_FULL_CONTROL] = 1
        return
    key = int(state["key"])
    row[_FULL_KIND + kind] = 1
    row[_FULL_RANK + (key >> 2)] = 1
    row[_FULL_SUIT + (key & 3)] = 1
    passes = int(state["passes"])
    row[_FULL_PASSES + passes] = 1
    row[_BEAT_BY + (turn - 1 - passes) % 4] = 1


@kernel
def _sort_by_move(place: NDArray[np.uint8], moves: int, sizes: NDArray[np.int8], cards: NDArray[np.int8]) -> None:
    """Fill `sizes` and `cards` (ascending) of each move; size 0 for a pass."""
    sizes[:moves] = 0
    for card in range(52):
        if place[card] >= PLAYED:
            move = int(place[card]) - PLAYED
            cards[move, sizes[move]] = card
            sizes[move] += 1


@kernel
def _write_passes(
    sizes: NDArray[np.int8],
    cards: NDArray[np.int8],
    moves: int,
    opener: int,
    tricks: NDArray[np.int16],
    row: NDArray[np.float32],
) -> tuple[int, int]:
    """Fill the trick of each move and the block `passed`; return the current trick and its leader."""
    trick = 0
    leader = opener
    kind = key = passes = 0
    for move in range(moves):
        seat = (opener + move) % 4
        tricks[move] = trick
        if sizes[move] > 0:
            kind, key = classify(cards[move], int(sizes[move]))
            passes = 0
            continue
        if seat > 0:
            row[_PASSED + 117 * (seat - 1) + 13 * kind + (key >> 2)] = 1
        passes += 1
        if passes == 3:
            trick += 1
            leader = (seat + 1) % 4
            passes = 0
    return trick, leader


@kernel
def write_hands(states: AnyStates, players: Players) -> Floats:
    """[G, 156] the hands of the three players after `players`."""
    out = np.zeros((states.shape[0], 156), dtype=np.float32)
    for g in range(states.shape[0]):
        for card in range(52):
            location = int(states[g]["place"][card])
            seat = (location - int(players[g])) % 4
            if location < HIDDEN and seat > 0:
                out[g, 52 * (seat - 1) + card] = 1
    return out
