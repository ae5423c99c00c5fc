"""Rules of Thirty-One: the kernels that deal and play matches."""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_CARDS, UNKNOWN, hash_seed, shuffle
from cardlab.games.protocol import NO_PLAYER, Actions, Bools
from cardlab.games.thirty_one.record import (
    CALL,
    HAND_SIZE,
    KEEP_HAND,
    MAX_PLAYERS,
    MAX_STOCK,
    NUM_ACTIONS,
    OVER,
    SWAP,
    SWAP_FIRST,
    TAKE,
    TURN,
    UNRESOLVED,
    Record,
    Records,
    RuleOptions,
    card_bit,
    next_living,
    sort_hand,
)
from cardlab.games.thirty_one.showdown import match_ends, pay_match, settle_round

LIVES_SALT = 0  # rounds use the salts 1, 2, …
SEATS_SALT = MAX_PLAYERS  # above the salts of the players' lives
RESHUFFLE_SALT = 64  # above the 52 salts of `shuffle`


@kernel
def deal_matches(states: Records, decks: NDArray[np.int8], seeds: NDArray[np.uint64], options: RuleOptions) -> None:
    """Fill `states` [G], all zero, with new matches; `decks` [G, 52] is the first round."""
    for g in range(states.shape[0]):
        state = states[g]
        state["seed"] = seeds[g]
        state["owner"] = NO_PLAYER
        state["round"] = 1
        lives_seed = hash_seed(seeds[g], np.uint64(LIVES_SALT))
        num_seated = options.num_players
        if options.some_active:
            num_seated = _draw_num_players(lives_seed, options.num_players, options.one_round)
        for player in range(num_seated):
            lives = options.lives
            if options.one_round:
                lives = 1 + np.int64(hash_seed(lives_seed, np.uint64(player)) % np.uint64(options.lives))
            state["lives"][player] = lives
        state["starter"] = 0
        _deal_round(state, decks[g])


@kernel
def _draw_num_players(seed: np.uint64, num_players: int, one_round: bool) -> int:
    """A number of players from two to all. Small numbers are more frequent, since their games have fewer decisions.

    Single rounds use the smaller of two uniform draws; whole matches have k players with probability ∝ 1 / k³.
    """
    if one_round:
        smaller = num_players
        for draw in range(2):
            extra = hash_seed(seed, np.uint64(SEATS_SALT + draw)) % np.uint64(num_players - 1)
            smaller = min(smaller, 2 + int(extra))
        return smaller
    total = 0.0
    for size in range(2, num_players + 1):
        total += 1.0 / size**3
    left = total * np.float64(hash_seed(seed, np.uint64(SEATS_SALT)) >> np.uint64(11)) / 2.0**53
    for size in range(2, num_players):
        left -= 1.0 / size**3
        if left < 0:
            return size
    return num_players


@kernel
def _deal_round(state: Record, cards: NDArray[np.int8]) -> None:
    """Start a round with `cards` [52]: the k-th living player gets the k-th triple, then the first discard follows."""
    dealt = 0
    for player in range(MAX_PLAYERS):
        hand = state["hands"][player]
        if state["lives"][player] > 0:
            for i in range(HAND_SIZE):
                hand[i] = cards[dealt + i]
            sort_hand(hand)
            dealt += HAND_SIZE
        else:
            hand[:] = UNKNOWN
    state["top"] = cards[dealt]
    state["discards"] = card_bit(cards[dealt])
    left = NUM_CARDS - 1 - dealt
    stock = state["stock"]
    for i in range(left):
        stock[i] = cards[NUM_CARDS - 1 - i]
    for i in range(left, MAX_STOCK):
        stock[i] = UNKNOWN
    state["stock_left"] = left
    state["visible"] = 0
    state["restocked"] = 0
    state["reshuffles"] = 0
    state["turns"] = 0
    state["drawn"] = UNKNOWN
    state["taken"] = 0
    state["caller"] = NO_PLAYER
    state["player"] = state["starter"]
    state["phase"] = TURN


@kernel
def mark_legal(states: Records) -> Bools:
    """[G, A] legal actions of the player to move."""
    legal = np.zeros((states.shape[0], NUM_ACTIONS), dtype=np.bool_)
    for g in range(states.shape[0]):
        state = states[g]
        phase = state["phase"]
        if phase == TURN:
            legal[g, :CALL] = True
            legal[g, CALL] = state["caller"] == NO_PLAYER
        elif phase == SWAP:
            legal[g, SWAP_FIRST:KEEP_HAND] = True
            legal[g, KEEP_HAND] = state["taken"] == 0
    return legal


