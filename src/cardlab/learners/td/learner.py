"""Temporal differences over afterstates: a value network, greedy one-step play, TD(λ) to Monte Carlo targets.

The offline form of TD-Gammon (Tesauro 1995): targets are λ-returns over the whole games of a rollout.
"""

from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from cardlab.agents.exploration import annealed_epsilon
from cardlab.agents.network_agents import AfterstateAgent, Afterstates, afterstates, observe_afterstates
from cardlab.core.kernels import fastmath_kernel
from cardlab.core.messages import InvalidOption
from cardlab.games.protocol import Bools, Floats, Game
from cardlab.games.record_arrays import copied, take
from cardlab.learners.base import Learner, MetricMeans, Metrics
from cardlab.learners.hyperparameters import GREEDY_MIN_PROBABILITY
from cardlab.learners.losses import (
    averaged_bootstrap,
    averaged_returns,
    end_weights,
    explained_variance,
    lambda_returns,
    regression,
)
from cardlab.learners.rollouts.experience import Experience
from cardlab.learners.rollouts.sampled_successors import sample_successors
from cardlab.learners.td.options import TDOptions
from cardlab.networks.protocol import Network


@runtime_checkable
class Perceptron(Protocol):
    """A network that can be trained online: of tanh or softsign layers, with a range of values."""

    value_range: tuple[float, float] | None
    plain_activation: str | None  # of all hidden layers; None with normalisation or dropout

    def value_layers(self) -> list[nn.Linear]:
        """The linear layers from the observation to the value, in order."""
        ...


class OnlineSteps:
    """Steps of a perceptron with one tanh output, compiled: torch takes 20 times as long for each."""

    def __init__(self, network: Network) -> None:
        """Raises InvalidOption for any other network."""
        needed = "network.activation=tanh or softsign and a network.value_range, without normalisation and dropout"
        refusal = InvalidOption("agent.online", True, f"false, unless network=mlp with {needed}")
        if not isinstance(network, Perceptron) or network.value_range is None:
            raise refusal
        if network.plain_activation not in ("tanh", "softsign"):
            raise refusal
        self._is_softsign = network.plain_activation == "softsign"
        self._layers = network.value_layers()
        self._range = np.array(network.value_range, dtype=np.float32)

    def take(self, observations: Floats, targets: Floats, ahead: Bools, gamma: float, rates: Floats) -> Floats:
        """Squared errors [N] before each step of `rates` [N] on half of it; the weights change in place.

        Where `ahead` [N], `gamma` times the value of the next observation by the current weights is added to the
        target.
        """
        sizes = np.array([self._layers[0].in_features, *(layer.out_features for layer in self._layers)])
        with torch.no_grad():
            parts = [part for layer in self._layers for part in (layer.weight, layer.bias)]
            weights = nn.utils.parameters_to_vector(parts).cpu().numpy().copy()
            discounts = np.where(ahead, np.float32(gamma), np.float32(0))
            shape = self._range, self._is_softsign
            errors = _take_steps(weights, sizes, observations, targets, discounts, rates, *shape)
            nn.utils.vector_to_parameters(torch.from_numpy(weights).to(parts[0].device), parts)
        return errors


@fastmath_kernel
def _take_steps(
    weights: Floats,
    sizes: NDArray[np.int64],
    observations: Floats,
    targets: Floats,
    discounts: Floats,
    rates: Floats,
    value_range: Floats,
    is_softsign: bool,
) -> Floats:
    errors = np.empty(len(targets), dtype=np.float32)
    outputs = np.zeros((len(sizes), sizes.max()), dtype=np.float32)
    slopes = np.zeros((len(sizes), sizes.max()), dtype=np.float32)
    half = (value_range[1] - value_range[0]) / np.float32(2)
    middle = value_range[0] + half
    for n in range(len(targets)):
        target = targets[n]
        if discounts[n]:
            _pass_forward(weights, sizes, observations[n + 1], outputs, is_softsign)
            target += discounts[n] * (middle + half * outputs[-1, 0])
        _pass_forward(weights, sizes, observations[n], outputs, is_softsign)
        error = target - (middle + half * outputs[-1, 0])
        errors[n] = error * error
        slopes[-1, 0] = rates[n] * error * half * (np.float32(1) - outputs[-1, 0] * outputs[-1, 0])
        _pass_back(weights, sizes, outputs, slopes, is_softsign)
    return errors


