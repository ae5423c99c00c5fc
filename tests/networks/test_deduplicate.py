"""Deduplication: each distinct line once, and lines encoded in play as in learning."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from cardlab.agents.exploration import RandomAgent
from cardlab.games.loop import play
from cardlab.games.make_game import make_game
from cardlab.games.protocol import Block
from cardlab.networks.lines import distinct_lines, find_duplicates
from cardlab.networks.lines_options import LinesOptions

NUM_LINES, WIDTH, BEFORE, AFTER = 3, 4, 2, 1
VALUES = st.sampled_from([0.0, -0.0, 1.0, 0.1, float("nan")])
SHAPES = st.tuples(st.integers(0, 30), st.just(BEFORE + NUM_LINES * WIDTH + AFTER))


@given(arrays.arrays(np.float32, SHAPES, elements=VALUES.map(np.float32)))
def test_distinct_lines_are_unique_and_indices_restore_all_lines(rows):
    distinct, indices = distinct_lines(rows, Block("lines", BEFORE, (NUM_LINES, WIDTH)))
    lines = np.ascontiguousarray(rows[:, BEFORE:-AFTER]).reshape(-1, NUM_LINES, WIDTH)
    assert distinct[indices].tobytes() == lines.tobytes()
    assert len({line.tobytes() for line in distinct}) == len(distinct)
    assert list(dict.fromkeys(indices.ravel().tolist())) == list(range(len(distinct)))


def test_lines_with_equal_hashes_are_distinguished():
    """Equal factors make the hash independent of the order of the numbers."""
    bits = np.array([[1, 2], [2, 1], [0, 3], [1, 2]], dtype=np.uint32)
    distinct, indices = find_duplicates(bits, 0, 1, np.ones(2, dtype=np.uint64))
    assert distinct.tolist() == [[1, 2], [2, 1], [0, 3]]
    assert indices.ravel().tolist() == [0, 1, 2, 0]


@pytest.mark.parametrize("name", ["poker_squares", "five_o", "open_face"])
def test_values_in_play_equal_values_in_learning(name):
    game = make_game(name)
    torch.manual_seed(2)
    network = LinesOptions().build(game.spec)
    rng = np.random.default_rng(3)
    agents = [RandomAgent(game)] * game.spec.num_players
    observed = [game.observe(moves.info_states, moves.players) for moves in play(game, game.deal(20, rng), agents, rng)]
    observations = torch.from_numpy(np.concatenate(observed))
    with torch.inference_mode():
        played = network.value(observations)
    assert played.detach() == pytest.approx(network.value(observations).detach(), rel=1e-4, abs=1e-5)
