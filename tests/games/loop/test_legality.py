"""What play asks of legal actions: the same of a mask and of a list."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from cardlab.games.legality import forced_moves, legality


class Masks:
    """A game of which nothing is known but a mask."""

    def __init__(self, legal):
        self.legal = legal

    def legal_actions(self, states):
        return self.legal


class Lists(Masks):
    """The matrix of legal actions, as lists."""

    def list_legal_actions(self, states):
        rows, actions = np.nonzero(self.legal)
        return actions.astype(np.int16), np.searchsorted(rows, np.arange(len(self.legal) + 1))


masks = arrays(np.bool_, array_shapes(min_dims=2, max_dims=2, max_side=150), elements=st.booleans())


@pytest.mark.parametrize("kind", [Masks, Lists])
@given(legal=masks, data=st.data())
def test_sole_actions_and_what_is_allowed(kind, legal, data):
    found = legality(kind(legal), None)
    places = [np.flatnonzero(row) for row in legal]
    assert found.forced_moves().tolist() == [row[0] if row.size == 1 else -1 for row in places]
    actions = data.draw(arrays(np.int16, len(legal), elements=st.integers(-2, legal.shape[1] + 1)))
    assert found.are_legal(actions).tolist() == [action in row for row, action in zip(places, actions, strict=True)]


def test_sole_actions_of_wide_masks_are_found_wherever_they_stand():
    legal = np.eye(1695, dtype=np.bool_)
    np.testing.assert_array_equal(forced_moves(legal), np.arange(1695))
