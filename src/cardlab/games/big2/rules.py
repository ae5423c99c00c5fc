"""Rules of Big 2: the record of one game and its kernels.

Every decision, including a pass, passes the turn to the next player. So the move number of each played card determines
who played it, its trick, and who passed on it: one byte per card holds the whole history.
"""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.big2.actions import (
    ACTION_POSITIONS,
    ACTION_SIZES,
    DECK_CARD,
    FLUSH,
    FOUR,
    FULL_HOUSE,
    HAND_SIZE,
    LOWEST_CARD,
    NO_KIND,
    NUM_ACTIONS,
    NUMBER_OF_BITS,
    PAIR,
    SINGLE,
    STRAIGHT,
    STRAIGHT_FLUSH,
    STRENGTH_ORDER,
    THREE,
    classify,
)
from cardlab.games.big2.legal_actions import keep_first_position, list_legal
from cardlab.games.cards.deck import Cards
from cardlab.games.cards.hands import count_bits, lowest_bit
from cardlab.games.protocol import Actions, AnyStates, Bools, Floats, Players, Starts, States

NUM_PLAYERS = 4

HIDDEN = 4  # place of a card hidden from the owner of an InfoState; 0 … 3 is a player's hand
PLAYED = 5  # PLAYED + t is the place of a card played at move t

PLAYING, OVER, UNRESOLVED = range(3)

SHOWN_PAIR, SHOWN_THREE, SHOWN_FOUR_CARDS, SHOWN_STRAIGHT, SHOWN_FLUSH, SHOWN_FULL_HOUSE = (
    1 << bit for bit in range(6)
)

STATE_DTYPE = np.dtype(
    [
        ("place", np.uint8, (52,)),  # of each card in Big 2's order: a player's hand, HIDDEN, or PLAYED + move
        ("counts", np.int8, (4,)),  # cards left to each player
        ("shown", np.uint8, (4,)),  # SHOWN_… bits of the kinds that each player has played
        ("opener", np.int8),  # who made move 0
        ("moves", np.uint8),  # moves made, passes and a forced opening included
        ("kind", np.int8),  # of the hand to beat; NO_KIND with control
        ("key", np.int8),  # its deciding card; -1 with control
        ("passes", np.int8),  # since the hand to beat was played
        ("phase", np.int8),  # PLAYING, OVER or UNRESOLVED
    ]
)

_SHOWN = np.zeros(9, dtype=np.uint8)
_SHOWN[PAIR] = SHOWN_PAIR
_SHOWN[THREE] = SHOWN_THREE
_SHOWN[3 : FOUR + 1] = SHOWN_FOUR_CARDS
_SHOWN[STRAIGHT] = SHOWN_STRAIGHT
_SHOWN[FLUSH] = SHOWN_FLUSH
_SHOWN[FULL_HOUSE] = SHOWN_FULL_HOUSE
_SHOWN[STRAIGHT_FLUSH] = SHOWN_STRAIGHT | SHOWN_FLUSH


@kernel
def deal(states: States, decks: Cards, forced_opening: bool) -> None:
    """Fill `states` [G]: player p gets decks[g, 13p : 13p + 13]; the 3♦ opens, already played if `forced_opening`."""
    for g in range(states.shape[0]):
        state = states[g]
        place = state["place"]
        for position in range(52):
            place[STRENGTH_ORDER[decks[g, position]]] = position // 13
        for player in range(4):
            state["counts"][player] = 13
            state["shown"][player] = 0
        opener = place[LOWEST_CARD]
        state["opener"] = opener
        state["moves"] = 0
        state["kind"] = NO_KIND
        state["key"] = -1
        state["passes"] = 0
        state["phase"] = PLAYING
        if forced_opening:
            place[LOWEST_CARD] = PLAYED
            state["counts"][opener] = 12
            state["moves"] = 1
            state["kind"] = SINGLE
            state["key"] = LOWEST_CARD


@kernel
def history(states: States, forced_opening: bool) -> tuple[Cards, Actions]:
    """Decks [G, 52] and actions [G, T], behind the last -1, from which `deal` and `apply` make `states`."""
    first = int(forced_opening)  # this move is made by `deal`
    longest = first
    for g in range(states.shape[0]):
        longest = max(longest, int(states[g]["moves"]))
    decks = np.empty((states.shape[0], 52), dtype=np.int8)
    actions = np.full((states.shape[0], longest - first), -1, dtype=np.int16)
    before = np.empty(4, dtype=np.int64)  # cards of each player below the present one
    for g in range(states.shape[0]):
        place, opener, moves = states[g]["place"], int(states[g]["opener"]), int(states[g]["moves"])
        before[:] = 0
        for card in range(52):
            at = int(place[card])
            owner = at if at < HIDDEN else (opener + at - PLAYED) % 4
            decks[g, 13 * owner + before[owner]] = DECK_CARD[card]
            before[owner] += 1
        for move in range(first, moves):
            player, position, bits = (opener + move) % 4, 0, 0
            for card in range(52):
                at = int(place[card])
                if at == player or (at >= PLAYED + move and (at - PLAYED - move) % 4 == 0):
                    bits |= int(at == PLAYED + move) << position
                    position += 1
            actions[g, move - first] = NUMBER_OF_BITS[bits]
    return decks, actions


@kernel
def current_player(states: AnyStates) -> Players:
    """[G] who decides next, -1 for no one."""
    players = np.empty(states.shape[0], dtype=np.int8)
    for g in range(states.shape[0]):
        state = states[g]
        playing = state["phase"] == PLAYING
        players[g] = (int(state["opener"]) + int(state["moves"])) % 4 if playing else -1
    return players


