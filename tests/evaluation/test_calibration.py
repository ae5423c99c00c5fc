"""Forecasts and what was paid: bins, intervals clustered by game, and the discount that values were trained to."""

import csv

import numpy as np
import pytest

from cardlab.experiments.value_calibration import (
    Discount,
    Forecasts,
    calibration_rows,
    clustered_mean,
    forecast,
    summarize_forecasts,
    write_calibration,
)
from cardlab.games.make_game import make_game
from cardlab.learners.rollouts.opponents.fixed import ScriptedOptions, SelfPlayOptions
from small_games.high_card import HighCard, Shower


class Oracle:
    """Plays Thirty-One at random and values every decision at its number among the player's own, counted back."""

    def __init__(self, game):
        self.game = game
        self.asked = 0

    def act(self, info_states, players, rng):
        legal = self.game.legal_actions(info_states)
        return np.array([rng.choice(np.flatnonzero(row)) for row in legal], dtype=np.int16)

    def evaluate(self, info_states, players):
        self.asked += len(players)
        return np.zeros((len(players), self.game.spec.num_actions), dtype=np.float32), np.ones(len(players), np.float32)


def self_play(game):
    return SelfPlayOptions().build(game, None, None)


def test_one_player_is_paid_what_it_shows():
    """Shower values the higher rank, in twelfths, and is paid that rank."""
    game = HighCard(1)
    forecasts = forecast(game, Shower(game), self_play(game), 500, 0, Discount())
    assert forecasts.paid == pytest.approx(12 * forecasts.predicted)
    assert sorted(forecasts.games) == list(range(500))


def test_every_seat_of_the_learner_counts_and_no_other():
    game = HighCard(3)
    everywhere = forecast(game, Shower(game), self_play(game), 50, 0, Discount())
    assert len(everywhere.paid) == 150
    assert np.bincount(everywhere.games, everywhere.paid) == pytest.approx(0, abs=1e-5)
    field = ScriptedOptions({"random": 1.0}).build(game, None, None)
    one_seat = forecast(game, Shower(game), field, 50, 0, Discount())
    assert len(one_seat.paid) == 50


@pytest.mark.parametrize("gamma", [1.0, 0.5])
def test_payoffs_are_discounted_as_in_training(gamma):
    """A round of Thirty-One pays at its end only: each decision sees gamma to the power of the player's own left."""
    game = make_game("thirty_one", play="round", reward="shaped")
    forecasts = forecast(game, Oracle(game), self_play(game), 40, 3, Discount(gamma))
    whole = forecast(game, Oracle(game), self_play(game), 40, 3, Discount())
    ratios = forecasts.paid[whole.paid != 0] / whole.paid[whole.paid != 0]
    powers = np.log(ratios) / np.log(gamma) if gamma < 1 else np.zeros(len(ratios))
    assert powers == pytest.approx(np.round(powers), abs=1e-3)
    assert (powers.max() > 2) == (gamma < 1)


def test_decisions_without_a_choice_are_not_forecast():
    game = make_game("big2")
    agent = Oracle(game)
    forecasts = forecast(game, agent, self_play(game), 5, 0, Discount())
    assert len(forecasts.paid) == agent.asked


def made_up(error=0.0, games=400, seed=0):
    """Five decisions a game, which share the noise of its payoff."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(rng.normal(size=games), 5)
    noise = np.repeat(rng.normal(size=games), 5)
    return Forecasts(
        (truth + error).astype(np.float32), (truth + noise).astype(np.float32), np.repeat(np.arange(games), 5)
    )


def test_bins_go_up_and_hold_all_decisions():
    rows = calibration_rows(made_up(), bins=8)
    assert [row["decisions"] for row in rows] == [250] * 8
    assert [row["predicted"] for row in rows] == sorted(row["predicted"] for row in rows)
    assert all(row["low"] < row["paid"] < row["high"] for row in rows)


def test_one_value_is_one_bin():
    forecasts = Forecasts(np.zeros(6, np.float32), np.ones(6, np.float32), np.arange(6))
    assert [row["decisions"] for row in calibration_rows(forecasts)] == [6]
    assert summarize_forecasts(forecasts)["explained"] == 0


def test_intervals_hold_the_truth_as_often_as_they_say():
    """Decisions of one game share their noise: an interval that took them for independent would hold too seldom."""
    inside = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        values = np.repeat(rng.normal(size=60), 5).astype(np.float32)
        mean, half = clustered_mean(values, np.repeat(np.arange(60), 5))
        inside.append(abs(mean) <= half)
    assert 0.92 <= np.mean(inside) <= 0.98


def test_bias_and_what_is_explained():
    figures = summarize_forecasts(made_up(error=0.5, games=2000))
    assert figures["bias_low"] < 0.5 < figures["bias_high"]
    assert figures["explained"] == pytest.approx(0.5, abs=0.06)
    assert (figures["games"], figures["decisions"]) == (2000, 10_000)


def test_the_table_is_written_for_plots(tmp_path):
    write_calibration(calibration_rows(made_up(), bins=4), tmp_path / "calibration.csv")
    with (tmp_path / "calibration.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4
    assert set(rows[0]) == {"predicted", "paid", "low", "high", "decisions"}
