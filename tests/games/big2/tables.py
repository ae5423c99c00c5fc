"""What the tests of Big 2 share: decks with chosen hands, and whole legal masks from the reference."""

import numpy as np

from cardlab.games.big2.actions import NUM_ACTIONS, STRENGTH_ORDER, action_number
from cardlab.games.big2.rules import HIDDEN
from cardlab.games.cards.deck import parse_card
from games.big2.reference import RANKS, SUITS

TEXTS = [rank + suit for rank in RANKS for suit in SUITS]  # in Big 2's order


def deck_with(*hands):
    """A deck [1, 52] in which player p holds all cards of the text hands[p]; the rest falls in order."""
    wanted = [hand.split() for hand in hands] + [[] for _ in range(4 - len(hands))]
    rest = [card for card in TEXTS if not any(card in hand for hand in wanted)]
    deck = []
    for hand in wanted:
        missing = 13 - len(hand)
        deck += hand + rest[:missing]
        rest = rest[missing:]
    return np.array([[parse_card(card) for card in deck]], dtype=np.int8)


def hands_of(state):
    """The cards of each player of one record, as texts."""
    return [[TEXTS[card] for card in np.flatnonzero(state["place"] == player)] for player in range(4)]


def put_hand(state, player, cards, kind=-1, key=-1):
    """Make one record a position where `player` decides, holding `cards` (Big 2's order), all others hidden."""
    state["place"] = HIDDEN
    state["place"][cards] = player
    state["counts"] = 13
    state["counts"][player] = len(cards)
    state["opener"], state["moves"] = player, 0
    state["kind"], state["key"] = kind, key


def mask_of(positions):
    """The legal mask [1695] with these plays."""
    mask = np.zeros(NUM_ACTIONS, dtype=np.bool_)
    for play in positions:
        mask[action_number(play)] = True
    return mask


def cards_of(text):
    """Cards in Big 2's order from a text."""
    return [int(STRENGTH_ORDER[parse_card(card)]) for card in text.split()]
