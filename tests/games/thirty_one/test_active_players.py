"""Rounds at which only some of the seats are taken: how one policy learns every table."""

import numpy as np

from cardlab.agents.exploration import RandomAgent
from cardlab.games.loop import play_out
from cardlab.games.make_game import make_game, without_training_options

GAME = make_game("thirty_one", num_players=9, play="round", reward="shaped", active_players="some")


def test_every_number_of_players_is_seated_small_tables_more_often():
    seated = (GAME.deal(4000, np.random.default_rng(0))["lives"] > 0).sum(axis=1)
    counts = np.bincount(seated, minlength=10)[2:]
    assert seated.min() == 2
    assert (np.diff(counts) < 0).all()


def test_who_is_not_seated_has_no_cards_no_turn_and_no_pay():
    rng = np.random.default_rng(1)
    states = GAME.deal(500, rng)
    out = states["lives"] == 0
    assert (np.diff(out.astype(int), axis=1) >= 0).all(), "the first seats are taken"
    assert (states["hands"][out] < 0).all()
    play_out(GAME, states, [RandomAgent(GAME)], rng)
    assert GAME.is_over(states).all()
    assert (GAME.payoffs(states)[out] == 0).all()


def test_matches_seat_everybody():
    assert without_training_options(GAME).active_players == "all"
    assert (without_training_options(GAME).deal(50, np.random.default_rng(2))["lives"] == 3).all()


def test_whole_matches_can_seat_some_for_training():
    game = make_game("thirty_one", num_players=5, active_players="some")
    rng = np.random.default_rng(4)
    states = game.deal(200, rng)
    seated = (states["lives"] > 0).sum(axis=1)
    assert set(seated) == {2, 3, 4, 5}
    play_out(game, states, [RandomAgent(game)], rng)
    won = game.payoffs(states)
    assert (won.argmax(axis=1) < seated).all()
