"""What `features: opponent_statistics` adds to `table`: each opponent's deeds in the match, against plain Python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardlab.games.protocol import find_block
from cardlab.games.thirty_one.game import ThirtyOne
from games.thirty_one.slow_match import CALL, DRAW, SlowMatch


def shown(rows, game, name):
    block = find_block(game.spec.blocks, name)
    return rows[0, block.start : block.stop]


@pytest.mark.parametrize("num_players", [2, 5])
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_opponent_statistics_count_actions_of_living_players_by_distance(num_players, seed):
    game = ThirtyOne(num_players=num_players, features="opponent_statistics")
    rng = np.random.default_rng(seed)
    deck, chance = rng.permutation(52), rng.integers(0, 2**63, dtype=np.uint64)
    slow = SlowMatch(deck, chance, num_players)
    states = game.deal(1, rng, deck[None], np.array([chance]))
    while not slow.over:
        viewer = np.array([slow.player], dtype=np.int8)
        rows = game.observe(game.information(states, viewer), viewer)
        at = slow.order.index(slow.player)
        others = slow.order[at + 1 :] + slow.order[:at]
        wanted = np.zeros((4, 8))
        for i, other in enumerate(others):
            deeds = slow.deeds[other]
            turns = deeds["takes"] + deeds["draws"]
            seen = deeds["calls"] - (slow.caller == other)  # a call of this round is not shown yet
            wanted[0, i] = (deeds["takes"] + 1) / (turns + 2)
            wanted[1, i] = min(turns / 20, 1)
            wanted[2, i] = deeds["calls"] / slow.round
            wanted[3, i] = deeds["call_scores"] / seen / 31 if seen else 0
        for name, values in zip(("take_shares", "evidence", "call_shares", "call_scores"), wanted, strict=True):
            np.testing.assert_allclose(shown(rows, game, name), values, atol=1e-6, err_msg=name)
        legal = slow.legal()
        if CALL in legal and rng.random() > 0.3:
            legal = [DRAW, 1]
        action = int(rng.choice(legal))
        slow.play(action)
        game.apply(states, np.array([action], dtype=np.int16))


def test_the_table_stands_in_front_unchanged():
    game, table = ThirtyOne(features="opponent_statistics"), ThirtyOne()
    rng = np.random.default_rng(3)
    players = np.zeros(20, dtype=np.int8)
    info_states = game.information(game.deal(20, rng), players)
    rows, plain = game.observe(info_states, players), table.observe(info_states, players)
    np.testing.assert_array_equal(rows[:, : plain.shape[1]], plain)
    assert rows.shape[1] == game.spec.num_features == plain.shape[1] + 32