@kernel
def apply_actions(states: Records, actions: Actions, options: RuleOptions) -> None:
    """Play `actions` [G] in place; rows without a player to move do not change."""
    cards = np.empty(NUM_CARDS, dtype=np.int8)
    for g in range(states.shape[0]):
        state = states[g]
        action = actions[g]
        phase = state["phase"]
        if phase == SWAP:
            _swap(state, action)
            _end_turn(state, options, cards)
        elif phase == TURN:
            if action == CALL:
                state["caller"] = state["player"]
                state["calls"][state["player"]] += 1
                if state["turns"] == 0:  # a call in the first turn ends the round at once
                    _end_round(state, options, cards)
                else:
                    _end_turn(state, options, cards)
            elif action == TAKE:
                _take(state)
            else:
                _draw(state)


@kernel
def _take(state: Record) -> None:
    state["takes"][state["player"]] += 1
    bit = card_bit(state["top"])
    state["discards"] &= ~bit
    state["visible"] |= bit
    state["drawn"] = state["top"]
    state["taken"] = 1
    state["top"] = UNKNOWN
    state["phase"] = SWAP


@kernel
def _draw(state: Record) -> None:
    state["draws"][state["player"]] += 1
    if state["stock_left"] == 0:
        _reshuffle(state)
    left = max(state["stock_left"] - 1, 0)
    state["drawn"] = state["stock"][left]
    state["stock"][left] = UNKNOWN
    state["stock_left"] = left
    state["phase"] = SWAP


@kernel
def _reshuffle(state: Record) -> None:
    """Make a new stock from the discard pile below its top card."""
    top = card_bit(state["top"])
    cards = state["discards"] & ~top
    state["discards"] = top
    state["restocked"] = cards
    state["from_stock"][:] = 0
    stock = state["stock"]
    count = 0
    for card in range(NUM_CARDS):
        if cards & card_bit(card):
            stock[count] = card if state["owner"] == NO_PLAYER else UNKNOWN
            count += 1
    state["stock_left"] = count
    state["reshuffles"] += 1
    round_seed = hash_seed(state["seed"], np.uint64(state["round"]))
    shuffle(stock, count, hash_seed(round_seed, np.uint64(RESHUFFLE_SALT + state["reshuffles"])))


@kernel
def _swap(state: Record, action: int) -> None:
    """Swap the drawn card into the hand, or keep the hand; the outgoing card becomes the top of the discard pile."""
    card = state["drawn"]
    outgoing = card
    player = state["player"]
    if action != KEEP_HAND:
        hand = state["hands"][player]
        outgoing = hand[action - SWAP_FIRST]
        hand[action - SWAP_FIRST] = card
        sort_hand(hand)
    bit = card_bit(outgoing)
    if state["owner"] != NO_PLAYER and state["restocked"] != 0 and action != KEEP_HAND:
        _count_from_stock(state, card)
    state["visible"] &= ~bit
    state["discards"] |= bit
    state["top"] = outgoing
    state["drawn"] = UNKNOWN
    state["taken"] = 0


@kernel
def _count_from_stock(state: Record, card: int) -> None:
    """Update `from_stock` of the player to move, in an InfoState, after a swap for `card`.

    The outgoing hidden card is unknown: one held before the reshuffle is assumed while there is any.
    """
    player = state["player"]
    hidden = 0
    for i in range(HAND_SIZE):
        hidden += state["hands"][player, i] < 0
    gained = 1 if card < 0 and state["taken"] == 0 else 0
    state["from_stock"][player] = min(state["from_stock"][player] + gained, hidden)


@kernel
def _end_turn(state: Record, options: RuleOptions, cards: NDArray[np.int8]) -> None:
    state["turns"] += 1
    next_player = next_living(state, state["player"])
    caller = state["caller"]
    if next_player == caller or (caller == NO_PLAYER and state["turns"] >= options.max_turns):
        _end_round(state, options, cards)
    else:
        state["player"] = next_player
        state["phase"] = TURN


@kernel
def _end_round(state: Record, options: RuleOptions, cards: NDArray[np.int8]) -> None:
    """Settle the round, then deal the next round or end the match; `cards` [52] is scratch space.

    An InfoState settles only if the match ends and no hidden card decides, since its owner cannot see the next deal.
    """
    state["player"] = NO_PLAYER
    ends = match_ends(state, options)
    if state["owner"] != NO_PLAYER and not ends:
        state["phase"] = UNRESOLVED
        return
    settle_round(state, options)
    if ends:
        if not options.shaped:
            pay_match(state, options.num_players)
        state["phase"] = OVER
        return
    state["round"] += 1
    state["starter"] = next_living(state, state["starter"])
    for card in range(NUM_CARDS):
        cards[card] = card
    shuffle(cards, NUM_CARDS, hash_seed(state["seed"], np.uint64(state["round"])))
    _deal_round(state, cards)
