"""Action values in endgames: averages over sampled deals of the hidden cards, each solved exactly.

Each deal is solved with open hands (`open_hands_solver`). This averages over clairvoyance: players know all hands after
the current action, which overestimates their information.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.array_checks import checked_function
from cardlab.games.big2 import hidden_cards
from cardlab.games.big2.actions import (
    ACTION_POSITIONS,
    ACTION_SIZES,
    FLUSH,
    NO_KIND,
    NUM_ACTIONS,
    PASS,
    STRAIGHT_FLUSH,
    strength,
)
from cardlab.games.big2.game import Big2
from cardlab.games.big2.open_hands_solver import (
    BETWEEN,
    DOUBLED,
    HELD,
    LOWER,
    MAX_DEALS,
    NO_STRENGTH,
    SLOTS,
    UNBEATABLE,
    Ints,
    after_pass,
    after_play,
    current_outcome,
    list_plays,
    payoff,
    position_of,
    solve,
)
from cardlab.games.big2.rules import PLAYING, legal_actions
from cardlab.games.cards.deck import draw_seeds
from cardlab.games.cards.hands import lowest_bit
from cardlab.games.protocol import Bools, Floats, InfoStates, Players, States
from cardlab.games.record_arrays import take

MAX_CARDS_LEFT = 14  # of all players


@checked_function(Big2)
def solvable(info_states: InfoStates, players: Players) -> Bools:  # noqa: ARG001  one signature for all games
    """[G] whether few enough cards are left for `action_values`."""
    return (info_states["counts"].sum(axis=1) <= MAX_CARDS_LEFT) & (info_states["phase"] == PLAYING)


@checked_function(Big2)
def action_values(
    info_states: InfoStates,
    players: Players,  # noqa: ARG001  one signature for all games
    rng: np.random.Generator,
    num_samples: int,
    options: Mapping[str, Any] | None = None,
    weights: Floats | None = None,
) -> Floats:
    """[G, A] expected payoff to `players` [G], who move, of each action under best play; -inf where illegal.

    Values are means over `num_samples` deals of the unseen cards, shared by all actions; deals are uniform or by
    `weights` [G, 4, 52]. `options` are `GameSpec.options`; the default game's if None.
    """
    options = options or {}
    unbeatable = options.get("straight_flush") == "unbeatable"
    doubled = options.get("penalty") == "doubled"
    rows = np.repeat(np.arange(len(info_states)), num_samples)
    deals = take(info_states, rows)
    seeds = draw_seeds(len(deals), rng)
    if weights is None:
        hidden_cards.deal_unseen(deals, seeds)
    else:
        hidden_cards.deal_by_weights(deals, weights[rows], seeds)
    legal = legal_actions(info_states, unbeatable)
    return value_actions(States(deals), num_samples, legal, doubled, unbeatable)


@kernel
def value_actions(deals: States, num_samples: int, legal: Bools, doubled: bool, unbeatable: bool) -> Floats:
    """[G, A] mean payoffs of the `legal` [G, A] actions over the `deals` [G · num_samples] of each row; else -inf."""
    values = np.where(legal, 0.0, -np.inf).astype(np.float32)
    hands = np.empty((4, 14), dtype=np.int8)
    bits = np.empty(52, dtype=np.int64)
    dealt = np.zeros((3, 32), dtype=np.int64)
    dealt[HELD, DOUBLED] = doubled
    dealt[HELD, UNBEATABLE] = unbeatable
    plays = np.empty((4, NUM_ACTIONS, 2), dtype=np.int64)
    starts = np.empty((4, 6), dtype=np.int64)
    table = np.full((2, SLOTS), -1, dtype=np.int64)
    for deal in range(deals.shape[0]):
        if deal % MAX_DEALS == 0:
            table[0] = -1
        state = deals[deal]
        number_cards(state["place"], hands, bits, dealt)
        for player in range(4):
            list_plays(hands[player], int(state["counts"][player]), bits, plays[player], starts[player])
            find_interchangeable_cards(
                hands[player], int(state["counts"][player]), bits, plays[player, : starts[player, 0]], dealt
            )
        position = position_of_state(state, deal % MAX_DEALS, dealt)
        turn = position & 3
        for action in range(NUM_ACTIONS):
            if legal[deal // num_samples, action]:
                after = after_action(position, action, hands[turn], bits, plays, starts, unbeatable)
                outcome = current_outcome(after, dealt)
                if payoff(outcome, turn, doubled) <= 0:
                    outcome = solve(after, dealt, plays, starts, table)
                values[deal // num_samples, action] += payoff(outcome, turn, doubled)
    return values / np.float32(num_samples)


@kernel
def number_cards(place: NDArray[np.uint8], hands: NDArray[np.int8], bits: Ints, dealt: Ints) -> None:
    """Number the cards in play: write each player's cards to `hands` [4, 14], their bits to `bits` [52] and `dealt`."""
    counts = np.zeros(4, dtype=np.int64)
    bit = np.int64(1)
    dealt[HELD, :4] = 0
    for card in range(52):
        player = int(place[card])
        if player < 4:
            hands[player, counts[player]] = card
            counts[player] += 1
            bits[card] = bit
            dealt[HELD, player] |= bit
            bit <<= np.int64(1)


