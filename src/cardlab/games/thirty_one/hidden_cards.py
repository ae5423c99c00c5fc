"""Information of a player: hiding unknown cards, and sampling them.

A player knows the own cards, all cards in the discard pile, and the cards that others took from the pile and still
hold. After a reshuffle the player also knows which cards formed the stock, and how many hidden cards of each opponent
come from it. Cards drawn since do, cards held before do not.
"""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_CARDS, UNKNOWN, Cards, cards_once, hash_seed, shuffle
from cardlab.games.protocol import NO_PLAYER, Bools, Floats, Players
from cardlab.games.thirty_one.record import (
    HAND_SIZE,
    MAX_PLAYERS,
    MAX_STOCK,
    NUM_PHASES,
    OVER,
    SWAP,
    TURN,
    Record,
    Records,
    RuleOptions,
    card_bit,
    sort_hand,
)

ALL_CARDS = (1 << NUM_CARDS) - 1
ORDER_SALT, PICK_SALT, STATE_SEED_SALT = 1, 2, 3  # independent uses of one seed of `fill_hidden`


@kernel
def hide(states: Records, players: Players) -> Records:
    """[G] copies with what `players` [G] cannot know blanked. All hands are visible when the match is over."""
    info_states = np.empty_like(states)
    for g in range(states.shape[0]):
        info_states[g] = states[g]
        state = info_states[g]
        owner = players[g]
        state["owner"] = owner
        state["seed"] = 0
        state["stock"][:] = UNKNOWN
        phase = state["phase"]
        if phase == SWAP and state["player"] != owner and state["taken"] == 0:
            state["drawn"] = UNKNOWN
        if phase != OVER:
            for player in range(MAX_PLAYERS):
                if player != owner and state["lives"][player] > 0:
                    _hide_hand(state, player)
    return info_states


@kernel
def _hide_hand(state: Record, player: int) -> None:
    hand = state["hands"][player]
    from_stock = 0
    for i in range(HAND_SIZE):
        bit = card_bit(hand[i])
        if not state["visible"] & bit:
            from_stock += (state["restocked"] & bit) != 0
            hand[i] = UNKNOWN
    state["from_stock"][player] = from_stock
    sort_hand(hand)


@kernel
def known_cards(state: Record) -> int:
    """The set of cards that the owner of an InfoState can locate: in a hand, the discard pile or the pending swap."""
    known = state["discards"] | card_bit(state["drawn"])
    for player in range(MAX_PLAYERS):
        for i in range(HAND_SIZE):
            known |= card_bit(state["hands"][player, i])
    return known


@kernel
def fill_hidden(info_states: Records, seeds: NDArray[np.uint64], weights: Floats) -> Records:
    """[G] full copies of InfoStates, each a function of its seed [G].

    Without `weights` ([0, P, 52]) all assignments of the hidden cards are equally likely. With `weights` [G, P, 52]
    the hidden places of the hands are filled one by one: the first card of each hand, then the second, then the third.
    Each card is drawn from the remaining ones in proportion to its holder's weights (uniformly where all are 0).
    """
    pool = np.empty(NUM_CARDS, dtype=np.int8)
    states = np.empty_like(info_states)
    for g in range(states.shape[0]):
        states[g] = info_states[g]
        state = states[g]
        order_seed = hash_seed(seeds[g], np.uint64(ORDER_SALT))
        hidden = ALL_CARDS & ~known_cards(state)
        old = hidden & ~state["restocked"]
        count = _list_cards(pool, 0, old)
        shuffle(pool, count, order_seed)
        row = g if weights.shape[0] > 0 else -1
        pick_seed = hash_seed(seeds[g], np.uint64(PICK_SALT))
        count = _fill_hands(state, pool, count, weights, row, pick_seed, True)
        formed = hidden & state["restocked"]
        if formed != 0:
            count = _list_cards(pool, count, formed)
            shuffle(pool, count, hash_seed(order_seed, np.uint64(NUM_CARDS)))
        count = _fill_hands(state, pool, count, weights, row, hash_seed(pick_seed, np.uint64(NUM_CARDS)), False)
        _fill_rest(state, pool, count)
        state["seed"] = hash_seed(seeds[g], np.uint64(STATE_SEED_SALT))
        state["owner"] = NO_PLAYER
        state["from_stock"][:] = 0
    return states


