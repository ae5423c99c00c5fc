"""The end of a round and of a match: lives, payoffs, and the rewards for training."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardlab.agents.exploration import RandomAgent
from cardlab.games.cards.deck import parse_cards
from cardlab.games.loop import play_out
from cardlab.games.protocol import NO_PLAYER
from cardlab.games.thirty_one.game import ThirtyOne
from games.thirty_one.slow_match import CALL, DRAW, KEEP, score, step, table

LOW, MID, HIGH, BEST = "2c 3d 4h", "5c 6d 9h", "Ks Qs 9s", "Ad Kd Qd"
OTHER_LOW, OTHER_BEST = "4c 2d 3h", "Ah Kh Qh"


def shown(*hands, lives, caller=NO_PLAYER, **options):
    """A match just after these hands were shown, called by `caller`; the game and the states."""
    game, states = table(" ".join(hands), num_players=len(hands), max_turns=50, **options)
    states["lives"][0, : len(hands)] = lives
    state = states[0]
    state["turns"] = 49  # the one turn left is not a call, and nothing is swapped in it
    if caller != NO_PLAYER:
        state["caller"] = caller
        state["player"] = (caller - 1) % len(hands)
    step(game, states, DRAW, KEEP)
    return game, states


@pytest.mark.parametrize(
    ("hands", "caller", "after"),
    [
        ([LOW, MID, HIGH], NO_PLAYER, [2, 3, 3]),
        ([LOW, MID, HIGH], 2, [2, 3, 3]),
        ([LOW, MID, HIGH], 0, [1, 3, 3]),  # the caller is lowest alone
        ([LOW, OTHER_LOW, HIGH], 2, [2, 2, 3]),  # all who tie lose one
        ([LOW, OTHER_LOW, HIGH], 0, [1, 2, 3]),  # the caller two, though tied
        ([LOW, MID, BEST], NO_PLAYER, [2, 2, 3]),  # 31: all the others lose
        ([LOW, MID, BEST], 1, [2, 1, 3]),  # the caller two, though not lowest
        ([OTHER_BEST, MID, BEST], 0, [3, 2, 3]),  # every 31 is safe
        ([OTHER_BEST, BEST], 0, [3, 3]),  # all show 31
        ([LOW, OTHER_LOW], NO_PLAYER, [2, 2]),
    ],
)
def test_who_loses_lives(hands, caller, after):
    _, states = shown(*hands, lives=3, caller=caller)
    assert states[0]["lives"][: len(hands)].tolist() == after


def test_a_caller_with_one_life_loses_no_more():
    _, states = shown(LOW, MID, HIGH, lives=[1, 3, 3], caller=0)
    assert states[0]["lives"][:3].tolist() == [0, 3, 3]


@pytest.mark.parametrize(
    ("hands", "lives", "payoffs"),
    [
        ([LOW, HIGH], [1, 1], [-1, 1]),
        ([LOW, OTHER_LOW], [1, 1], [0, 0]),  # everybody's last life: those who were in it share
        ([LOW, OTHER_LOW, HIGH], [1, 1, 2], [-0.5, -0.5, 1]),
        ([LOW, OTHER_LOW, HIGH], [1, 1, 0], [0.25, 0.25, -0.5]),
    ],
)
def test_the_win_is_shared_by_the_last(hands, lives, payoffs):
    if 0 in lives:  # who is out has no cards: the others take the first triples
        game, states = table(" ".join(hands), num_players=3, max_turns=1)
        states["lives"][0, :3] = lives
        states["hands"][0, lives.index(0)] = -1
        step(game, states, DRAW, KEEP)
    else:
        game, states = shown(*hands, lives=lives)
    assert game.is_over(states)[0]
    np.testing.assert_allclose(game.payoffs(states)[0], payoffs, atol=1e-6)


@pytest.mark.parametrize(
    ("lives", "payoffs"),
    [([3, 2, 2], [0, 0, 0]), ([3, 3, 2], [-0.5, 1, -0.5]), ([2, 3, 3], [-0.5, 0.25, 0.25])],
)
def test_after_max_rounds_the_most_lives_share_the_win(lives, payoffs):
    game, states = shown(LOW, MID, HIGH, lives=lives, max_rounds=1)  # player 0 loses a life
    assert game.is_over(states)[0]
    np.testing.assert_allclose(game.payoffs(states)[0], payoffs, atol=1e-6)


def test_nothing_is_paid_before_the_end():
    game, states = shown(LOW, MID, HIGH, lives=3)
    assert not game.is_over(states)[0]
    assert not game.payoffs(states).any()


def test_play_round_deals_lives_and_ends_after_one_round():
    game = ThirtyOne(num_players=3, play="round")
    states = game.deal(3000, np.random.default_rng(0))
    lives, counts = np.unique(states["lives"][:, :3], return_counts=True)
    assert lives.tolist() == [1, 2, 3]
    assert (abs(counts - 3000) < 200).all()
    game.apply(states, np.full(3000, CALL, dtype=np.int16))
    assert game.is_over(states).all()
    assert game.spec.max_decisions == 2 * 100 + 3


def seed_reward(own, lowest, called, lives):
    """The seed's lines, as its text prints them; `lives` are those left."""
    reward = (own - lowest) * 0.5
    if own == lowest:
        reward -= 5.0 if called else 2.0
    elif own == 31:
        reward += 10.0
    elif called and own > lowest:
        reward += (own - lowest) * 0.3
    reward += (3 - lives) * -0.3
    if lives <= 0:
        reward -= 2.0
    if lives > 0:
        reward += 0.5
    return reward


