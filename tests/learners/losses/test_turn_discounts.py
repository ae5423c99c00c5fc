"""Discounts per turn and weights by the distance from the end, against loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardlab.learners.losses import end_weights, n_step_returns, turn_discounts


def test_a_swap_shares_the_discount_of_its_turn():
    """As in the Thirty-One paper, the last turn gets the reward, each earlier turn 0.98 times that of the next."""
    turns = [("turn", "swap"), ("turn", "swap"), ("turn",)]
    kinds = np.array([("turn", "swap").index(kind) for turn in turns for kind in turn], dtype=np.int8)
    expected: list[float] = []
    running = 10.0
    for turn in reversed(turns):
        expected = [running] * len(turn) + expected
        running *= 0.98
    rewards = np.array([0, 0, 0, 0, 10], dtype=np.float32)
    ends = np.array([False] * 4 + [True])
    sums, _, _ = n_step_returns(rewards, ends, turn_discounts(kinds, 0.98, [1]), 0)
    assert sums.tolist() == pytest.approx(expected)


def test_without_shared_kinds_every_decision_discounts():
    assert turn_discounts(np.array([0, 1, 0], dtype=np.int8), 0.5, []).tolist() == [0.5] * 3


@given(st.lists(st.booleans(), min_size=1, max_size=30), st.floats(0, 1))
def test_end_weights_decay_with_the_distance_from_the_end(ends, decay):
    ends[-1] = True
    weights = end_weights(np.array(ends), decay)
    for t in range(len(ends)):
        assert weights[t] == pytest.approx(decay ** ends[t:].index(True), abs=1e-5)