@kernel
def find_interchangeable_cards(hand: NDArray[np.int8], count: int, bits: Ints, plays: Ints, dealt: Ints) -> None:
    """Write the next lower card of each card of a hand, if the two can become interchangeable, and the cards between.

    Two cards are interchangeable when no remaining card lies between them, and they either have one rank and are in
    no flush, or are in no hand of more than one card. `plays` [rows, 2] are all hands of the player.
    """
    in_flush = 0
    grouped = 0
    for row in range(plays.shape[0]):
        cards = int(plays[row, 0])
        if cards & (cards - 1) != 0:
            grouped |= cards
        if plays[row, 1] // 52 in (FLUSH, STRAIGHT_FLUSH):
            in_flush |= cards
    for index in range(count):
        bit = int(bits[hand[index]])
        number = lowest_bit(bit)
        dealt[LOWER, number] = 0
        if index == 0:
            continue
        lower = int(bits[hand[index - 1]])
        one_rank = hand[index] >> 2 == hand[index - 1] >> 2
        if (bit | lower) & (in_flush if one_rank else grouped) == 0:
            dealt[LOWER, number] = lower
            dealt[BETWEEN, number] = (bit - 1) & ~(2 * lower - 1)


@kernel
def position_of_state(state: np.void, deal: int, dealt: Ints) -> int:
    """The position of a record for `open_hands_solver`."""
    turn = (int(state["opener"]) + int(state["moves"])) % 4
    kind = int(state["kind"])
    to_beat = NO_STRENGTH if kind == NO_KIND else strength(kind, int(state["key"]))
    remaining = int(dealt[HELD, 0] | dealt[HELD, 1] | dealt[HELD, 2] | dealt[HELD, 3])
    return position_of(deal, remaining, to_beat, int(state["passes"]), turn)


@kernel
def after_action(
    position: int, action: int, hand: NDArray[np.int8], bits: Ints, plays: Ints, starts: Ints, unbeatable: int
) -> int:
    """The position after `action` of the player to move, who holds `hand`."""
    if action == PASS:
        return after_pass(position, plays, starts, unbeatable)
    size = int(ACTION_SIZES[action])
    cards = 0
    for index in range(size):
        cards |= int(bits[hand[ACTION_POSITIONS[action, index]]])
    turn = position & 3
    row = int(starts[turn, size])
    while plays[turn, row, 0] != cards:
        row += 1
    return after_play(position, cards, int(plays[turn, row, 1]), plays, starts, unbeatable)