@kernel
def hand_bits(place: NDArray[np.uint8], player: int) -> int:
    """The cards of `player`, one bit per card."""
    bits = 0
    for card in range(52):
        bits |= int(place[card] == player) << card
    return bits


@kernel
def list_hand(place: NDArray[np.uint8], player: int, hand: NDArray[np.int8]) -> int:
    """Write the cards of `player` to `hand` [at least 13] in ascending order; return their number."""
    cards = hand_bits(place, player)
    count = count_bits(cards)
    for position in range(HAND_SIZE):  # always thirteen: faster without a branch; those from `count` on mean nothing
        hand[position] = lowest_bit(cards | 1 << 52)
        cards &= cards - 1
    return count


@kernel
def list_legal_actions(states: AnyStates, unbeatable: bool) -> tuple[Actions, Starts]:
    """Legal actions [K], ascending in each game, and their starts [G + 1].

    `unbeatable`: nothing beats a straight flush.
    """
    rank_starts = np.empty(14, dtype=np.int8)
    starts = np.zeros(states.shape[0] + 1, dtype=np.int64)
    actions = np.empty(16 * states.shape[0] + NUM_ACTIONS, dtype=np.int16)
    num = 0
    for g in range(states.shape[0]):
        state = states[g]
        if num + NUM_ACTIONS > actions.size:
            actions = np.concatenate((actions, np.empty_like(actions)))
        if state["phase"] == PLAYING:
            kind = int(state["kind"])
            player = (int(state["opener"]) + int(state["moves"])) % 4
            hand = 0 if unbeatable and kind == STRAIGHT_FLUSH else hand_bits(state["place"], player)
            num = list_legal(hand, kind, int(state["key"]), rank_starts, actions, num)
            if hand & 1:
                num = keep_first_position(actions, int(starts[g]), num)
        starts[g + 1] = num
    return actions[:num], starts


@kernel
def legal_actions(states: AnyStates, unbeatable: bool) -> Bools:
    """[G, A] legal actions of the current player."""
    legal = np.zeros((states.shape[0], NUM_ACTIONS), dtype=np.bool_)
    actions, starts = list_legal_actions(states, unbeatable)
    for g in range(states.shape[0]):
        for place in range(starts[g], starts[g + 1]):
            legal[g, actions[place]] = True
    return legal


@kernel
def hidden_choices(states: AnyStates) -> Bools:
    """[G] whether cards of the current player are HIDDEN."""
    hidden = np.zeros(states.shape[0], dtype=np.bool_)
    hand = np.empty(14, dtype=np.int8)
    for g in range(states.shape[0]):
        state = states[g]
        player = (int(state["opener"]) + int(state["moves"])) % 4
        hidden[g] = list_hand(state["place"], player, hand) < state["counts"][player]
    return hidden


@kernel
def apply(states: AnyStates, actions: Actions) -> None:
    """Play `actions` [G] in place; an InfoState becomes UNRESOLVED when hidden cards are played."""
    hand = np.empty(14, dtype=np.int8)
    cards = np.empty(5, dtype=np.int8)
    for g in range(states.shape[0]):
        state = states[g]
        if state["phase"] != PLAYING:
            continue
        player = (int(state["opener"]) + int(state["moves"])) % 4
        size = int(ACTION_SIZES[actions[g]])
        if size == 0:
            _pass(state)
            continue
        place = state["place"]
        if list_hand(place, player, hand) < state["counts"][player]:
            state["phase"] = UNRESOLVED
            continue
        moves = int(state["moves"])
        for index in range(size):
            cards[index] = hand[ACTION_POSITIONS[actions[g], index]]
            place[cards[index]] = PLAYED + moves
        kind, key = classify(cards, size)
        state["kind"] = kind
        state["key"] = key
        state["passes"] = 0
        state["moves"] = moves + 1
        state["shown"][player] |= _SHOWN[kind]
        state["counts"][player] -= size
        if state["counts"][player] == 0:
            state["phase"] = OVER


@kernel
def _pass(state: np.void) -> None:
    """Pass; the third pass in a row gives control to the next player, who played last."""
    state["moves"] += 1
    state["passes"] += 1
    if state["passes"] == 3:
        state["kind"] = NO_KIND
        state["key"] = -1
        state["passes"] = 0


@kernel
def loser_payment(left: int, doubled: int) -> int:
    """The payment of a loser for the cards left; `doubled`: ×2 from 10 cards, ×3 at 13."""
    if doubled and left >= 10:
        return 3 * left if left == 13 else 2 * left
    return left


@kernel
def payoffs(states: AnyStates, doubled: bool) -> Floats:
    """[G, 4] each loser's payment, negative, and their sum to the winner; 0 before the end."""
    paid = np.zeros((states.shape[0], 4), dtype=np.float32)
    for g in range(states.shape[0]):
        if states[g]["phase"] != OVER:
            continue
        total = 0
        winner = 0
        for player in range(4):
            left = int(states[g]["counts"][player])
            if left == 0:
                winner = player
            payment = loser_payment(left, doubled)
            paid[g, player] = -payment
            total += payment
        paid[g, winner] = total
    return paid


def holders(states: AnyStates) -> NDArray[np.int8]:
    """[G, 52] who has each card of the deck in hand, -1 for no one or if hidden."""
    who = np.empty((len(states), 52), dtype=np.int8)
    who[:, DECK_CARD] = np.where(states["place"] < HIDDEN, states["place"], -1)
    return who
