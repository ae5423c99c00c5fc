"""Random choice of actions: the agent that plays uniformly random legal ones, and exploration.

Exploration samples actions with their log-probabilities, epsilon-greedy or by epsilon-softmax.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from cardlab.games.array_checks import unchecked
from cardlab.games.legality import choose_from_each, choose_uniformly
from cardlab.games.protocol import Actions, Bools, Floats, Game, InfoStates, Players, lists_legal_actions


@dataclass(frozen=True, slots=True)
class SampledActions:
    """Actions with the log-probabilities and values of the policy that sampled them."""

    actions: Actions  # [N]
    log_probabilities: Floats  # [N] under the sampling policy
    values: Floats  # [N] of the state, or of the action, in units of reward_scale


class ExploringAgent(Protocol):
    """An agent that collects experience: actions with log-probabilities and values."""

    def sample(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> SampledActions:
        """Actions for [N] decisions, with log-probabilities and values."""
        ...


def epsilon_greedy(
    best: Actions, values: Floats, legal: Bools, epsilon: float, rng: np.random.Generator
) -> SampledActions:
    """`best` [N], each replaced with probability `epsilon` by a uniformly random legal action."""
    actions = best
    if epsilon > 0:
        explores = rng.random(len(best)) < epsilon
        actions = np.where(explores, choose_uniformly(legal, rng.random(len(best), dtype=np.float32)), best)
    share = epsilon / legal.sum(axis=1)
    probabilities = np.where(actions == best, 1.0 - epsilon + share, share)
    return SampledActions(actions, np.log(probabilities).astype(np.float32), values)


def epsilon_softmax(
    best: Actions, action_values: Floats, epsilon: float, temperature: float, rng: np.random.Generator
) -> SampledActions:
    """`best`, each replaced with probability `epsilon` by a sample from softmax(action_values / temperature)."""
    highest = action_values.max(axis=1)
    weights = np.exp((action_values - highest[:, None]) / np.float32(temperature))
    sums = weights.cumsum(axis=1)
    explores = rng.random(len(best)) < epsilon
    drawn = (rng.random(len(best), dtype=np.float32)[:, None] * sums[:, -1:] >= sums).sum(axis=1)
    drawn = np.where(drawn < action_values.shape[1], drawn, best)  # rounding may exceed the last sum
    actions = np.where(explores, drawn, best).astype(np.int16)
    shares = np.take_along_axis(weights, actions[:, None].astype(np.int64), axis=1)[:, 0] / sums[:, -1]
    probabilities = np.where(actions == best, 1.0 - epsilon, 0.0) + epsilon * shares
    return SampledActions(actions, np.log(probabilities).astype(np.float32), highest)


def greedy_log_probabilities(scores: Floats, epsilon: float) -> Floats:
    """[N, A] of the epsilon-greedy policy on `scores` [N, A], which are minus infinity where illegal."""
    legal = np.isfinite(scores)
    probabilities = np.where(legal, epsilon / legal.sum(axis=1, keepdims=True), 0.0)
    probabilities[np.arange(len(scores)), scores.argmax(axis=1)] += 1.0 - epsilon
    with np.errstate(divide="ignore"):
        return np.log(probabilities).astype(np.float32)


def annealed_epsilon(start: float | None, end: float, share: float, progress: float, hold: float = 0.0) -> float:
    """Epsilon is `start` for a share `hold` of the budget, falls linearly to `end` over the next `share`, and stays."""
    if start is None or (share <= 0 and progress >= hold):
        return end
    if progress < hold:
        return start
    return end + (start - end) * max(0.0, 1.0 - (progress - hold) / share)


@dataclass(frozen=True)
class RandomAgent:
    """Uniform over the legal actions."""

    game: Game

    @cached_property
    def _game(self) -> Game:
        return unchecked(self.game)

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions."""
        uniforms = rng.random(len(info_states), dtype=np.float32)
        if lists_legal_actions(self._game):
            return choose_from_each(*self._game.list_legal_actions(info_states), uniforms)
        return choose_uniformly(self._game.legal_actions(info_states), uniforms)