@settings(max_examples=40, deadline=None)
@given(data=st.data(), caller=st.integers(-1, 3), reached=st.booleans())
def test_shaped_rewards_are_those_of_the_paper(data, caller, reached):
    cards = data.draw(st.permutations(range(52)))[:12]
    if reached:
        cards = [*parse_cards(BEST), *(card for card in cards if card not in parse_cards(BEST))][:12]
    game = ThirtyOne(num_players=4, max_turns=50, play="round", reward="shaped")
    deck = [*cards, *(card for card in range(52) if card not in cards)]
    states = game.deal(1, np.random.default_rng(0), np.array([deck]))
    states["turns"] = 49
    if caller >= 0:
        states["caller"] = caller
        states["player"] = (caller - 1) % 4
    step(game, states, DRAW, KEEP)
    hands = [score(cards[3 * p : 3 * p + 3]) for p in range(4)]
    wanted = [seed_reward(hands[p], min(hands), p == caller, states[0]["lives"][p]) for p in range(4)]
    np.testing.assert_allclose(game.payoffs(states)[0], wanted, rtol=1e-5)


def test_shaped_rewards_add_up_over_a_match():
    game, states = table(" ".join([LOW, HIGH]), reward="shaped")
    step(game, states, CALL)
    first = game.payoffs(states)[0].copy()
    np.testing.assert_allclose(first, [-5 - 0.6 + 0.5, 0.5 * 25 + 0.5], rtol=1e-6)
    step(game, states, CALL)
    assert (game.payoffs(states)[0] != first).all()
    assert not game.spec.zero_sum


@pytest.mark.parametrize(("num_players", "lives"), [(2, 3), (3, 1), (9, 3)])
def test_shaped_matches_stay_in_their_range(num_players, lives):
    game = ThirtyOne(num_players=num_players, lives=lives, max_rounds=8, reward="shaped")
    rng = np.random.default_rng(4)
    states = game.deal(500, rng)
    play_out(game, states, [RandomAgent(game)], rng)
    low, high = game.spec.payoff_range
    payoffs = game.payoffs(states)
    assert low < payoffs.min() < 0 < payoffs.max() < high


def test_the_best_shaped_round_is_in_range():
    _, states = shown("2c 2d 2h", BEST, lives=3, play="round", reward="shaped")
    assert states[0]["paid"][1] == ThirtyOne(play="round", reward="shaped").spec.payoff_range[1] == 25
