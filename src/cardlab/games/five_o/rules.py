"""State record of Five-O Poker and the kernels of its rules.

`deck` holds the 40 cards to be placed, alternately from player 0: deck[turn] is face up, later cards are hidden, and
earlier cards are UNKNOWN here. `keys` are the sums of CARD_KEYS of the known cards of the columns
(games/cards/hands.py). `owner` is NO_PLAYER in a full state, else the player whose InfoState it is.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import Cards, cards_once, shuffle
from cardlab.games.cards.hands import CARD_KEYS, Int, Strengths, five_card_strength, hand_size

NUM_PLAYERS = 2
NUM_COLUMNS = 5
COLUMN_SIZE = 5
NUM_TURNS = 40
TURNS_PER_ROUND = 10  # each of the ten columns takes one card; round 1 is dealt

PLAYING, OVER, UNRESOLVED = 0, 1, 2

STATE = np.dtype(
    [
        ("keys", np.int32, (NUM_PLAYERS, NUM_COLUMNS)),
        ("columns", np.int8, (NUM_PLAYERS, NUM_COLUMNS, COLUMN_SIZE)),
        ("sizes", np.int8, (NUM_PLAYERS, NUM_COLUMNS)),  # cards in each column, unknown ones included
        ("deck", np.int8, NUM_TURNS),
        ("turn", np.int8),
        ("phase", np.int8),
        ("won", np.int8, NUM_PLAYERS),  # columns, once the game is over
        ("owner", np.int8),
    ]
)

Records = NDArray[np.void]  # [G] of STATE
Record = Any  # one row of Records inside a kernel


@kernel
def deal_records(decks: Cards, states: Records) -> None:
    """Fill `states` [G] with new games: decks[g, 0:5] to player 0, [5, 10) to player 1, then one card per turn."""
    for g in range(states.shape[0]):
        state = states[g]
        for player in range(NUM_PLAYERS):
            for column in range(NUM_COLUMNS):
                card = decks[g, NUM_COLUMNS * player + column]
                state["keys"][player, column] = CARD_KEYS[card]
                state["sizes"][player, column] = 1
                state["columns"][player, column, 0] = card
                for slot in range(1, COLUMN_SIZE):
                    state["columns"][player, column, slot] = -1
            state["won"][player] = 0
        for turn in range(NUM_TURNS):
            state["deck"][turn] = decks[g, NUM_PLAYERS * NUM_COLUMNS + turn]
        state["turn"] = 0
        state["phase"] = PLAYING
        state["owner"] = -1


@kernel
def round_of(turn: Int) -> int:
    """The round, 2 to 5, of `turn`: columns take their card of this number."""
    return turn // TURNS_PER_ROUND + 2


@kernel
def mover(state: Record, hidden_round: int) -> int:
    """Player who places the next card; -1 when the game is over, UNRESOLVED, or the next card is not drawn."""
    if state["phase"] != PLAYING:
        return -1
    turn = state["turn"]
    player = turn & 1
    # an afterstate: the owner's next card is not drawn yet
    if state["deck"][turn] < 0 and (round_of(turn) != hidden_round or state["owner"] == player):
        return -1
    return player


@kernel
def current_players(states: Records, hidden_round: int) -> NDArray[np.int8]:
    """[G] `mover` of each game."""
    players = np.empty(states.shape[0], dtype=np.int8)
    for g in range(states.shape[0]):
        players[g] = mover(states[g], hidden_round)
    return players


@kernel
def legal_columns(states: Records, hidden_round: int) -> NDArray[np.bool_]:
    """[G, 5] the mover's columns that lack the card of this round."""
    legal = np.empty((states.shape[0], NUM_COLUMNS), dtype=np.bool_)
    for g in range(states.shape[0]):
        state = states[g]
        player = mover(state, hidden_round)
        full = round_of(state["turn"])
        for column in range(NUM_COLUMNS):
            legal[g, column] = player >= 0 and state["sizes"][player, column] < full
    return legal


@kernel
def count_won(table: Strengths, keys: NDArray[np.integer[Any]], won: NDArray[np.int8]) -> None:
    """Add to `won` [2] the columns that each player wins; `keys` [2, 5] are those of complete columns."""
    for column in range(NUM_COLUMNS):
        first = five_card_strength(table, keys[0, column])
        second = five_card_strength(table, keys[1, column])
        if first != second:
            won[0 if first > second else 1] += 1


@kernel
def resolve_game(table: Strengths, state: Record) -> None:
    """Compare the columns after the last card; UNRESOLVED if one of them holds an unknown card."""
    state["phase"] = UNRESOLVED
    for player in range(NUM_PLAYERS):
        for column in range(NUM_COLUMNS):
            if hand_size(state["keys"][player, column]) < COLUMN_SIZE:
                return
    state["phase"] = OVER
    count_won(table, state["keys"], state["won"])


@kernel
def place(table: Strengths, states: Records, actions: NDArray[np.int16], hidden_round: int) -> None:
    """Put the next card, possibly unknown, on the mover's column actions[g]; resolve the game after the last card."""
    for g in range(states.shape[0]):
        state = states[g]
        player = mover(state, hidden_round)
        if player < 0:
            continue
        column = actions[g]
        turn = state["turn"]
        card = state["deck"][turn]
        if card >= 0:
            state["columns"][player, column, state["sizes"][player, column]] = card
            state["keys"][player, column] += CARD_KEYS[card]
            state["deck"][turn] = -1
        state["sizes"][player, column] += 1
        state["turn"] = turn + 1
        if turn + 1 == NUM_TURNS:
            resolve_game(table, state)


