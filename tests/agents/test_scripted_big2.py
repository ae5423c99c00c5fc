"""The scripted agents of Big 2: their rules, and what they score beside the sheet's reference figures."""

from functools import cache
from itertools import combinations

import numpy as np
import pytest

from cardlab.agents.registry import make_agent
from cardlab.evaluation.match import play_match
from cardlab.games.big2.actions import NO_KIND, NUM_ACTIONS
from cardlab.games.big2.game import Big2
from cardlab.games.big2.legal_actions import mark_legal
from cardlab.games.big2.plans import action_bits, count_plays
from cardlab.games.big2.rules import STATE_DTYPE
from cardlab.games.protocol import InfoStates
from games.big2.reference import name
from games.big2.tables import TEXTS, cards_of, put_hand

GAME = Big2()


def chosen(agent, cards, kind=-1, key=-1):
    """What `agent` plays from the cards of a text on a hand of `kind` and `key`."""
    state = np.zeros(1, dtype=STATE_DTYPE)
    put_hand(state[0], 0, cards_of(cards), kind, key)
    action = make_agent(GAME, agent).act(InfoStates(state), np.zeros(1, dtype=np.int8), np.random.default_rng(0))
    return GAME.action_text(state[0], int(action[0]))


@pytest.mark.parametrize(
    ("agent", "cards", "trick", "expected"),
    [
        ("lowest", "3c 3h 4d 5d 6d 7d 2s", (), "single 3c"),
        ("greedy", "3c 3h 4d 5d 6d 7d 2s", (), "straight 3c 4d 5d 6d 7d"),
        ("greedy", "3c 3h 5d 6d 7d 2s", (), "pair 3c 3h"),
        ("greedy", "3c 3h 5d 5c 7d 2s", (), "two pair 3c 3h 5d 5c"),
        ("lowest", "4c 9h 2s", (0, 6), "single 9h"),
        ("greedy", "4c 9h 2s", (0, 30), "single 2s"),
        ("planner", "4c 9h 2s", (0, 51), "pass"),
        ("planner", "3c 3h 4d 5d 6d 7d 2s", (), "straight 3c 4d 5d 6d 7d"),
        ("planner", "4c 5h 5s 2s", (0, 7), "single 2s"),  # keeps its pair
    ],
)
def test_rules(agent, cards, trick, expected):
    assert chosen(agent, cards, *trick) == expected


def test_fewest_plays_against_all_partitions():
    rng = np.random.default_rng(1)
    for _ in range(6):
        hand = np.sort(rng.choice(24, size=9, replace=False)).astype(np.int8)
        fewest = np.empty(1 << 13, dtype=np.int8)
        hand = np.append(hand, np.zeros(5, dtype=np.int8))
        count_plays(hand, 9, fewest)
        legal = np.zeros(NUM_ACTIONS, dtype=np.bool_)
        mark_legal(hand, 9, NO_KIND, -1, np.empty(14, dtype=np.int8), legal)
        least, whole = plays_to_empty(), (1 << 9) - 1
        for subset in {whole, *(whole ^ action_bits(action) for action in np.flatnonzero(legal))}:
            cards = tuple(TEXTS[card] for index, card in enumerate(hand) if subset >> index & 1)
            assert fewest[subset] == least(cards), cards


def plays_to_empty():
    """The least number of hands that sheds some cards, by trying every first hand."""

    @cache
    def least(cards):
        if not cards:
            return 0
        counts = [
            1 + least(tuple(card for card in cards if card not in play))
            for size in range(1, 6)
            for play in combinations(cards, size)
            if play[0] == cards[0] and name(play)
        ]
        return min(counts)

    return least


@pytest.mark.figures
@pytest.mark.parametrize(
    ("agent", "opponents", "reference"),
    [
        ("greedy", "random", 9.1),
        ("lowest", "random", 5.7),
        ("planner", "random", 10.0),
        ("planner", "greedy", 3.6),
    ],
)
def test_reference_figures(agent, opponents, reference):
    match = play_match(GAME, [agent, *[opponents] * 3], num_deals=10_000, seed=0)
    # The figures are given without an error; those of 10,000 single games would have one of 0.2 to 0.25.
    assert abs(match.mean - reference) < 0.25 + (match.interval[1] - match.mean)
