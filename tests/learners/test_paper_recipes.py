"""What the programs of the papers do, against plain references."""

import math
from copy import deepcopy
from itertools import product

import numpy as np
import pytest
import torch
from torch.nn import functional

from cardlab.agents.exploration import annealed_epsilon
from cardlab.agents.network_agents import observe_afterstates
from cardlab.core.messages import InvalidOption
from cardlab.games.make_game import make_game
from cardlab.games.protocol import HasOpening
from cardlab.learners.dqn.options import DQNOptions
from cardlab.learners.losses import clipped_regression, lambda_returns, regression_to_zero
from cardlab.learners.ppo.options import PPOOptions
from cardlab.learners.rollouts.collector import Collector
from cardlab.learners.rollouts.experience import Experience
from cardlab.learners.rollouts.opponents.fixed import SelfPlayOptions
from cardlab.learners.td.learner import OnlineSteps
from cardlab.learners.td.options import TDOptions
from cardlab.networks.actions_options import ActionsOptions
from cardlab.networks.layers import Head
from cardlab.networks.mlp_options import MLPOptions
from cardlab.networks.option_types import Activation, Init
from cardlab.networks.trunks_options import TrunksOptions


def test_a_cut_bootstraps_as_generalised_advantage_estimation():
    gamma, lambda_, rng = 0.9, 0.8, np.random.default_rng(1)
    rewards, values = rng.normal(size=(2, 6)).astype(np.float32)
    ahead = np.float32(0.7)  # value of the decision after the cut
    advantage, expected = 0.0, np.zeros(6)
    for t in reversed(range(6)):
        following = values[t + 1] if t < 5 else ahead
        advantage = rewards[t] + gamma * following - values[t] + gamma * lambda_ * advantage
        expected[t] = advantage
    at_cut = rewards + gamma * np.array([0, 0, 0, 0, 0, ahead], np.float32)
    returns = lambda_returns(at_cut, values, np.array([False] * 5 + [True]), gamma, lambda_)
    assert returns - values == pytest.approx(expected, abs=1e-5)


def test_the_larger_error_of_value_and_clipped_value_counts():
    predicted, targets, old = torch.tensor([1.0, 1.0, 0.1]), torch.tensor([2.0, 0.0, 5.0]), torch.zeros(3)
    loss = clipped_regression(predicted, targets, old, torch.tensor(0.2))
    assert float(loss) == pytest.approx((1.8**2 + 1.0**2 + 4.9**2) / 3)


def test_the_other_outputs_of_each_kind_of_decision_learn_zero():
    turns, swaps = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), torch.tensor([[7.0, 8.0, 9.0, 10.0]])
    scores = torch.full((3, 7), -torch.inf)
    scores[:2, :3], scores[2:, 3:] = turns, swaps
    loss = regression_to_zero(
        scores, torch.tensor([1, 0, 5]), torch.tensor([0.5, -2.0, 3.0]), torch.tensor([0, 0, 1], dtype=torch.int8)
    )
    wanted = torch.tensor([[0.0, 0.5, 0.0], [-2.0, 0.0, 0.0]])
    expected = functional.mse_loss(turns, wanted) + functional.mse_loss(swaps, torch.tensor([[0.0, 0.0, 3.0, 0.0]]))
    assert float(loss) == pytest.approx(float(expected))


@pytest.mark.parametrize(
    ("episode", "targets"), [("game", [[2.0, 4.0, 2.0, 4.0]]), ("reward", [[1.5, 3.0], [2.0, 4.0]])]
)
def test_an_episode_ends_with_the_game_or_with_a_reward(episode, targets):
    game = make_game("thirty_one", reward="shaped", features="paper")
    options = DQNOptions(
        loss="mse",
        gamma=0.5,
        episode=episode,
        n_step=0,
        update_per_game=True,
        buffer_size=1,
        anneal_learning_rate=False,
        reward_scale=1.0,
    )
    network = TrunksOptions().build(game.spec)
    for weights in network.parameters():
        torch.nn.init.zeros_(weights)
    learner = options.build(game, network, 10, 1)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.0)
    learner.optimizers = lambda *_, **__: optimizer
    states = game.deal(1, np.random.default_rng(1))
    known = game.information(states, game.current_player(states)).repeat(4)
    players, actions = np.zeros(4, dtype=np.int8), np.zeros(4, dtype=np.int16)
    rewards, ends = np.array([0, 3, 0, 4], dtype=np.float32), np.array([False, False, False, True])
    nothing, payoffs = np.zeros(4, dtype=np.float32), np.array([[7, -7]], dtype=np.float32)
    batch = Experience(
        known, players, actions, nothing, nothing, rewards, ends, payoffs, np.array([[0, 1]], dtype=np.int8)
    )
    expected = np.mean([np.mean(np.square(part)) for part in targets])
    assert learner.update(batch)["value_loss"] == pytest.approx(expected, rel=1e-5)


