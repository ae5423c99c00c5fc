"""A plain masked DQN with the defaults of Stable-Baselines3's DQN, which knows no masks: the peer of cardlab's DQN.

One network of two layers of 64, its copy as target network, one-step targets, uniform replay, one gradient step for
every four decisions of the environments, as in the papers of Mnih et al.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from cardlab.games.protocol import Bools, Floats
from cardlab.integrations.stable_baselines3 import SeatVecEnv

GAMMA, LEARNING_RATE, MAX_GRAD_NORM = 0.99, 1e-4, 10.0
MINIBATCH, DECISIONS_PER_STEP, TARGET_UPDATE, LEARNING_STARTS = 32, 4, 10_000, 100
LAST_EPSILON, EXPLORATION = 0.05, 0.1  # epsilon falls from 1 during this share of the budget
BUFFER = 100_000  # SB3: a million, which does not fit into memory with masks of 1,695 actions


class MaskedDQN:
    """Learns the learner's seat of `envs`; `predict` plays, as a model of sb3-contrib does."""

    def __init__(self, envs: SeatVecEnv, seed: int) -> None:
        torch.manual_seed(seed)
        self.envs = envs
        self._rng = np.random.default_rng(seed)
        features, actions = envs.games.game.spec.num_features, envs.games.game.spec.num_actions
        self.network, self._target = _network(features, actions), _network(features, actions)
        self._target.load_state_dict(self.network.state_dict())
        self._optimizer = torch.optim.Adam(self.network.parameters(), LEARNING_RATE)
        self._observations: Floats = np.zeros((2, BUFFER, features), np.float32)  # of a decision, of the next one
        self._next_masks: Bools = np.zeros((BUFFER, actions), np.bool_)
        self._played: NDArray[np.int64] = np.zeros(BUFFER, np.int64)
        self._rewards, self._over = np.zeros(BUFFER, np.float32), np.zeros(BUFFER, np.float32)

    def learn(self, budget_used: Callable[[], float], after_step: Callable[[], bool]) -> None:
        """Learn until `after_step`, called after each step of the environments, returns False.

        `budget_used`: the share of the budget that is used, on which epsilon depends.
        """
        decisions, updates, observations = 0, 0, self.envs.reset()
        while after_step():
            masks = self.envs.action_masks()
            epsilon = max(LAST_EPSILON, 1 - (1 - LAST_EPSILON) * budget_used() / EXPLORATION)
            actions = self.predict(observations, action_masks=masks)[0]
            explored = np.flatnonzero(self._rng.random(len(actions)) < epsilon)
            actions[explored] = [self._rng.choice(np.flatnonzero(mask)) for mask in masks[explored]]
            self.envs.step_async(actions)
            following, rewards, over, _ = self.envs.step_wait()
            rows = (decisions + np.arange(len(actions))) % BUFFER
            self._observations[0, rows], self._observations[1, rows] = observations, following
            self._played[rows], self._rewards[rows], self._over[rows] = actions, rewards, over
            self._next_masks[rows] = self.envs.action_masks()
            observations, decisions = following, decisions + len(actions)
            while decisions > LEARNING_STARTS and updates < decisions // DECISIONS_PER_STEP:
                self._update(min(decisions, BUFFER))
                updates += 1
                if updates % (TARGET_UPDATE // DECISIONS_PER_STEP) == 0:
                    self._target.load_state_dict(self.network.state_dict())

    def predict(
        self, observation: NDArray[Any], *, deterministic: bool = True, action_masks: NDArray[Any]
    ) -> tuple[NDArray[np.int64], None]:
        """The legal actions [N] of the highest values, for observations [N, F] and masks [N, A]."""
        with torch.no_grad():
            return _legal(self.network(torch.from_numpy(observation)), action_masks).argmax(1).numpy(), None

    def _update(self, filled: int) -> None:
        rows = self._rng.integers(filled, size=MINIBATCH)
        now, following = torch.from_numpy(self._observations[:, rows])
        with torch.no_grad():
            best = _legal(self._target(following), self._next_masks[rows]).amax(1)
            left = torch.from_numpy(1 - self._over[rows])  # 0 after the end of a game
            targets = torch.from_numpy(self._rewards[rows]) + GAMMA * left * best
        values = self.network(now).gather(1, torch.from_numpy(self._played[rows, None]))[:, 0]
        self._optimizer.zero_grad()
        nn.functional.smooth_l1_loss(values, targets).backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), MAX_GRAD_NORM)
        self._optimizer.step()


def _network(features: int, actions: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(features, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, actions))


def _legal(values: Tensor, masks: Bools) -> Tensor:
    return values.masked_fill(torch.from_numpy(~masks), -torch.inf)
