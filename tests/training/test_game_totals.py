"""Metrics of games beside the learning curve."""

import numpy as np

from cardlab.games.make_game import make_game
from cardlab.games.protocol import InfoStates
from cardlab.learners.rollouts.experience import Experience
from cardlab.training.game_totals import GameTotals


def batch_of(payoffs: list[list[float]], seats: list[list[int]]) -> Experience:
    empty = np.zeros(0, dtype=np.float32)
    known = InfoStates(np.zeros(0, dtype=make_game("open_face").state_dtype))
    small = np.zeros(0, dtype=np.int8)
    actions, ends = np.zeros(0, dtype=np.int16), np.zeros(0, dtype=np.bool_)
    paid, at = np.array(payoffs, dtype=np.float32), np.array(seats, dtype=np.int8)
    return Experience(known, small, actions, empty, empty, empty, ends, paid, at)


def test_totals_and_rolling_means_survive_a_checkpoint() -> None:
    totals = GameTotals(2)
    won = totals.add({"train/value_loss": 1.0, "train/entropy": 9.0}, batch_of([[2, -2], [-1, 1]], [[0, 1], [0, 1]]))
    assert won["train/win_rate"] == 0.5
    assert (won["train/games"], won["train/total_points"]) == (2, 1)
    resumed = GameTotals(2)
    resumed.load_state_dict(totals.state_dict())
    resumed.add({"train/value_loss": 3.0}, batch_of([[5, -5]], [[1, 0]]))
    last = resumed.add({"train/value_loss": 5.0}, batch_of([[0, 0]], [[0, 1]]))
    assert last["rolling/value_loss"] == 4.0
    assert last["rolling/win_rate"] == 0.25
    assert last["train/total_points"] == -4.0
    assert "rolling/entropy" not in last


def test_games_against_itself_are_no_wins() -> None:
    found = GameTotals(0).add({}, batch_of([[2, -2], [3, -3]], [[0, 1], [0, 0]]))
    assert found["train/win_rate"] == 1.0


def test_self_play_has_no_win_rate_and_no_window_no_means() -> None:
    found = GameTotals(0).add({"train/value_loss": 1.0}, batch_of([[1, -1]], [[0, 0]]))
    assert set(found) == {"train/games", "train/total_points"}