def test_orthogonal_layers_have_their_gains():
    network = MLPOptions(widths=(16,), head_widths=(8,), init="orthogonal").build(make_game("big2").spec)
    layers = [layer for layer in network.modules() if isinstance(layer, torch.nn.Linear)]
    for layer in layers:
        gain = math.sqrt(2) if not isinstance(layer, Head) else 1.0 if layer is network.value_head else 0.01
        norms = torch.linalg.svdvals(layer.weight.detach())
        torch.testing.assert_close(norms, torch.full_like(norms, gain), rtol=1e-4, atol=1e-5)
        assert not layer.bias.any()


def test_uniform_and_torch_weights_have_their_bounds():
    spec = make_game("thirty_one", features="paper").spec
    for options, gain in ((MLPOptions(init="uniform"), 0.5), (TrunksOptions(init="torch"), 1.0)):
        for layer in options.build(spec).modules():
            if isinstance(layer, torch.nn.Linear):
                fan_in = layer.in_features + (1 if gain < 1 else 0)
                largest = float(layer.weight.detach().abs().max())
                assert 0.7 * gain / math.sqrt(fan_in) < largest <= gain / math.sqrt(fan_in) + 1e-6


def test_epsilon_holds_then_falls():
    shares = [annealed_epsilon(1.0, 0.0, 0.5, progress, 0.25) for progress in (0.0, 0.24, 0.5, 0.75, 1.0)]
    assert shares == pytest.approx([1.0, 1.0, 0.5, 0.0, 0.0])


def test_adam_has_the_epsilon_and_the_floor_of_the_options():
    game = make_game("big2")
    options = PPOOptions(adam_epsilon=1e-5, min_learning_rate=1e-6, cut_games=True)
    learner = options.build(game, MLPOptions(widths=(8,)).build(game.spec), 10, 1)
    assert learner.configure_optimizers().defaults["eps"] == 1e-5
    assert learner.min_learning_rate == 1e-6
    with pytest.raises(InvalidOption, match=r"agent\.cut_games"):
        PPOOptions(critic="all_cards", cut_games=True).build(game, learner.network, 10, 1)


def test_losses_that_exclude_each_other_are_refused():
    with pytest.raises(InvalidOption, match=r"agent\.zero_other_actions"):
        DQNOptions(loss="mse", zero_other_actions=True, train_all_actions=True)
    with pytest.raises(InvalidOption, match=r"agent\.loss=huber: must be mse with agent\.zero_other_actions"):
        DQNOptions(zero_other_actions=True, loss="huber")
    with pytest.raises(InvalidOption, match=r"agent\.episode=reward: must be game with agent\.successors"):
        DQNOptions(successors=2, n_step=1, double=False, episode="reward")
    with pytest.raises(
        InvalidOption, match=r"agent\.min_learning_rate=0\.1: must be at most agent\.learning_rate=0\.01"
    ):
        PPOOptions(learning_rate=0.01, min_learning_rate=0.1)
    game = make_game("big2")
    with pytest.raises(
        InvalidOption, match=r"agent\.zero_other_actions=true: must be false: this network scores legal"
    ):
        DQNOptions(zero_other_actions=True, loss="mse").build(
            game, ActionsOptions((8,), (8,), (4,)).build(game.spec), 10, 1
        )
    with pytest.raises(InvalidOption, match=r"agent\.epsilon"):
        DQNOptions(learn_random_actions=False, epsilon=0.6)


@pytest.mark.parametrize(("activation", "init"), [("tanh", "uniform"), ("softsign", "gaussian")])
def test_online_steps_are_those_of_torch(activation: Activation, init: Init):
    spec = make_game("poker_squares", features="paper").spec
    network = MLPOptions(widths=(20, 10), activation=activation, init=init, value_range=(-1.0, 2.0)).build(spec)
    rng, steps = np.random.default_rng(1), OnlineSteps(network)
    observations = rng.random((6, 76), dtype=np.float32)
    targets, rates = rng.random((2, 6), dtype=np.float32)
    ahead = np.array([True, False, True, True, False, False])
    before = {name: weights.clone() for name, weights in network.state_dict().items()}
    errors = steps.take(observations, targets, ahead, 0.9, rates)
    taken = {name: weights.clone() for name, weights in network.state_dict().items()}
    network.load_state_dict(before)
    inputs = torch.from_numpy(observations)
    for n in range(6):
        with torch.no_grad():
            following = float(network.value(inputs[n + 1 : n + 2])) if ahead[n] else 0.0
        error = float(targets[n]) + 0.9 * following - network.value(inputs[n : n + 1]).squeeze()
        assert errors[n] == pytest.approx(float(error.detach()) ** 2, abs=1e-5)
        network.zero_grad()
        (error.square() / 2).backward()
        torch.optim.SGD(network.parameters(), lr=float(rates[n])).step()
    for name, weights in network.state_dict().items():
        torch.testing.assert_close(taken[name], weights, rtol=1e-4, atol=1e-5)


