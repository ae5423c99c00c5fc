"""What the learners share: a round of experience in, updates inside, metrics out.

One `training_step` is one round, with manual optimisation: Lightning's cost per step and per logged value is paid
once a round, not once a minibatch. The learner counts rounds itself: Lightning's own counters follow optimisers.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Protocol

import lightning
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from cardlab.agents.network import Sampled
from cardlab.experience.records import Experience, generator_state, restore_generator
from cardlab.games.protocol import Game, InfoStates, Players
from cardlab.networks.protocol import Network
from cardlab.playing.protocol import Agent

Metrics = dict[str, float]


class TrainingDiverged(RuntimeError):
    """A loss or a gradient is no longer finite; the last checkpoint is still good."""


class LearnerOptions(Protocol):
    """Frozen hyperparameters of one kind of learner: those that all of them have."""

    name: ClassVar[str]  # registry key, as in conf/agent/

    @property
    def learning_rate(self) -> float:
        """Of Adam, at the start."""
        ...

    @property
    def anneal_learning_rate(self) -> bool:
        """Whether it falls to 0 over the budget."""
        ...

    @property
    def decisions_per_round(self) -> int:
        """Decisions gathered between two updates, at least."""
        ...

    @property
    def reward_scale(self) -> float:
        """Payoffs are divided by it."""
        ...

    def build(self, game: Game, network: Network, total_rounds: int, seed: int) -> "RoundLearner":
        """The learner of `network`."""
        ...


class LearningAgent(Protocol):
    """How a learner plays while it gathers experience."""

    def sample(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Sampled:
        """Actions for [N] decisions, with log-probabilities and values."""
        ...


class RoundLearner(lightning.LightningModule, ABC):
    """Base of the learners: counts rounds, anneals, guards against NaN. `update` is theirs to write."""

    plays: str = ""  # registry key of the kind of agent that plays the network (agents/policies.py)

    def __init__(self, game: Game, network: Network, options: LearnerOptions, total_rounds: int, seed: int) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.game = game
        self.network = network
        self.total_rounds = total_rounds
        self.rounds_done = 0
        self.decisions_done = 0
        self.rng = np.random.default_rng(seed)
        self._common = options

    @property
    def progress(self) -> float:
        """Share of the budget that is spent, 0 to 1."""
        return min(self.rounds_done / self.total_rounds, 1.0)

    @abstractmethod
    def learning_agent(self) -> LearningAgent:
        """The agent that gathers experience with the network as it is now; asked anew each round."""
        ...

    @abstractmethod
    def playing_agent(self, game: Game, network: Network) -> Agent:
        """How this kind of learner plays `network` for good: without exploring."""
        ...

    def play_options(self) -> dict[str, Any]:
        """The options of that agent, beside game and network."""
        return {"reward_scale": self._common.reward_scale}

    @abstractmethod
    def update(self, experience: Experience) -> Metrics:
        """All updates of one round."""
        ...

    def training_step(self, batch: Experience, batch_idx: int) -> dict[str, Metrics]:
        """One round: updates, then the counters."""
        rate = self._common.learning_rate * (1.0 - self.progress if self._common.anneal_learning_rate else 1.0)
        optimizer = self.optimizer
        for group in optimizer.param_groups:
            group["lr"] = rate
        self.network.train()
        metrics = self.update(batch)
        self.rounds_done += 1
        self.decisions_done += len(batch)
        return {"metrics": {**metrics, "learning_rate": rate}}

    @property
    def optimizer(self) -> torch.optim.Optimizer:
        """The optimiser itself: Lightning's wrapper costs as much as a small network's step."""
        optimizer = self.optimizers(use_pl_optimizer=False)
        if not isinstance(optimizer, torch.optim.Optimizer):
            raise TypeError("a learner has one optimiser")
        return optimizer

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Adam with the small epsilon of its paper; its fused form halves the cost of small networks."""
        return torch.optim.Adam(self.network.parameters(), lr=self._common.learning_rate, eps=1e-8, fused=True)

    def transfer_batch_to_device(self, batch: Any, device: torch.device, dataloader_idx: int) -> Any:
        """Experience stays where it is: minibatches travel, encoded."""
        return batch

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Keep the counters and the generator beside the weights."""
        checkpoint["learner"] = {
            "rounds_done": self.rounds_done,
            "decisions_done": self.decisions_done,
            "rng": generator_state(self.rng),
            "torch_rng": torch.get_rng_state(),
            **self.extra_state(),
        }

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Go on where `on_save_checkpoint` was."""
        state = checkpoint["learner"]
        self.rounds_done = int(state["rounds_done"])
        self.decisions_done = int(state["decisions_done"])
        restore_generator(self.rng, state["rng"])
        torch.set_rng_state(state["torch_rng"])
        self.load_extra_state(state)

    def extra_state(self) -> dict[str, Any]:
        """What a learner keeps beyond weights and counters."""
        return {}

    def load_extra_state(self, state: Mapping[str, Any]) -> None:
        """Go on from `extra_state`."""


def descend(loss: Tensor, optimizer: torch.optim.Optimizer, network: nn.Module, max_grad_norm: float) -> float:
    """One clipped gradient step; the norm before clipping. TrainingDiverged, weights untouched, if it is not finite."""
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    norm = float(nn.utils.clip_grad_norm_(network.parameters(), max_grad_norm))
    if not np.isfinite(norm):
        raise TrainingDiverged(f"gradient norm is {norm} (loss {float(loss.detach())}): lower agent.learning_rate")
    optimizer.step()
    return norm


def minibatches(num: int, size: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """Indices 0 to num − 1 in random order, in parts of about `size` that differ by one at most."""
    order = rng.permutation(num)
    yield from np.array_split(order, max(1, round(num / size)))


def annealed_epsilon(start: float | None, end: float, share: float, progress: float) -> float:
    """Exploration: straight from `start` to `end` over the first `share` of the budget, then `end`."""
    if start is None or share <= 0:
        return end
    return end + (start - end) * max(0.0, 1.0 - progress / share)


class Means:
    """Means of diagnostics over the minibatches of a round."""

    def __init__(self) -> None:
        self._sums: dict[str, float] = {}
        self._counts: dict[str, int] = {}

    def add(self, **values: Tensor | float) -> None:
        """Count one value of each."""
        for name, value in values.items():
            number = float(value.detach()) if isinstance(value, Tensor) else value
            self._sums[name] = self._sums.get(name, 0.0) + number
            self._counts[name] = self._counts.get(name, 0) + 1

    def result(self) -> Metrics:
        """Name → mean."""
        return {name: total / self._counts[name] for name, total in self._sums.items()}
