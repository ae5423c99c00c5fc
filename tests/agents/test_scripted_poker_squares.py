"""The flush agent: its rule, and its score and random's score against the reference figures."""

import numpy as np
import pytest

from cardlab.agents.registry import make_agent
from cardlab.core.messages import InvalidOption
from cardlab.games.cards.deck import parse_card, parse_cards
from cardlab.games.loop import play_out
from cardlab.games.poker_squares.game import PokerSquares
from cardlab.games.poker_squares.rules import STATE
from cardlab.games.protocol import InfoStates

GAME = PokerSquares()


def position(cells, card):
    """A decision with the cards `cells` (cell → text), as one record [1]."""
    state = np.zeros(1, dtype=STATE)
    state["grid"], state["deck"], state["turn"] = -1, -1, len(cells)
    for cell, text in cells.items():
        state["grid"][0, cell] = parse_card(text)
    state["deck"][0, len(cells)] = parse_card(card)
    return InfoStates(state)


def choices(cells, card, agent="flush"):
    """All cells that the agent can choose."""
    many = InfoStates(np.repeat(position(cells, card), 400))
    actions = make_agent(GAME, agent).act(many, np.zeros(400, dtype=np.int8), np.random.default_rng(0))
    assert actions.dtype == np.int16
    return sorted(set(actions.tolist()))


FULL_HEARTS = dict(zip(range(0, 25, 5), ["2h", "4h", "6h", "8h", "Th"], strict=True))
FULL_SPARE = dict(zip(range(4, 25, 5), ["3h", "5h", "7h", "9h", "Jh"], strict=True))


@pytest.mark.parametrize(
    ("cells", "card", "agent", "expected"),
    [
        ({}, "Kh", "flush", [0, 5, 10, 15, 20]),  # the first column starts a suit
        ({0: "2h"}, "Kh", "flush", [5, 10, 15, 20]),
        ({0: "2h"}, "Ks", "flush", [1, 6, 11, 16, 21]),
        ({0: "2h", 5: "3s"}, "Ks", "flush", [1, 6, 11, 16, 21]),  # a mixed column collects nothing
        (FULL_HEARTS, "Kh", "flush", [4, 9, 14, 19, 24]),  # no room: the spare column
        (FULL_HEARTS | FULL_SPARE, "Kh", "flush", [c for c in range(25) if c % 5 in (1, 2, 3)]),
        ({0: "2h", 6: "Ks"}, "Kh", "flush:ranks:spare", [5, 10, 15, 20]),
        ({0: "2h", 6: "Ks"}, "Kh", "flush:ranks:always", [5]),  # beside the other king
        (FULL_HEARTS | {6: "Ks"}, "Kh", "flush:ranks:spare", [9]),
        (FULL_HEARTS | {6: "Ks"}, "Kh", "flush", [4, 9, 14, 19, 24]),
        (FULL_HEARTS | FULL_SPARE | {6: "Ks"}, "Kh", "flush:ranks:spare", [7, 8]),
    ],
)
def test_rule(cells, card, agent, expected):
    assert choices(cells, card, agent) == expected


def test_text_of_the_cards_is_right():
    assert parse_cards("2h 4h").tolist() == [2, 10]


def test_wrong_option():
    with pytest.raises(InvalidOption, match=r"agent\.ranks"):
        make_agent(GAME, "flush:ranks:never")


def mean_score(agent, num_deals):
    """Mean payoff and its standard error."""
    rng = np.random.default_rng(5)
    states = GAME.deal(num_deals, rng)
    play_out(GAME, states, [make_agent(GAME, agent)], rng)
    scores = GAME.payoffs(states)[:, 0].astype(np.float64)
    return scores.mean(), scores.std() / num_deals**0.5


# Agent, reference and its error (the last two are measured on 1,000,000 deals).
@pytest.mark.figures
@pytest.mark.parametrize(
    ("agent", "reference", "error"),
    [
        ("random", 14.45, 0.05),
        ("flush", 80.9, 0.1),
        ("flush:ranks:spare", 84.3, 0.02),
        ("flush:ranks:always", 102.37, 0.03),
    ],
)
def test_reference_figures(agent, reference, error):
    mean, own_error = mean_score(agent, 200_000)
    assert abs(mean - reference) < 3 * np.hypot(error, own_error)