def test_final_scores_are_learned_from_the_end_of_each_game_to_its_start():
    game, rng = make_game("poker_squares", features="paper"), np.random.default_rng(1)
    network = MLPOptions(widths=(4,), activation="tanh", init="uniform", value_range=(-1.0, 1.0)).build(game.spec)
    options = TDOptions(
        online=True, optimizer="sgd", minibatch_size=1, td_lambda=1.0, end_decay=0.5, learning_rate=0.5,
        anneal_learning_rate=False, reward_scale=100.0,
    )  # fmt: skip
    learner, before = options.build(game, network, 10, 1), deepcopy(network)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.5)
    learner.optimizers = lambda *_, **__: optimizer
    opponents = SelfPlayOptions().build(game, learner.trained_agent, network)
    batch = Collector(game, learner.behaviour_agent(), opponents, 2, rng).collect(30)
    learner.update(batch)
    observations = torch.from_numpy(observe_afterstates(game, batch.info_states, batch.players, batch.actions))
    scores = np.repeat(batch.rewards[batch.ends] / np.float32(100), np.diff(np.flatnonzero(batch.ends), prepend=-1))
    last = np.flatnonzero(batch.ends)
    for start, stop in zip([0, *(last[:-1] + 1)], last + 1, strict=True):
        for n in reversed(range(start, stop)):
            before.zero_grad()
            ((float(scores[n]) - before.value(observations[n : n + 1]).squeeze()).square() / 2).backward()
            torch.optim.SGD(before.parameters(), lr=0.5 * 0.5 ** (stop - 1 - n)).step()
    for name, weights in network.state_dict().items():
        torch.testing.assert_close(weights, before.state_dict()[name], rtol=1e-4, atol=1e-5)


def test_online_steps_need_tanh_or_softsign():
    game = make_game("poker_squares", features="paper")
    options = TDOptions(online=True, optimizer="sgd", minibatch_size=1, td_lambda=0.0)
    with pytest.raises(InvalidOption, match=r"agent\.online"):
        options.build(game, MLPOptions(widths=(8,)).build(game.spec), 10, 1)
    with pytest.raises(InvalidOption, match=r"agent\.td_lambda"):
        TDOptions(online=True, optimizer="sgd", minibatch_size=1, td_lambda=0.5)


def test_openings_of_the_list_are_played_and_not_learned():
    game, rng = make_game("open_face", features="paper"), np.random.default_rng(1)
    assert isinstance(game, HasOpening)
    options = DQNOptions(opening_list=True, epsilon=0.3, buffer_size=1000)
    learner = options.build(game, MLPOptions(widths=(8,)).build(game.spec), 10, 1)
    states = game.deal(50, rng)
    for _ in range(10):
        players = game.current_player(states)
        known = game.information(states, players)
        actions = learner.behaviour_agent().act(known, players, rng)
        listed = game.listed_actions(known)
        assert (actions == listed)[listed >= 0].all()
        assert (listed >= 0).mean() > 0.9
        game.apply(states, actions)
    assert (game.listed_actions(game.information(states, game.current_player(states))) == -1).all()


def test_a_whole_opening_is_the_best_of_all_placements():
    game, rng = make_game("open_face", features="paper"), np.random.default_rng(1)
    assert isinstance(game, HasOpening)
    torch.manual_seed(1)
    network = MLPOptions(widths=(8,), init="torch").build(game.spec)
    learner = DQNOptions(whole_opening=True).build(game, network, 10, 1)
    agent, card_by_card = learner.trained_agent(game, network), DQNOptions().build(game, network, 10, 1)
    states = game.deal(20, rng)
    best = np.full(20, -np.inf)
    opening = game.information(states, game.current_player(states))
    for rows in product(range(3), repeat=4):
        if rows.count(0) < 4:
            placed = opening.copy()
            for row in rows:
                game.apply(placed, np.full(20, row, dtype=np.int16))
            values = card_by_card.trained_agent(game, network).action_values(placed, game.current_player(placed))
            best = np.maximum(best, values.max(axis=1))
    for place in range(5):
        players = game.current_player(opening)
        assert game.places_more(opening).tolist() == [place < 4] * 20
        actions = agent.act(opening, players, rng)
        chosen = agent.action_values(opening, players)[np.arange(20), actions]
        assert chosen == pytest.approx(best, abs=1e-5)
        game.apply(opening, actions)
    with pytest.raises(InvalidOption, match=r"agent\.whole_opening"):
        DQNOptions(whole_opening=True).build(make_game("big2"), network, 10, 1)
