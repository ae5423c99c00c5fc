"""Branches, normalisation, dropout and the range of the value."""

import pytest
import torch

from cardlab.core.messages import InvalidOption
from cardlab.games.make_game import make_game
from cardlab.networks.mlp_options import MLPOptions

SPEC = make_game("poker_squares", features="paper").spec


def observations(num=32):
    return torch.rand(num, SPEC.num_features, generator=torch.Generator().manual_seed(1))


def test_the_big2_network_has_nearly_a_million_weights():
    spec = make_game("big2").spec
    network = MLPOptions(widths=(512,), head_widths=(256,)).build(spec)
    layers = [(412, 512), (512, 256), (512, 256), (256, 1695), (256, 1)]
    expected = sum(before * after + after for before, after in layers)
    assert sum(parameter.numel() for parameter in network.parameters()) == expected == 909_984


def test_branches_share_the_trunk_only():
    network = MLPOptions(widths=(8,), head_widths=(4,)).build(SPEC)
    network.value(observations()).sum().backward()
    assert next(network.actor_trunk.parameters()).grad is not None
    assert next(network.critic_branch.parameters()).grad is not None
    assert next(network.actor_branch.parameters()).grad is None


def test_the_value_stays_in_its_range():
    network = MLPOptions(widths=(8,), value_range=(-2.0, 6.0)).build(SPEC)
    assert network.value(observations()).detach().mean() == pytest.approx(2.0, abs=0.5)
    with torch.no_grad():
        network.value_head.bias += 100.0
    assert network.value(observations()).tolist() == [6.0] * 32
    with torch.no_grad():
        network.value_head.bias -= 200.0
    assert network.value(observations()).tolist() == [-2.0] * 32


@pytest.mark.parametrize("options", [{"batch_norm": True}, {"dropout": 0.5}])
def test_normalisation_and_dropout_act_in_training_only(options):
    torch.manual_seed(0)
    network = MLPOptions(widths=(16, 16), **options).build(SPEC).eval()
    seen = observations()
    whole = network.value(seen)
    assert torch.equal(whole, network.value(seen))
    torch.testing.assert_close(network.value(seen[:1])[0], whole[0], msg="a row depends on its batch")
    network.train()
    assert not torch.equal(network.value(seen), whole)


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"value_range": (1.0, 1.0)}, "network.value_range"),
        ({"dropout": 1.0}, "network.dropout"),
        ({"layer_norm": True, "batch_norm": True}, "network.batch_norm"),
        ({"head_widths": (0,)}, "network.head_widths[0]"),
    ],
)
def test_invalid_options_raise_an_error(options, key):
    with pytest.raises(InvalidOption) as caught:
        MLPOptions(**options)
    assert caught.value.key == key
