"""Agents that play by a network: by its scores, or by the values of what each action leads to."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from cardlab.agents.random import choose_uniformly
from cardlab.games.protocol import Actions, Bools, Floats, Game, InfoStates, Players
from cardlab.kernels import kernel
from cardlab.networks.inputs import encode
from cardlab.networks.protocol import Network


@dataclass(frozen=True, slots=True)
class Sampled:
    """Actions with what the agent thought of them when it chose."""

    actions: Actions  # [N]
    log_probabilities: Floats  # [N] of the actions, under the policy that chose them
    values: Floats  # [N] what its value estimate was


@kernel
def sample_rows(log_probabilities: Floats, uniforms: NDArray[np.float32]) -> Actions:
    """[N] one column of each row of log-probabilities [N, A], drawn by `uniforms` [N] in [0, 1)."""
    num_rows, num_actions = log_probabilities.shape
    actions = np.empty(num_rows, dtype=np.int16)
    for row in range(num_rows):
        left = uniforms[row]
        chosen = -1
        for action in range(num_actions):
            share = np.exp(log_probabilities[row, action])
            if share > 0:
                chosen = action
                left -= share
                if left < 0:
                    break
        actions[row] = chosen
    return actions


def explore(actions: Actions, legal: Bools, epsilon: float, rng: np.random.Generator) -> Actions:
    """`actions` [N], each replaced by a uniform legal one with probability `epsilon`."""
    if epsilon <= 0:
        return actions
    wanders = rng.random(len(actions)) < epsilon
    at_random = choose_uniformly(legal, rng.random(len(actions), dtype=np.float32))
    return np.where(wanders, at_random, actions)


@dataclass(frozen=True)
class SoftmaxAgent:
    """Plays by the softmax of a network's scores: sampled, or the likeliest action when `greedy`."""

    game: Game
    network: Network
    greedy: bool = False

    def sample(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Sampled:
        """Actions with their log-probabilities and the values of the situations."""
        log_probabilities, values = self.evaluate(info_states, players)
        if self.greedy:
            actions = log_probabilities.argmax(axis=1).astype(np.int16)
        else:
            actions = sample_rows(log_probabilities, rng.random(len(values), dtype=np.float32))
        chosen = np.take_along_axis(log_probabilities, actions[:, None].astype(np.int64), axis=1)[:, 0]
        return Sampled(actions, chosen, values)

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions."""
        return self.sample(info_states, players, rng).actions

    def evaluate(self, info_states: InfoStates, players: Players) -> tuple[Floats, Floats]:
        """Log-probabilities [N, A] and values [N]."""
        with torch.inference_mode():
            inputs = encode(self.game, info_states, players, reads_actions=self.network.reads_actions)
            scores, values = self.network(inputs)
            return scores.float().log_softmax(dim=-1).numpy(), values.float().numpy()


@dataclass
class ActionValueAgent:
    """Plays the action with the highest action value; a uniform legal one with probability `epsilon`."""

    game: Game
    network: Network
    epsilon: float = 0.0

    def sample(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Sampled:
        """Actions with their log-probabilities and the values of the situations (of the best action)."""
        scores = self.scores(info_states, players)
        best = scores.argmax(axis=1).astype(np.int16)
        return _epsilon_greedy(best, scores.max(axis=1), np.isfinite(scores), self.epsilon, rng)

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions."""
        return self.sample(info_states, players, rng).actions

    def evaluate(self, info_states: InfoStates, players: Players) -> tuple[Floats, Floats]:
        """Log-probabilities [N, A] of the epsilon-greedy policy and values [N]."""
        scores = self.scores(info_states, players)
        return _greedy_log_probabilities(scores, self.epsilon), scores.max(axis=1)

    def scores(self, info_states: InfoStates, players: Players) -> Floats:
        """Action values [N, A], minus infinity where illegal."""
        with torch.inference_mode():
            inputs = encode(self.game, info_states, players, reads_actions=self.network.reads_actions)
            return self.network(inputs)[0].float().numpy()


@dataclass
class AfterstateAgent:
    """Looks one step ahead: plays the action whose afterstate is worth most, with what it pays at once.

    The value network prices what is left to come after each afterstate; `reward_scale` is what one unit of its
    output is worth in payoffs.
    """

    game: Game
    network: Network
    epsilon: float = 0.0
    reward_scale: float = 1.0

    def sample(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Sampled:
        """Actions with their log-probabilities and the values of the *afterstates* they lead to."""
        scores, values = self._look_ahead(info_states, players)
        best = scores.argmax(axis=1).astype(np.int16)
        sampled = _epsilon_greedy(best, scores.max(axis=1), np.isfinite(scores), self.epsilon, rng)
        chosen = np.take_along_axis(values, sampled.actions[:, None].astype(np.int64), axis=1)[:, 0]
        return Sampled(sampled.actions, sampled.log_probabilities, chosen)

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] actions."""
        return self.sample(info_states, players, rng).actions

    def evaluate(self, info_states: InfoStates, players: Players) -> tuple[Floats, Floats]:
        """Log-probabilities [N, A] of the epsilon-greedy policy and values [N]."""
        scores = self._look_ahead(info_states, players)[0]
        return _greedy_log_probabilities(scores, self.epsilon), scores.max(axis=1)

    def _look_ahead(self, info_states: InfoStates, players: Players) -> tuple[Floats, Floats]:
        """Worth of each action [N, A] (minus infinity where illegal), and its afterstate's value alone [N, A]."""
        legal = self.game.legal_actions(info_states)
        rows, actions = np.nonzero(legal)
        movers = players[rows]
        after = InfoStates(info_states[rows])
        before = self.game.payoffs(info_states)[rows, movers]
        self.game.apply(after, actions.astype(np.int16))
        gains = (self.game.payoffs(after)[np.arange(len(rows)), movers] - before) / self.reward_scale
        with torch.inference_mode():
            observations = torch.from_numpy(self.game.observe(after, movers))
            prices = self.network.value(observations).float().numpy()
        prices = np.where(self.game.is_over(after), np.float32(0), prices)
        scores = np.full(legal.shape, -np.inf, dtype=np.float32)
        values = np.zeros(legal.shape, dtype=np.float32)
        scores[rows, actions] = prices + gains
        values[rows, actions] = prices
        return scores, values


def _epsilon_greedy(best: Actions, values: Floats, legal: Bools, epsilon: float, rng: np.random.Generator) -> Sampled:
    actions = explore(best, legal, epsilon, rng)
    share = epsilon / legal.sum(axis=1)
    chances = np.where(actions == best, 1.0 - epsilon + share, share)
    return Sampled(actions, np.log(chances).astype(np.float32), values)


def _greedy_log_probabilities(scores: Floats, epsilon: float) -> Floats:
    legal = np.isfinite(scores)
    chances = np.where(legal, epsilon / legal.sum(axis=1, keepdims=True), 0.0)
    chances[np.arange(len(scores)), scores.argmax(axis=1)] += 1.0 - epsilon
    with np.errstate(divide="ignore"):
        return np.log(chances).astype(np.float32)
