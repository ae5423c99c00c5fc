"""Learning by Stable-Baselines3 in float32, on one core or a GPU: the peer of the benchmarks of learning.

Its environment plays nothing: it hands out views of arrays that our engine recorded once. That is generous to SB3:
games, observations and masks cost it nothing, while our side plays each game and encodes each decision. What SB3 is
timed by is its own: the network, its buffers, its loops and updates.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from time import process_time
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3 import DQN
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import VecEnv
from torch import Tensor, nn

from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.composition import compose_experiment
from cardlab.games.protocol import Bools, Floats
from cardlab.games.record_arrays import take
from cardlab.training.training_process import build_learner
from learning_iterations import WARM, Round, as_in_trainings

STEPS = 16  # recorded, then handed out again from the first


@dataclass(frozen=True)
class Recording:
    """Decisions of real games with a choice, by an untrained policy."""

    observations: Floats  # [T, G, F]
    masks: Bools  # [T, G, A]
    rewards: Floats  # [T, G]
    ends: Bools  # [T, G]


def record(overrides: Iterable[str], tables: int) -> Recording:
    """STEPS × `tables` decisions of the experiment, in a random order."""
    _, collector = build_learner(build_experiment(compose_experiment(list(overrides))))
    num, game = STEPS * tables, collector.game
    experience = collector.collect(num)
    order = np.random.default_rng(0).permutation(len(experience))[:num]
    info_states, players = take(experience.info_states, order), experience.players[order]
    shape = (STEPS, tables)
    return Recording(
        game.observe(info_states, players).reshape(*shape, -1),
        game.legal_actions(info_states).reshape(*shape, -1),
        experience.rewards[order].reshape(shape),
        experience.ends[order].reshape(shape),
    )


class RecordedVecEnv(VecEnv):
    """Hands out the recording step by step, whatever is played."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._at = 0
        _, tables, features = recording.observations.shape
        self._infos: list[dict[str, Any]] = [{} for _ in range(tables)]
        self.render_mode = None
        box = spaces.Box(-np.inf, np.inf, (features,), np.float32)
        super().__init__(tables, box, spaces.Discrete(recording.masks.shape[2]))

    def reset(self) -> Floats:
        """[G, F] the first step."""
        self._at = 0
        return self.recording.observations[0]

    def step_async(self, actions: NDArray[Any]) -> None:
        """They change nothing."""

    def step_wait(self) -> tuple[Floats, Floats, Bools, list[dict[str, Any]]]:
        """The next step of the recording."""
        done, self._at = self._at, (self._at + 1) % STEPS
        recording = self.recording
        return recording.observations[self._at], recording.rewards[done], recording.ends[done], self._infos

    def env_method(self, method_name: str, *_: Any, **__: Any) -> list[Any]:
        """`action_masks`: views, row by row."""
        return list(self.recording.masks[self._at])

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """`action_masks` is here; nothing else is."""
        if attr_name != "action_masks":
            raise AttributeError(attr_name)
        return [self.env_method] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Nothing is set."""

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """As if by Monitor, so that SB3 puts none around it."""
        return [True] * self.num_envs

    def close(self) -> None:
        """Nothing is held open."""


class SharedLayer(BaseFeaturesExtractor):
    """The layer that policy and value share."""

    def __init__(self, observation_space: spaces.Box, width: int) -> None:
        super().__init__(observation_space, width)
        self.layer = nn.Sequential(nn.Linear(observation_space.shape[0], width), nn.ReLU())

    def forward(self, observations: Tensor) -> Tensor:
        """[N, width]."""
        return self.layer(observations)


class Clock(BaseCallback):
    """Notes the seconds of `clock` and the decisions so far whenever a rollout begins, and at the end."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__()
        self.clock = clock
        self.marks: list[tuple[float, int]] = []

    def _on_rollout_start(self) -> None:
        self.marks.append((self.clock(), self.num_timesteps))

    def _on_training_end(self) -> None:
        self._on_rollout_start()

    def _on_step(self) -> bool:
        return True


def maskable_ppo(
    recording: Recording, round_size: int, minibatch_size: int, epochs: int, device: str = "cpu"
) -> MaskablePPO:
    """sb3-contrib's PPO with the network and the options of the Big 2 seed."""
    tables = recording.ends.shape[1]
    return MaskablePPO(
        "MlpPolicy",
        RecordedVecEnv(recording),
        n_steps=round_size // tables,
        batch_size=minibatch_size,
        n_epochs=epochs,
        learning_rate=1e-3,
        gamma=1.0,
        ent_coef=0.01,
        policy_kwargs={
            "features_extractor_class": SharedLayer,
            "features_extractor_kwargs": {"width": 512},
            "net_arch": {"pi": [256], "vf": [256]},
            "activation_fn": nn.ReLU,
        },
        seed=0,
        device=device,
    )


def dqn(recording: Recording, round_size: int, minibatch_size: int, updates: int, buffer_size: int) -> DQN:
    """SB3's DQN, which knows no masks: one-step targets of a target network, two hidden layers of 256."""
    tables = recording.ends.shape[1]
    return DQN(
        "MlpPolicy",
        RecordedVecEnv(recording),
        train_freq=(round_size // tables, "step"),
        gradient_steps=updates,
        batch_size=minibatch_size,
        buffer_size=buffer_size,
        learning_starts=0,
        target_update_interval=10 * round_size,
        learning_rate=1e-3,
        gamma=1.0,
        policy_kwargs={"net_arch": [256, 256]},
        seed=0,
        device="cpu",
    )


def learn(model: BaseAlgorithm, round_size: int, rounds: int, clock: Callable[[], float] = process_time) -> list[Round]:
    """Learn for WARM + `rounds` rounds, with what our trainings do for speed; gives the last `rounds`."""
    noted = Clock(clock)
    with as_in_trainings():
        model.learn((WARM + rounds) * round_size, callback=noted)
    marks = noted.marks[WARM:]
    return [Round(after - before, end - begin) for (begin, before), (end, after) in pairwise(marks)]