def are_valid(states: Records, options: RuleOptions) -> Bools:
    """[G] whether each record can occur, as far as kernels depend on it."""
    hands, lives, stock, left = states["hands"], states["lives"], states["stock"], states["stock_left"]
    drawn, top, phase, player = states["drawn"], states["top"], states["phase"], states["player"]
    living, sets = lives > 0, {name: states[name] for name in ("discards", "visible", "restocked")}
    seats, playing = np.arange(MAX_PLAYERS), (phase == TURN) | (phase == SWAP)
    discards = sets["discards"][:, None] >> np.arange(NUM_CARDS) & 1
    piled = np.where(discards, np.arange(NUM_CARDS), UNKNOWN)
    known = (hands >= 0).sum(axis=(1, 2)) + discards.sum(axis=1) + (drawn >= 0)
    hidden = ((hands < 0) & living[..., None]).sum(axis=(1, 2)) + left
    hidden += ((drawn < 0) & (phase == SWAP)).astype(np.int64) + ((top < 0) & (phase == TURN))
    stocked = np.arange(MAX_STOCK) < left[:, None]
    valid = cards_once(hands, stock, piled, drawn[:, None]) & (phase >= 0) & (phase < NUM_PHASES)
    valid &= ((lives >= 0) & (~living | (seats < options.num_players))).all(axis=1) & (left >= 0) & (left <= MAX_STOCK)
    valid &= (living.sum(axis=1) >= np.where(phase == OVER, 0, 2)) & (known + hidden <= NUM_CARDS)
    valid &= np.where((states["owner"] == NO_PLAYER)[:, None], stocked == (stock >= 0), stock < 0).all(axis=1)
    valid &= ((top == UNKNOWN) | (piled == top[:, None]).any(axis=1)) & ((drawn == UNKNOWN) | (phase == SWAP))
    valid &= np.where(states["taken"] != 0, (states["taken"] == 1) & (phase == SWAP) & (drawn >= 0) & (top < 0), True)
    rows, caller = np.arange(len(states)), states["caller"]
    valid &= np.where(playing, living[rows, player % MAX_PLAYERS], player == NO_PLAYER) & (player < MAX_PLAYERS)
    valid &= ~playing | (caller == NO_PLAYER) | living[rows, caller % MAX_PLAYERS]
    for name in ("owner", "player", "caller", "starter"):
        valid &= (states[name] >= NO_PLAYER) & (states[name] < options.num_players)
    for cards in sets.values():
        valid &= (cards & ~ALL_CARDS) == 0
    for name in ("turns", "reshuffles", "draws", "takes", "calls", "call_scores", "from_stock"):
        valid &= (states[name].reshape(len(states), -1) >= 0).all(axis=1)
    valid &= (states["turns"] <= options.max_turns + MAX_PLAYERS) & (states["from_stock"] <= HAND_SIZE).all(axis=1)
    valid &= (states["round"] >= 1) & (states["round"] <= options.max_rounds) & np.isfinite(states["paid"]).all(axis=1)
    return valid


@kernel
def _list_cards(pool: Cards, count: int, cards: int) -> int:
    """Append the set `cards` to pool[0:count]; return the new count."""
    for card in range(NUM_CARDS):
        if cards & card_bit(card):
            pool[count] = card
            count += 1
    return count


@kernel
def _fill_hands(
    state: Record, pool: Cards, count: int, weights: Floats, row: int, seed: np.uint64, before_reshuffle: bool
) -> int:
    """Fill all hidden places, or only those held `before_reshuffle`, from pool[0:count]; return the new count."""
    for i in range(HAND_SIZE):
        for player in range(MAX_PLAYERS):
            hand = state["hands"][player]
            if state["lives"][player] == 0 or hand[i] >= 0 or count == 0:
                continue
            # hidden cards are first in a sorted hand, those from the stock before the others
            if before_reshuffle and i < state["from_stock"][player]:
                continue
            index = count - 1
            if row >= 0:
                uniform = hash_seed(seed, np.uint64(i * MAX_PLAYERS + player)) / 2.0**64
                index = _pick(pool, count, weights[row, player], uniform)
            hand[i] = pool[index]
            count -= 1
            pool[index] = pool[count]
    if not before_reshuffle:
        for player in range(MAX_PLAYERS):
            sort_hand(state["hands"][player])
    return count


@kernel
def _pick(pool: Cards, count: int, weights: Floats, uniform: float) -> int:
    """Index into pool[0:count], drawn in proportion to `weights` [52] of the cards there."""
    total = 0.0
    for i in range(count):
        total += weights[pool[i]]
    if total <= 0.0:
        return count - 1
    remaining = uniform * total
    for i in range(count):
        remaining -= weights[pool[i]]
        if remaining < 0.0:
            return i
    return count - 1


@kernel
def _fill_rest(state: Record, pool: Cards, count: int) -> None:
    """Fill the pending card, the stock, and hidden discards that `apply` made on an InfoState."""
    if state["phase"] == SWAP and state["drawn"] < 0 and count > 0:
        count -= 1
        state["drawn"] = pool[count]
    stock_size = min(count, state["stock_left"])
    for i in range(stock_size):
        count -= 1
        state["stock"][i] = pool[count]
    for i in range(count):
        state["discards"] |= card_bit(pool[i])
        if state["top"] < 0 and state["taken"] == 0:
            state["top"] = pool[i]


def find_holders(states: Records) -> NDArray[np.int8]:
    """[G, 52] who holds each card or has drawn it; NO_PLAYER for the stock and the discard pile."""
    holders = np.full((len(states), NUM_CARDS + 1), NO_PLAYER, dtype=np.int8)  # UNKNOWN is the last column
    hands = states["hands"].reshape(len(states), -1).astype(np.intp)
    np.put_along_axis(holders, hands, np.repeat(np.arange(MAX_PLAYERS), HAND_SIZE)[None], axis=1)
    holders[np.arange(len(states)), states["drawn"]] = states["player"]
    return holders[:, :NUM_CARDS]
