"""Options and texts of Poker Squares."""

import pickle

import numpy as np
import pytest

from cardlab.core.messages import InvalidOption
from cardlab.games.make_game import make_game
from cardlab.games.poker_squares.game import SCORING, PokerSquares, payoff_range
from cardlab.games.protocol import Game
from games.poker_squares.slow_rules import AMERICAN, BRITISH


def test_scoring_systems_match_the_specification():
    assert {"american": tuple(AMERICAN), "british": tuple(BRITISH)} == SCORING


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"scoring": "french"}, "game.scoring"),
        ({"features": "pixels"}, "game.features"),
        ({"scoring": "custom"}, "game.custom_scores"),
        ({"scoring": "custom", "custom_scores": [1] * 9}, "game.custom_scores"),
        ({"scoring": "custom", "custom_scores": [1] * 9 + [128]}, "game.custom_scores"),
        ({"scoring": "custom", "custom_scores": [1] * 9 + [-129]}, "game.custom_scores"),
        ({"scoring": "custom", "custom_scores": [1] * 9 + [0.5]}, "game.custom_scores"),
        ({"scoring": "custom", "custom_scores": [1] * 9 + [True]}, "game.custom_scores"),
        ({"scoring": "custom", "custom_scores": 5}, "game.custom_scores"),
        ({"custom_scores": [1] * 10}, "game.custom_scores"),
    ],
)
def test_wrong_options_name_their_key(options, key):
    with pytest.raises(InvalidOption) as raised:
        make_game("poker_squares", **options)
    assert raised.value.key.partition("[")[0] == key
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("scores", [[-128] * 10, [127] * 10, [*range(9), -128], AMERICAN])
def test_custom_scores(scores):
    game = PokerSquares(scoring="custom", custom_scores=scores)
    assert isinstance(game, Game)
    assert game.scores.tolist() == scores
    assert hash(game) == hash(PokerSquares(scoring="custom", custom_scores=tuple(scores)))
    assert pickle.loads(pickle.dumps(game)) == game


def test_empty_custom_scores_are_left_out():
    assert PokerSquares(custom_scores=[]) == PokerSquares()


@pytest.mark.parametrize(
    ("scores", "bounds"),
    [
        (AMERICAN, (0, 725)),
        (BRITISH, (0, 230)),
        ([-1, 0, 0, 0, 0, 0, 0, 0, 0, 0], (-10, 0)),
        ([0, 0, 0, 0, 0, 0, 0, 5, 0, 9], (0, 66)),
        ([0, 0, 0, 0, 0, 0, 0, 0, -2, -3], (-14, 0)),
    ],
)
def test_payoff_range(scores, bounds):
    assert payoff_range(tuple(scores)) == bounds


def test_spec():
    spec = PokerSquares().spec
    assert (spec.num_players, spec.num_actions, spec.max_decisions, spec.zero_sum) == (1, 25, 25, False)
    assert PokerSquares(features="paper").spec.num_features == 76
    assert PokerSquares().spec.block("lines").shape[0] == 10


def test_texts():
    game = PokerSquares()
    states = game.deal(1, np.random.default_rng(0), decks=np.arange(52, dtype=np.int8)[None])
    game.apply(states, np.array([24], dtype=np.int16))
    known = game.information(states, np.zeros(1, dtype=np.int8))[0]
    assert game.action_text(known, 9) == "2d to row 2, column 5"
    assert game.render(known).splitlines() == [
        "-- -- -- -- --",
        "-- -- -- -- --",
        "-- -- -- -- --",
        "-- -- -- -- --",
        "-- -- -- -- 2c",
        "turn 1, value 0, place 2d",
    ]