def are_valid(table: Strengths, states: Records) -> NDArray[np.bool_]:
    """[G] whether each record can occur."""
    columns, sizes, deck, turns = states["columns"], states["sizes"], states["deck"], states["turn"]
    placed = np.stack([(turns + 1) // 2, turns // 2], axis=1) + NUM_COLUMNS
    full = (turns // TURNS_PER_ROUND + 2)[:, None, None]
    empty = np.arange(COLUMN_SIZE) >= sizes[..., None]
    keys = np.where(columns >= 0, CARD_KEYS[np.clip(columns, 0, 51)], 0).sum(axis=3)
    valid = cards_once(columns, deck) & (turns >= 0) & (turns <= NUM_TURNS)
    valid &= (sizes.sum(axis=2) == placed).all(axis=1) & ((sizes == full) | (sizes == full - 1)).all(axis=(1, 2))
    valid &= (~empty | (columns < 0)).all(axis=(1, 2, 3)) & (keys == states["keys"]).all(axis=(1, 2))
    valid &= ((deck < 0) | (np.arange(NUM_TURNS) >= turns[:, None])).all(axis=1)
    unknown = (columns < 0).any(axis=(1, 2, 3))
    valid &= states["phase"] == np.where(turns < NUM_TURNS, PLAYING, np.where(unknown, UNRESOLVED, OVER))
    valid &= (states["owner"] >= -1) & (states["owner"] < NUM_PLAYERS)
    won = np.zeros((len(states), NUM_PLAYERS), dtype=np.int8)
    for row in np.flatnonzero(valid & (states["phase"] == OVER)):
        count_won(table, keys[row], won[row])
    return valid & (won == states["won"]).all(axis=1)


@kernel
def compute_payoffs(states: Records) -> NDArray[np.float32]:
    """[G, 2] ±1 for three columns or more; 0 for a draw and before the end."""
    payoffs = np.empty((states.shape[0], NUM_PLAYERS), dtype=np.float32)
    for g in range(states.shape[0]):
        won = states[g]["won"]
        payoffs[g, 0] = np.int64(won[0] >= 3) - np.int64(won[1] >= 3)
        payoffs[g, 1] = np.int64(won[1] >= 3) - np.int64(won[0] >= 3)
    return payoffs


@kernel
def list_unseen(state: Record, unseen: Cards) -> int:
    """Fill `unseen` [52] with the cards absent from the record, ascending; return their number."""
    seen = np.int64(0)
    for player in range(NUM_PLAYERS):
        for column in range(NUM_COLUMNS):
            for slot in range(COLUMN_SIZE):
                card = state["columns"][player, column, slot]
                if card >= 0:
                    seen |= np.int64(1) << np.int64(card)
    for turn in range(state["turn"], NUM_TURNS):
        card = state["deck"][turn]
        if card >= 0:
            seen |= np.int64(1) << np.int64(card)
    count = 0
    for card in range(52):
        if not seen >> card & 1:
            unseen[count] = card
            count += 1
    return count


@kernel
def card_holders(states: Records, hidden_round: int) -> NDArray[np.int8]:
    """[G, 52] the player who has each card in a column or to place; -1 for the cards in the deck."""
    holders = np.full((states.shape[0], 52), -1, dtype=np.int8)
    for g in range(states.shape[0]):
        state = states[g]
        for player in range(NUM_PLAYERS):
            for column in range(NUM_COLUMNS):
                for slot in range(COLUMN_SIZE):
                    card = state["columns"][player, column, slot]
                    if card >= 0:
                        holders[g, card] = player
        player = mover(state, hidden_round)
        if player >= 0 and state["deck"][state["turn"]] >= 0:
            holders[g, state["deck"][state["turn"]]] = player
    return holders


@kernel
def hide(states: Records, players: NDArray[np.int8], hidden_round: int) -> None:
    """Hide the deck from players[g], and until the end the opponent's cards of the hidden round."""
    for g in range(states.shape[0]):
        state = states[g]
        state["owner"] = players[g]
        if state["phase"] != PLAYING:
            continue
        opponent = 1 - players[g]
        turn = state["turn"]
        unseen = turn if round_of(turn) == hidden_round and turn & 1 == opponent else turn + 1
        for index in range(unseen, NUM_TURNS):
            state["deck"][index] = -1
        for column in range(NUM_COLUMNS):
            card = state["columns"][opponent, column, hidden_round - 1]
            if card >= 0:
                state["keys"][opponent, column] -= CARD_KEYS[card]
                state["columns"][opponent, column, hidden_round - 1] = -1


@kernel
def fill(table: Strengths, states: Records, seeds: NDArray[np.uint64], hidden_round: int) -> None:
    """Draw every unknown card uniformly from the unseen cards, by seeds[g]: face-down cards first, then the deck."""
    cards = np.empty(52, dtype=np.int8)
    slot = hidden_round - 1
    for g in range(states.shape[0]):
        state = states[g]
        count = list_unseen(state, cards)
        shuffle(cards, count, seeds[g])
        for player in range(NUM_PLAYERS):
            for column in range(NUM_COLUMNS):
                if state["sizes"][player, column] > slot and state["columns"][player, column, slot] < 0:
                    count -= 1
                    state["columns"][player, column, slot] = cards[count]
                    state["keys"][player, column] += CARD_KEYS[cards[count]]
        for turn in range(state["turn"], NUM_TURNS):
            if state["deck"][turn] < 0:
                count -= 1
                state["deck"][turn] = cards[count]
        state["owner"] = -1
        if state["phase"] == UNRESOLVED:
            resolve_game(table, state)
