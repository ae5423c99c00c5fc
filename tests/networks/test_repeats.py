"""Parts that are alike: each kind once, and lines encoded in play as they are in learning."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from cardlab.agents.random_agent import RandomAgent
from cardlab.games.catalogue import make_game
from cardlab.games.loop import play
from cardlab.games.protocol import Block
from cardlab.networks.deduplicate import distinct_parts, find_repeats
from cardlab.networks.options import LinesOptions

NUM_PARTS, WIDTH, BEFORE, AFTER = 3, 4, 2, 1
VALUES = st.sampled_from([0.0, -0.0, 1.0, 0.1, float("nan")])
SHAPES = st.tuples(st.integers(0, 30), st.just(BEFORE + NUM_PARTS * WIDTH + AFTER))


@given(arrays.arrays(np.float32, SHAPES, elements=VALUES.map(np.float32)))
def test_each_kind_is_there_once_and_each_part_is_of_its_kind(rows):
    distinct, kinds = distinct_parts(rows, Block("lines", BEFORE, (NUM_PARTS, WIDTH)))
    parts = np.ascontiguousarray(rows[:, BEFORE:-AFTER]).reshape(-1, NUM_PARTS, WIDTH)
    assert distinct[kinds].tobytes() == parts.tobytes()
    assert len({kind.tobytes() for kind in distinct}) == len(distinct)
    assert list(dict.fromkeys(kinds.ravel().tolist())) == list(range(len(distinct)))


def test_rows_that_collide_are_told_apart():
    """With the same factor for all, the order of the numbers in a row is not seen."""
    bits = np.array([[1, 2], [2, 1], [0, 3], [1, 2]], dtype=np.uint32)
    distinct, kinds = find_repeats(bits, 0, 1, np.ones(2, dtype=np.uint64))
    assert distinct.tolist() == [[1, 2], [2, 1], [0, 3]]
    assert kinds.ravel().tolist() == [0, 1, 2, 0]


@pytest.mark.parametrize("name", ["poker_squares", "five_o", "open_face"])
def test_positions_are_worth_in_play_what_they_are_in_learning(name):
    game = make_game(name)
    torch.manual_seed(2)
    network = LinesOptions().build(game.spec)
    rng = np.random.default_rng(3)
    agents = [RandomAgent(game)] * game.spec.num_players
    shown = [game.observe(moves.info_states, moves.players) for moves in play(game, game.deal(20, rng), agents, rng)]
    observations = torch.from_numpy(np.concatenate(shown))
    with torch.inference_mode():
        played = network.value(observations)
    assert played.detach() == pytest.approx(network.value(observations).detach(), rel=1e-4, abs=1e-5)
