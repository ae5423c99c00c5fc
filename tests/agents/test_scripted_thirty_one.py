"""The greedy players: what they do where, and how they score beside the reference figures of the sheet."""

import numpy as np
import pytest

from cardlab.agents.registry import make_agent
from cardlab.core.messages import InvalidOption
from cardlab.games.loop import play_out
from cardlab.games.protocol import States
from cardlab.games.thirty_one.game import ThirtyOne
from games.thirty_one.slow_match import CALL, DRAW, KEEP, TAKE, step, table

GAME = ThirtyOne()


def choice(agent, text, *actions):
    """What `agent` plays after these actions."""
    game, states = table(text)
    step(game, states, *actions)
    players = game.current_player(states)
    return int(make_agent(game, agent).act(game.information(states, players), players, np.random.default_rng(0))[0])


@pytest.mark.parametrize(
    ("agent", "hand", "top", "expected"),
    [
        ("greedy", "Ks 3d 2c", "7s", TAKE),
        ("greedy", "Ks 3d 2c", "7h", DRAW),  # 10 stays 10
        ("greedy", "Ks 3d 2c", "Kh", DRAW),  # as good is not better
        ("greedy", "Ks Qs Js", "As", TAKE),
        ("greedy", "Ks Qs As", "7s", CALL),
        ("greedy", "Ks 9s As", "7d", DRAW),  # 30 is not 31
        ("greedy_stock_only", "Ks 3d 2c", "7s", DRAW),
        ("greedy_stock_only", "Ks Qs As", "7s", CALL),
        ("threshold:level:30", "Ks 9s As", "7d", CALL),
        ("threshold:level:30", "Ks 8s As", "7d", DRAW),
        ("threshold:level:13", "Ks 3s 2c", "7s", CALL),  # a call goes before a take
    ],
)
def test_turns(agent, hand, top, expected):
    assert choice(agent, f"{hand}  4c 5d Qh  {top}") == expected


@pytest.mark.parametrize(
    ("hand", "top", "stock", "actions", "expected"),
    [
        ("Ks 3d 2c", "7h", "7s", [DRAW], 3),  # among equals the first place: the 2 of clubs
        ("Ks 3d 2c", "7h", "Th", [DRAW], KEEP),  # no better
        ("Ks 9s 2c", "7h", "3s", [DRAW], 3),
        ("Ks 9s 8s", "7h", "3s", [DRAW], KEEP),
        ("2s 9s 8s", "Ks", "3s", [TAKE], 3),
        (
            "Ks Qs As",
            "2c",
            "3s",
            [TAKE],
            3,
        ),  # what was taken must be swapped: 20 or 21 are left; 21 when a court card goes
    ],
)
def test_swaps(hand, top, stock, actions, expected):
    assert choice("greedy", f"{hand}  4c 5d Qh  {top} {stock}", *actions) == expected


def test_only_one_player_calls():
    assert choice("greedy", "Ks Qs As  Kd Qd Ad  2c 3c", DRAW, KEEP, CALL) == DRAW


def test_wrong_level():
    with pytest.raises(InvalidOption, match=r"agent\.level"):
        make_agent(GAME, "threshold:level:32")


def win_rate(agent, opponent, num_deals, seed=5):
    """Per cent of matches won by `agent`, each deal played from both seats, and the standard error by deal."""
    rng = np.random.default_rng(seed)
    agents = [make_agent(GAME, agent), make_agent(GAME, opponent)]
    dealt = GAME.deal(num_deals, rng)
    wins = np.zeros(num_deals)
    for seats in ([0, 1], [1, 0]):
        states = States(dealt.copy())
        play_out(GAME, states, agents, rng, seats=np.tile(np.array(seats, dtype=np.int8), (num_deals, 1)))
        assert GAME.is_over(states).all()
        wins += (GAME.payoffs(states)[:, seats.index(0)] + 1) / 4
    return 100 * wins.mean(), 100 * wins.std() / num_deals**0.5


# Agent, opponent, reference of the sheet and its standard error (of 4,000 matches where the sheet gives none).
@pytest.mark.figures
@pytest.mark.parametrize(
    ("agent", "opponent", "reference", "error"),
    [
        ("greedy", "greedy_stock_only", 90.3, 0.47),
        ("threshold:level:27", "greedy_stock_only", 69.5, 0.73),
        ("threshold:level:29", "greedy_stock_only", 77.4, 0.66),
        ("threshold:level:30", "greedy_stock_only", 81.9, 0.61),
        ("greedy", "threshold:level:30", 47.2, 0.55),
    ],
)
def test_reference_figures(agent, opponent, reference, error):
    mean, own_error = win_rate(agent, opponent, 4000)
    assert abs(mean - reference) < 3 * np.hypot(error, own_error)


@pytest.mark.figures
@pytest.mark.parametrize(
    ("agent", "opponent"),
    [
        ("threshold:level:31", "threshold:level:23"),
        ("threshold:level:31", "threshold:level:28"),
        ("threshold:level:30", "threshold:level:31"),
        ("threshold:level:29", "threshold:level:30"),
        ("threshold:level:28", "threshold:level:29"),
    ],
)
def test_no_threshold_is_best(agent, opponent):
    mean, error = win_rate(agent, opponent, 16_000)
    assert mean - 2 * error > 50