@fastmath_kernel
def _pass_forward(
    weights: Floats, sizes: NDArray[np.int64], observation: Floats, outputs: Floats, is_softsign: bool
) -> None:
    """Fill `outputs` [layers + 1, widest] with the observation and the output of each layer."""
    outputs[0, : sizes[0]] = observation
    start = 0
    for layer in range(len(sizes) - 1):
        before, after = sizes[layer], sizes[layer + 1]
        matrix = weights[start : start + before * after].reshape(after, before)
        for unit in range(after):
            total = weights[start + before * after + unit]
            for place in range(before):
                total += matrix[unit, place] * outputs[layer, place]
            if is_softsign and layer < len(sizes) - 2:
                outputs[layer + 1, unit] = total / (np.float32(1) + abs(total))
            else:
                outputs[layer + 1, unit] = np.tanh(total)
        start += (before + 1) * after


@fastmath_kernel
def _pass_back(weights: Floats, sizes: NDArray[np.int64], outputs: Floats, slopes: Floats, is_softsign: bool) -> None:
    """Add the step to `weights`; slopes[-1, 0] is that of the output's input, the other slopes are filled in."""
    end = len(weights)
    for layer in range(len(sizes) - 2, -1, -1):
        before, after = sizes[layer], sizes[layer + 1]
        start = end - (before + 1) * after
        matrix = weights[start : start + before * after].reshape(after, before)
        slopes[layer, :before] = 0
        for unit in range(after):
            slope = slopes[layer + 1, unit]
            for place in range(before):
                slopes[layer, place] += slope * matrix[unit, place]
                matrix[unit, place] += slope * outputs[layer, place]
            weights[start + before * after + unit] += slope
        for place in range(before):
            output = outputs[layer, place]
            if is_softsign:
                slopes[layer, place] *= (np.float32(1) - abs(output)) ** 2
            else:
                slopes[layer, place] *= np.float32(1) - output * output
        end = start


_SUCCESSORS_AT_ONCE = 4096  # more would take memory without saving time


