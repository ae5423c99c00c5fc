"""One trunk per kind of decision: which weights a score depends on."""

import numpy as np
import pytest
import torch

from cardlab.agents.exploration import RandomAgent
from cardlab.core.messages import InvalidOption
from cardlab.games.loop import play
from cardlab.games.make_game import make_game
from cardlab.networks.inputs import Inputs
from cardlab.networks.protocol import encode_for
from cardlab.networks.trunks_options import TrunksOptions

GAME = make_game("thirty_one", num_players=3, features="paper")
TURN, SWAP = 0, 1


@pytest.fixture
def network():
    torch.manual_seed(3)
    return TrunksOptions(kinds={"turn": (16, 16), "swap": (8,)}, activation="leaky_relu").build(GAME.spec)


@pytest.fixture
def inputs(network) -> Inputs:
    """Turns and swaps in one batch."""
    rng = np.random.default_rng(0)
    states = GAME.deal(64, rng)
    steps = play(GAME, states, [RandomAgent(GAME)], rng)
    for _ in range(3):
        moves = next(steps)
    kinds = GAME.decision_kind(moves.info_states)
    assert set(kinds) == {TURN, SWAP}
    return encode_for(network, GAME, moves.info_states, moves.players)


def test_scores_are_finite_where_actions_are_legal(network, inputs):
    scores, values = network(inputs)
    assert torch.equal(torch.isfinite(scores), inputs.legal)
    assert torch.isfinite(values).all()


def test_each_kind_has_its_own_trunk(network, inputs):
    before, _ = network(inputs)
    with torch.no_grad():
        for parameter in network.trunks[SWAP].parameters():
            parameter.add_(1.0)
    after, _ = network(inputs)
    is_turn = inputs.legal[:, :3].any(dim=1)
    assert torch.equal(before[is_turn], after[is_turn])
    changed = (before != after).any(dim=1)
    assert changed[~is_turn].all()


def test_rows_do_not_depend_on_each_other(network, inputs):
    whole, _ = network(inputs)
    for row in range(0, 64, 7):
        alone, _ = network(Inputs(inputs.observations[row : row + 1], inputs.legal[row : row + 1]))
        torch.testing.assert_close(alone[0], whole[row])


def test_the_value_of_a_decision_equals_that_of_its_observation(network, inputs):
    torch.testing.assert_close(network(inputs)[1], network.value(inputs.observations))


def test_an_unknown_kind_raises_an_error():
    with pytest.raises(
        InvalidOption, match=r"network\.kinds\.swap=\[8\]: must be left out: big2 has the kinds of decision play only"
    ):
        TrunksOptions(kinds={"swap": (8,)}).build(make_game("big2").spec)


def test_a_trunk_sees_its_blocks_only(inputs):
    torch.manual_seed(3)
    network = TrunksOptions(inputs={"swap": ("left", "hand")}).build(GAME.spec)
    assert [trunk[0].in_features for trunk in network.trunks] == [GAME.spec.num_features, 12 + 12]
    before, values = network(inputs)
    is_turn = inputs.legal[:, :3].any(dim=1)
    for block in GAME.spec.blocks:
        changed = inputs.observations.clone()
        changed[:, block.start : block.stop] += 1.0
        after, _ = network(Inputs(changed, inputs.legal))
        assert (before != after)[is_turn].any(), block.name
        assert (before != after)[~is_turn].any() == (block.name in {"left", "hand"}), block.name
    torch.testing.assert_close(values, network.value(inputs.observations))


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (
            {"play": ("hand",)},
            r"network\.inputs\.play=\[hand\]: must be left out: thirty_one has the kinds of decision",
        ),
        ({"swap": ("hnd",)}, r"network\.inputs\.swap=\[hnd\]: must be one or more of hand, card, expected_values, "),
        ({"swap": ()}, r"network\.inputs\.swap=\[\]: must be one or more of hand, "),
    ],
)
def test_unknown_inputs_raise_an_error(seen, said):
    with pytest.raises(InvalidOption, match=said):
        TrunksOptions(inputs=seen).build(GAME.spec)
