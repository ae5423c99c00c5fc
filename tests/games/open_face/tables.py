"""Open-face positions written as boards."""

import numpy as np

from cardlab.games.cards.deck import card_text, parse_cards
from cardlab.games.open_face import rules
from cardlab.games.open_face.game import OpenFace
from cardlab.games.protocol import InfoStates, States
from games.open_face.reference import Reference

GAME = OpenFace()


def table_of(board, other, rest=()):
    """[1] states in which player 0 has placed `board` and player 1 `other`: rows `front | middle | back` as texts.

    Cards are placed front to back as far as the order of play allows; the deck continues with `rest`.
    """
    placements = [
        [(card, row) for row, cards in enumerate(text.split("|")) for card in parse_cards(cards)]
        for text in (board, other)
    ]
    order = [rules.owner(index) for index in range(rules.NUM_DEALT)]
    num_placed = sum(map(len, placements))
    assert [order[:num_placed].count(player) for player in range(2)] == [len(cards) for cards in placements]
    queues = [iter(cards) for cards in placements]
    steps = [next(queues[player]) for player in order[:num_placed]]
    first = [card for card, _ in steps] + list(parse_cards(" ".join(rest)))
    deck = first + [card for card in range(52) if card not in first]
    states = GAME.deal(1, np.random.default_rng(0), decks=np.array([deck], dtype=np.int8))
    for _, row in steps:
        GAME.apply(states, np.array([row], dtype=np.int16))
    return states


def points(board, other):
    """Points of player 0 with these complete boards."""
    states = table_of(board, other)
    assert GAME.is_over(states).all()
    first, second = GAME.payoffs(states)[0]
    assert first == -second
    return first


def replay(deck, choices):
    """States after each decision, [1] each, with the plain reference; `choices` select legal rows."""
    states = GAME.deal(1, np.random.default_rng(0), decks=np.array([deck], dtype=np.int8))
    plain = Reference([card_text(card) for card in deck])
    yield states, plain
    for choice in choices:
        legal = plain.legal()
        row = legal[choice % len(legal)]
        plain.place(row)
        GAME.apply(states, np.array([row], dtype=np.int16))
        yield states, plain


def known(states, player=0):
    """[1] InfoStates of `player`."""
    return GAME.information(States(states), np.array([player], dtype=np.int8))


def complete(info_states: InfoStates, rng):
    """Games completed by random cards in random rows."""
    states = GAME.determinize(info_states, np.zeros(len(info_states), dtype=np.int8), rng)
    while not GAME.is_over(states).all():
        legal = GAME.legal_actions(states)
        GAME.apply(states, np.where(legal, rng.random(legal.shape), -1).argmax(axis=1).astype(np.int16))
    return states
