"""A round encoded once gives any of its decisions as if they were encoded alone."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cardlab.agents.random import RandomAgent
from cardlab.games.catalogue import make_game
from cardlab.games.rows import take
from cardlab.networks import encoded
from cardlab.networks.actions import ActionsOptions
from cardlab.networks.encoded import EncodedDecisions
from cardlab.networks.inputs import legal_pairs
from cardlab.networks.mlp import MLPOptions
from cardlab.networks.protocol import encode_for
from cardlab.playing.loop import play

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
            store.encode(info_states, players)
            assert len(store) == len(players)
            index = np.array(data.draw(st.lists(st.integers(0, len(players) - 1), min_size=1, max_size=40)))
            inputs, pairs = store.pick(index)
            wanted = encode_for(network, GAME, take(info_states, index), players[index])
            torch.testing.assert_close(inputs.observations, wanted.observations, rtol=0, atol=0)
            torch.testing.assert_close(store.observations[index], wanted.observations, rtol=0, atol=0)
            assert torch.equal(inputs.legal, wanted.legal)
            alone = legal_pairs(wanted)
            for mine, theirs in (
                (pairs.rows, alone.rows),
                (pairs.actions, alone.actions),
                (pairs.starts, alone.starts),
            ):
                assert torch.equal(mine, theirs)
            assert (inputs.choices is None) == (wanted.choices is None)
            if inputs.choices is not None and wanted.choices is not None:
                assert torch.equal(inputs.choices.features, wanted.choices.features)


def test_the_next_round_lies_in_the_same_memory():
    store = EncodedDecisions(NETWORKS["actions"].build(GAME.spec), GAME)
    store.encode(*decisions(64))
    first = store.observations.data_ptr()
    store.encode(*decisions(60))
    assert store.observations.data_ptr() == first
