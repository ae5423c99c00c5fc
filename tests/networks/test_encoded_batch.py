"""Minibatches selected from encoded decisions equal decisions that are encoded alone."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cardlab.agents.exploration import RandomAgent
from cardlab.games.legality import choose_uniformly
from cardlab.games.loop import play
from cardlab.games.make_game import make_game
from cardlab.games.record_arrays import take
from cardlab.networks import encoded_batch
from cardlab.networks.actions_options import ActionsOptions
from cardlab.networks.encoded_batch import EncodedDecisions
from cardlab.networks.mlp_options import MLPOptions
from cardlab.networks.protocol import encode_legal_for
from cardlab.networks.sparse_lines_options import SparseLinesOptions

NETWORKS = {"mlp": MLPOptions(widths=(8,)), "actions": ActionsOptions(state_widths=(8,), action_widths=(8,))}
GAME = make_game("big2")


def decisions(num_games: int, steps: int = 9):
    """InfoStates and players of decisions in the middle of games, including forced moves."""
    rng = np.random.default_rng(num_games)
    moves = play(GAME, GAME.deal(num_games, rng), [RandomAgent(GAME)], rng, ask_forced=True)
    for _ in range(steps):
        move = next(moves)
    return move.info_states, move.players


@pytest.mark.parametrize("name", list(NETWORKS))
@given(data=st.data())
def test_selected_decisions_equal_decisions_encoded_alone(name, data):
    network = NETWORKS[name].build(GAME.spec)
    store = EncodedDecisions(network, GAME)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoded_batch, "_CHUNK", 16)  # several chunks per call
        for num_games in data.draw(st.lists(st.integers(1, 70), min_size=1, max_size=3)):
            info_states, players = decisions(num_games)
            actions = choose_uniformly(
                GAME.legal_actions(info_states), np.random.default_rng(num_games).random(num_games)
            )
            store.encode(info_states, players, actions)
            assert len(store) == len(players)
            index = np.array(data.draw(st.lists(st.integers(0, len(players) - 1), min_size=1, max_size=40)))
            batch = store.select(index)
            observations, alone = encode_legal_for(network, GAME, take(info_states, index), players[index])
            assert torch.equal(batch.observations, observations)
            assert torch.equal(store.observations[index], observations)
            for column in ("rows", "actions", "starts"):
                assert torch.equal(getattr(batch.pairs, column), getattr(alone, column))
            assert batch.pairs.num_actions == alone.num_actions
            assert (batch.pairs.features is None) == (alone.features is None)
            if batch.pairs.features is not None and alone.features is not None:
                assert torch.equal(batch.pairs.features, alone.features)
            np.testing.assert_array_equal(batch.pairs.rows[batch.chosen], np.arange(len(index)))
            np.testing.assert_array_equal(batch.pairs.actions[batch.chosen], actions[index])


def test_an_illegal_action_raises_an_error():
    info_states, players = decisions(20)
    actions = GAME.legal_actions(info_states).argmax(axis=1)
    actions[7] = GAME.legal_actions(info_states)[7].argmin()
    with pytest.raises(ValueError, match="not legal"):
        EncodedDecisions(NETWORKS["mlp"].build(GAME.spec), GAME).encode(info_states, players, actions)


def test_the_next_call_reuses_the_memory():
    store = EncodedDecisions(NETWORKS["actions"].build(GAME.spec), GAME)
    addresses = []
    for num_games in (64, 60):
        info_states, players = decisions(num_games)
        store.encode(info_states, players, GAME.legal_actions(info_states).argmax(axis=1))
        addresses.append(store.observations.data_ptr())
    assert addresses[0] == addresses[1]


def test_features_are_stored_in_the_dtype_of_autocast():
    network, (info_states, players) = NETWORKS["actions"].build(GAME.spec), decisions(40)
    actions = GAME.legal_actions(info_states).argmax(axis=1)
    store = EncodedDecisions(network, GAME)
    for dtype in (torch.float32, torch.bfloat16, torch.float32):  # in the same store
        with torch.autocast("cpu", torch.bfloat16, enabled=dtype != torch.float32):
            store.encode(info_states, players, actions)
        batch = store.select(np.arange(40))
        observations, pairs = encode_legal_for(network, GAME, info_states, players)
        assert batch.observations.dtype == dtype
        assert torch.equal(batch.observations, observations.to(dtype))
        assert batch.pairs.features is not None
        assert pairs.features is not None
        assert batch.pairs.features.dtype == dtype
        assert torch.equal(batch.pairs.features, pairs.features.to(dtype))


def test_codes_are_not_rounded():
    game = make_game("poker_squares", features="sparse_lines")
    info_states = game.deal(30, np.random.default_rng(0))
    players = np.zeros(30, dtype=np.int8)
    store = EncodedDecisions(SparseLinesOptions(width=6).build(game.spec), game)
    with torch.autocast("cpu", torch.bfloat16):
        store.encode(info_states, players, game.legal_actions(info_states).argmax(axis=1))
    np.testing.assert_array_equal(store.observations.numpy(), game.observe(info_states, players))
