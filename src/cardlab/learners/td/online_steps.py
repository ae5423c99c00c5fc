"""Plain gradient steps, one for each decision, as the first programs of TD learning took them."""

from typing import Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from cardlab.core.kernels import fastmath_kernel
from cardlab.core.messages import InvalidOption
from cardlab.games.protocol import Bools, Floats
from cardlab.networks.protocol import Network


@runtime_checkable
class Perceptron(Protocol):
    """A network that can be trained online, if `is_plain_tanh` and if it has a range of values."""

    value_range: tuple[float, float] | None
    is_plain_tanh: bool  # all layers have a tanh, and there is neither normalisation nor dropout

    def value_layers(self) -> list[nn.Linear]:
        """The linear layers from the observation to the value, in order."""
        ...


class OnlineSteps:
    """Steps of a perceptron of tanh layers with one tanh output, compiled: torch takes 20 times as long for each."""

    def __init__(self, network: Network) -> None:
        """Raises InvalidOption for any other network."""
        if not isinstance(network, Perceptron) or network.value_range is None or not network.is_plain_tanh:
            needed = "network.activation=tanh and a network.value_range, without normalisation and dropout"
            raise InvalidOption("agent.online", True, f"false, unless network=mlp with {needed}")
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
            errors = _take_steps(weights, sizes, observations, targets, ahead, np.float32(gamma), rates, self._range)
            nn.utils.vector_to_parameters(torch.from_numpy(weights).to(parts[0].device), parts)
        return errors


@fastmath_kernel
def _take_steps(
    weights: Floats,
    sizes: NDArray[np.int64],
    observations: Floats,
    targets: Floats,
    ahead: Bools,
    gamma: np.float32,
    rates: Floats,
    value_range: Floats,
) -> Floats:
    errors = np.empty(len(targets), dtype=np.float32)
    outputs = np.zeros((len(sizes), sizes.max()), dtype=np.float32)
    slopes = np.zeros((len(sizes), sizes.max()), dtype=np.float32)
    half = (value_range[1] - value_range[0]) / np.float32(2)
    middle = value_range[0] + half
    for n in range(len(targets)):
        target = targets[n]
        if ahead[n]:
            _pass_forward(weights, sizes, observations[n + 1], outputs)
            target += gamma * (middle + half * outputs[-1, 0])
        _pass_forward(weights, sizes, observations[n], outputs)
        error = target - (middle + half * outputs[-1, 0])
        errors[n] = error * error
        slopes[-1, 0] = rates[n] * error * half * (np.float32(1) - outputs[-1, 0] * outputs[-1, 0])
        _pass_back(weights, sizes, outputs, slopes)
    return errors


@fastmath_kernel
def _pass_forward(weights: Floats, sizes: NDArray[np.int64], observation: Floats, outputs: Floats) -> None:
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
            outputs[layer + 1, unit] = np.tanh(total)
        start += (before + 1) * after


@fastmath_kernel
def _pass_back(weights: Floats, sizes: NDArray[np.int64], outputs: Floats, slopes: Floats) -> None:
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
            slopes[layer, place] *= np.float32(1) - outputs[layer, place] * outputs[layer, place]
        end = start
