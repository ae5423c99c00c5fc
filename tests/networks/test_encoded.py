"""A round encoded once gives any of its decisions as if they were encoded alone."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cardlab.agents.random_agent import RandomAgent, choose_uniformly
from cardlab.games.catalogue import make_game
from cardlab.games.loop import play
from cardlab.games.rows import take
from cardlab.networks import encoded_batch as encoded
from cardlab.networks.encoded_batch import EncodedDecisions
from cardlab.networks.options import ActionsOptions, MLPOptions, SparseLinesOptions
from cardlab.networks.protocol import encode_legal_for

NETWORKS = {"mlp": MLPOptions(widths=(8,)), "actions": ActionsOptions(state_widths=(8,), action_widths=(8,))}
GAME = make_game("big2")


def decisions(tables: int, steps: int = 9):
    """InfoStates and players of decisions in mid-game, of which some are forced."""
    rng = np.random.default_rng(tables)
    moves = play(GAME, GAME.deal(tables, rng), [RandomAgent(GAME)], rng, ask_forced=True)
    for _ in range(steps):
        move = next(moves)
    return move.info_states, move.players


@pytest.mark.parametrize("name", list(NETWORKS))
@given(data=st.data())
def test_what_is_picked_is_what_would_be_encoded(name, data):
    network = NETWORKS[name].build(GAME.spec)
    store = EncodedDecisions(network, GAME)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoded, "_ROWS_AT_ONCE", 16)  # so that a round is encoded in several parts
        for tables in data.draw(st.lists(st.integers(1, 70), min_size=1, max_size=3)):  # one round after another
            info_states, players = decisions(tables)
            actions = choose_uniformly(GAME.legal_actions(info_states), np.random.default_rng(tables).random(tables))
            store.encode(info_states, players, actions)
            assert len(store) == len(players)
            index = np.array(data.draw(st.lists(st.integers(0, len(players) - 1), min_size=1, max_size=40)))
            picked = store.pick(index)
            observations, alone = encode_legal_for(network, GAME, take(info_states, index), players[index])
            assert torch.equal(picked.observations, observations)
            assert torch.equal(store.observations[index], observations)
            for column in ("rows", "actions", "starts"):
                assert torch.equal(getattr(picked.pairs, column), getattr(alone, column))
            assert picked.pairs.num_actions == alone.num_actions
            assert (picked.pairs.features is None) == (alone.features is None)
            if picked.pairs.features is not None and alone.features is not None:
                assert torch.equal(picked.pairs.features, alone.features)
            np.testing.assert_array_equal(picked.pairs.rows[picked.taken], np.arange(len(index)))
            np.testing.assert_array_equal(picked.pairs.actions[picked.taken], actions[index])


def test_an_action_that_is_not_legal_is_refused():
    info_states, players = decisions(20)
    actions = GAME.legal_actions(info_states).argmax(axis=1)
    actions[7] = GAME.legal_actions(info_states)[7].argmin()
    with pytest.raises(ValueError, match="not legal"):
        EncodedDecisions(NETWORKS["mlp"].build(GAME.spec), GAME).encode(info_states, players, actions)


def test_the_next_round_lies_in_the_same_memory():
    store = EncodedDecisions(NETWORKS["actions"].build(GAME.spec), GAME)
    places = []
    for tables in (64, 60):
        info_states, players = decisions(tables)
        store.encode(info_states, players, GAME.legal_actions(info_states).argmax(axis=1))
        places.append(store.observations.data_ptr())
    assert places[0] == places[1]


def test_under_autocast_decisions_are_held_as_products_read_them():
    network, (info_states, players) = NETWORKS["actions"].build(GAME.spec), decisions(40)
    actions = GAME.legal_actions(info_states).argmax(axis=1)
    store = EncodedDecisions(network, GAME)
    for dtype in (torch.float32, torch.bfloat16, torch.float32):  # one round after another, in the same store
        with torch.autocast("cpu", torch.bfloat16, enabled=dtype != torch.float32):
            store.encode(info_states, players, actions)
        picked = store.pick(np.arange(40))
        observations, pairs = encode_legal_for(network, GAME, info_states, players)
        assert picked.observations.dtype == dtype
        assert torch.equal(picked.observations, observations.to(dtype))
        assert picked.pairs.features is not None
        assert pairs.features is not None
        assert picked.pairs.features.dtype == dtype
        assert torch.equal(picked.pairs.features, pairs.features.to(dtype))


def test_codes_are_held_to_the_last_bit():
    game = make_game("poker_squares", features="sparse_lines")
    info_states = game.deal(30, np.random.default_rng(0))
    players = np.zeros(30, dtype=np.int8)
    store = EncodedDecisions(SparseLinesOptions(width=6).build(game.spec), game)
    with torch.autocast("cpu", torch.bfloat16):
        store.encode(info_states, players, game.legal_actions(info_states).argmax(axis=1))
    np.testing.assert_array_equal(store.observations.numpy(), game.observe(info_states, players))