class TDLearner(Learner):
    """Values of afterstates by regression on λ-returns."""

    def __init__(self, game: Game, network: Network, options: TDOptions, total_iterations: int, seed: int) -> None:
        super().__init__(game, network, options, total_iterations, seed)
        self.options = options
        self._online_steps = OnlineSteps(network) if options.online else None

    @property
    def epsilon(self) -> float:
        """Current share of exploring actions."""
        options = self.options
        return annealed_epsilon(options.epsilon_start, options.epsilon, options.epsilon_decay, self.progress)

    def behaviour_agent(self) -> AfterstateAgent:
        """Greedy with exploration by `epsilon`."""
        exploration = (self.epsilon, self.reward_scale, self.options.temperature, self.options.off_policy)
        return AfterstateAgent(self.game, self.network, *exploration)

    def trained_agent(self, game: Game, network: Network) -> AfterstateAgent:
        """Greedy."""
        return AfterstateAgent(game, network, 0.0, self.reward_scale)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Adam, Adagrad (Duchi et al. 2011) or stochastic gradient descent."""
        options, weights = self.options, self.network.parameters()
        rate, decay = options.learning_rate, options.weight_decay
        if options.optimizer == "sgd":
            optimizer: torch.optim.Optimizer = torch.optim.SGD(weights, rate, options.momentum, weight_decay=decay)
        elif options.optimizer == "adagrad":
            optimizer = torch.optim.Adagrad(weights, rate, weight_decay=decay, fused=True)
        else:
            optimizer = torch.optim.Adam(weights, rate, weight_decay=decay, fused=True)
        if options.normalize_gradients:
            optimizer.register_step_pre_hook(_normalize_gradients)
        return optimizer

    def update(self, experience: Experience) -> Metrics:
        """Minibatches over the afterstates of one rollout."""
        options = self.options
        scale = np.float32(self.reward_scale)
        rewards = experience.rewards / scale
        if options.successors:
            values = self._successor_values(experience)
            returns = averaged_returns(rewards, values, experience.ends, options.gamma, options.td_lambda)
        else:
            traces = self._traces(experience)
            returns = lambda_returns(rewards, experience.values, experience.ends, options.gamma, traces)
        after = afterstates(self.game, copied(experience.info_states), experience.players, experience.actions)
        targets = (returns - after.rewards / scale).astype(np.float32, copy=False)
        variance = explained_variance(torch.from_numpy(experience.values), torch.from_numpy(returns))
        shown = {"explained_variance": float(variance), "epsilon": self.epsilon}
        if self._online_steps is not None:
            return {**self._step_online(self._online_steps, experience, targets, after), **shown}
        weights = torch.from_numpy(end_weights(experience.ends, options.end_decay)).to(self.device)
        unfinished = np.flatnonzero(~after.over)  # a finished game has value 0 by definition
        means = MetricMeans()
        for _ in range(options.epochs):
            for part in self.minibatches(len(unfinished), options.minibatch_size):
                index = unfinished[part]
                augmented = self.augment(take(experience.info_states, index), experience.actions[index])
                observations = observe_afterstates(self.game, augmented[0], experience.players[index], augmented[1])
                predicted = self.network.value(torch.from_numpy(observations).to(self.device))
                wanted = torch.from_numpy(targets[index]).to(self.device)
                loss = regression(predicted, wanted, "mse", weights[index])
                norm = self.gradient_step([(loss, 1.0)], len(index), options.max_grad_norm)
                means.add(value_loss=loss, value=predicted.mean(), grad_norm=norm)
        return {**means.result(), **shown}

    def _step_online(self, steps: OnlineSteps, experience: Experience, targets: Floats, after: Afterstates) -> Metrics:
        """One step per decision, in the order of play; with Monte Carlo targets from the end of each game to its start.

        A one-step target has the value of the next afterstate by the weights of that moment. Where the next decision
        explored, `targets` has the value of its best action before the rollout.
        """
        options, scale = self.options, np.float32(self.reward_scale)
        rates = self.optimizer.param_groups[0]["lr"] * end_weights(experience.ends, options.end_decay)
        ahead = ~experience.ends & ~np.append(after.over[1:], True) & (options.td_lambda == 0)
        if options.off_policy:
            ahead &= np.append(experience.log_probabilities[1:] > np.log(GREEDY_MIN_PROBABILITY), True)
        following = np.append(after.rewards[1:], np.float32(0))
        paid = (experience.rewards - after.rewards + options.gamma * following) / scale
        observed = self.game.observe(after.info_states, experience.players)
        unfinished = ~after.over
        wanted, rates = np.where(ahead, paid, targets).astype(np.float32), rates * unfinished
        if options.td_lambda == 1:
            order = _backwards(experience.ends)
            observed, wanted, ahead, rates = observed[order], wanted[order], ahead[order], rates[order]
            unfinished = unfinished[order]
        errors = steps.take(observed, wanted, ahead, options.gamma, rates)
        return {"value_loss": float(errors[unfinished].mean()), "value": float(experience.values.mean())}

    def _traces(self, experience: Experience) -> float | NDArray[np.float64]:
        """λ; with `off_policy` 0 where the next decision explored (Q(λ), Watkins 1989)."""
        if not self.options.off_policy:
            return self.options.td_lambda
        greedy = experience.log_probabilities > np.log(GREEDY_MIN_PROBABILITY)
        return np.where(np.append(greedy[1:], True), self.options.td_lambda, 0.0)

    def _successor_values(self, experience: Experience) -> Floats:
        """[N] B_t = 1/M Σ_j (r_j + γ max_a Q(s_j, a)) over sampled successors s_j; see `sample_successors`."""
        options, agent = self.options, self.behaviour_agent()
        found = np.empty(len(experience), dtype=np.float32)
        at_once = max(1, _SUCCESSORS_AT_ONCE // options.successors)
        self.network.eval()  # without dropout
        for start in range(0, len(found), at_once):
            part = np.arange(start, min(start + at_once, len(found)))
            after = sample_successors(
                self.game,
                take(experience.info_states, part),
                experience.players[part],
                experience.actions[part],
                agent,
                num_samples=options.successors,
                rng=self.rng,
            )
            values = torch.from_numpy(agent.action_values(after.info_states, after.players))
            ahead = averaged_bootstrap(values.reshape(len(part), options.successors, -1), "mean_of_maxima").numpy()
            paid = after.rewards.reshape(len(part), -1).mean(axis=1)
            found[part] = (paid + options.gamma * ahead) / self.reward_scale
        self.network.train()
        return found


def _backwards(ends: Bools) -> NDArray[np.intp]:
    """[N] an order of the decisions in which each player's go from the end of the game to its start."""
    games = np.cumsum(ends) - ends
    return np.lexsort((-np.arange(len(ends)), games))


def _normalize_gradients(optimizer: torch.optim.Optimizer, *_: Any) -> None:
    """Scale all gradients together to the norm 1; a gradient of 0 stays."""
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    gradients = [weight.grad for weight in weights if weight.grad is not None]
    norm = float(nn.utils.get_total_norm(gradients))
    if norm > 0:
        for gradient in gradients:
            gradient.div_(norm)
