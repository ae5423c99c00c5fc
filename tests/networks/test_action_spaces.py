"""Proto-actions and abstract actions: which legal actions may be played, and what learns."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cardlab.agents.exploration import RandomAgent
from cardlab.agents.network_agents import SoftmaxAgent
from cardlab.core.messages import InvalidOption
from cardlab.games.big2.actions import KINDS
from cardlab.games.loop import play
from cardlab.games.make_game import make_game
from cardlab.learners.dqn.options import DQNOptions
from cardlab.learners.ppo.loss import LossInputs, ppo_loss
from cardlab.networks.abstract_actions import RULES, abstract_actions
from cardlab.networks.abstract_actions_options import AbstractActionsOptions
from cardlab.networks.inputs import LegalPairs, legal_pairs
from cardlab.networks.proto_action import nearest
from cardlab.networks.proto_action_options import ProtoActionOptions
from cardlab.networks.protocol import encode_for, encode_legal_for

GAME = make_game("big2")
SMALL = {"state_widths": (16,), "action_widths": (8,), "dimensions": 4}
NETWORKS = [
    ProtoActionOptions(neighbors=3, joint_widths=(8,), **SMALL),
    ProtoActionOptions(neighbors=3, joint_widths=(), **SMALL),
    AbstractActionsOptions(widths=(16,)),
]


def decisions(num_games=64, steps=9):
    """InfoStates and players of decisions in the middle of games."""
    rng = np.random.default_rng(1)
    moves = play(GAME, GAME.deal(num_games, rng), [RandomAgent(GAME)], rng)
    for _ in range(steps):
        move = next(moves)
    return move.info_states, move.players


def network_of(options):
    torch.manual_seed(0)
    return options.build(GAME.spec)


def loss_inputs(pairs: LegalPairs, taken: torch.Tensor, old: torch.Tensor) -> LossInputs:
    ones = torch.ones(len(taken))
    return LossInputs(pairs, taken, old, ones, ones, None, torch.tensor(0.2), torch.tensor(0.01))


@pytest.mark.parametrize("options", NETWORKS)
def test_only_legal_actions_are_played_and_each_decision_has_one(options):
    seen, network = decisions(), network_of(options)
    legal = GAME.legal_actions(seen[0])
    log_probabilities, _ = SoftmaxAgent(GAME, network).evaluate(*seen)
    probabilities = np.exp(log_probabilities)
    assert not probabilities[~legal].any()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)
    played = (probabilities > 0).sum(axis=1)
    assert (played < legal.sum(axis=1)).any()  # some legal actions are left out
    if isinstance(options, ProtoActionOptions):
        np.testing.assert_array_equal(played, np.minimum(legal.sum(axis=1), 3))
    for seed in range(20):
        sampled = SoftmaxAgent(GAME, network).sample(*seen, np.random.default_rng(seed))
        here = np.arange(len(played))
        assert (probabilities[here, sampled.actions] > 0).all()
        np.testing.assert_allclose(sampled.log_probabilities, log_probabilities[here, sampled.actions], atol=1e-4)


@given(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=9), min_size=1, max_size=6), st.integers(1, 9))
def test_the_nearest_are_the_first_of_least_distance(distances, count):
    legal = np.zeros((len(distances), 9), dtype=np.bool_)
    for row, numbers in enumerate(distances):
        legal[row, : len(numbers)] = True
    flat = torch.tensor([number for numbers in distances for number in numbers], dtype=torch.float32)
    expected, start = [], 0
    for numbers in distances:
        best = sorted(range(len(numbers)), key=lambda place: (numbers[place], place))[:count]
        expected += [start + place for place in sorted(best)]
        start += len(numbers)
    assert nearest(flat, legal_pairs(legal), count).tolist() == expected


@pytest.mark.parametrize("joint_widths", [(8,), ()])
def test_as_many_neighbors_as_legal_actions_score_all_of_them(joint_widths):
    every, many = (
        network_of(ProtoActionOptions(neighbors=neighbors, joint_widths=joint_widths, **SMALL))
        for neighbors in (None, 2000)
    )
    observations, pairs = encode_legal_for(every, GAME, *decisions())
    torch.testing.assert_close(many.score_legal(observations, pairs), every.score_legal(observations, pairs))


@pytest.mark.parametrize("options", NETWORKS)
def test_every_layer_learns_and_an_action_that_is_left_out_has_no_effect(options):
    network = network_of(options)
    observations, pairs = encode_legal_for(network, GAME, *decisions())

    def gradients(places: torch.Tensor) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        network.zero_grad()
        scores, values = network.score_legal(observations, pairs)
        old = torch.full((len(places),), -1.0)
        loss, metrics = ppo_loss(scores, values * 0, loss_inputs(pairs, places, old), 0.0)
        loss.backward()
        assert metrics.isfinite().all()
        return loss, {name: weights.grad for name, weights in network.named_parameters()}

    with torch.no_grad():
        scores, _ = network.score_legal(observations, pairs)
    ratio_of = pairs.log_softmax(scores).exp()
    bounds = list(zip(pairs.starts[:-1].tolist(), pairs.starts[1:].tolist(), strict=True))
    likeliest = torch.tensor([low + int(ratio_of[low:high].argmax()) for low, high in bounds])
    rarest = torch.tensor([low + int(ratio_of[low:high].argmin()) for low, high in bounds])
    _, found = gradients(likeliest)
    for name, gradient in found.items():
        if not name.startswith("value_head"):
            assert gradient.isfinite().all()
            assert gradient.any(), name
    rows = torch.nonzero(ratio_of[rarest] == 0).squeeze(1)
    assert len(rows)
    loss, _ = gradients(torch.where(ratio_of[rarest] == 0, rarest, likeliest))
    assert loss.isfinite()


def test_abstract_actions_stand_for_what_their_rules_say():
    seen = decisions(200)
    network = network_of(AbstractActionsOptions(widths=(8,)))
    _, pairs = encode_legal_for(network, GAME, *seen)
    features = {
        block.name: pairs.features[:, block.start : block.start + block.size].numpy()
        for block in GAME.spec.action_blocks
    }
    kinds, strength, splits = features["kind"].argmax(axis=1), features["strength"][:, 0], features["splits"][:, 0]
    abstract = abstract_actions(pairs, *map(torch.from_numpy, (kinds, strength, splits))).numpy()
    rows = pairs.rows.numpy()
    for row in range(len(seen[1])):
        for kind in range(len(KINDS) + 1):
            places = np.flatnonzero((rows == row) & (kinds == kind))
            expected = np.full(len(places), -1)
            orders = {
                "keeping": (strength[places], splits[places]),
                "highest": (splits[places], -strength[places]),
                "lowest": (splits[places], strength[places]),
            }
            for rule, keys in orders.items():
                if len(places):
                    expected[np.lexsort(keys)[0]] = kind * 3 + RULES.index(rule)
            np.testing.assert_array_equal(abstract[places], expected)
    assert len(set(abstract.tolist())) > 12


def test_the_pass_and_a_single_legal_action_are_always_played():
    network = network_of(AbstractActionsOptions(widths=(8,)))
    inputs = encode_for(network, GAME, *decisions(200))
    log_probabilities = network(inputs)[0].log_softmax(dim=-1)
    assert (log_probabilities[:, -1].exp() > 0).equal(inputs.legal[:, -1])


@pytest.mark.parametrize("options", NETWORKS)
def test_dqn_refuses_networks_that_leave_actions_out(options):
    with pytest.raises(InvalidOption, match=r"^agent=dqn: must be ppo: this network has no value for some legal"):
        DQNOptions().build(GAME, network_of(options), 1, 0)


@pytest.mark.parametrize(("name", "options"), [("open_face", NETWORKS[0]), ("poker_squares", NETWORKS[2])])
def test_games_without_the_features_are_refused_in_one_line(name, options):
    with pytest.raises(InvalidOption, match=rf"^network=\w+: must be mlp or trunks: {name} has no action"):
        options.check(make_game(name).spec)


def test_one_neighbor_is_refused():
    with pytest.raises(InvalidOption, match=r"^network\.neighbors=1: must be"):
        ProtoActionOptions(neighbors=1)
