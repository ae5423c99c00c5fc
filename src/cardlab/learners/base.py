"""Base class of the learners. One `training_step` is one iteration: a rollout in, all its updates, metrics out.

Optimisation is manual: Lightning's cost per step and per logged value is paid once an iteration, not once a minibatch.
The learner counts iterations itself because Lightning's counters count optimiser steps.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, cast

import lightning
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from cardlab.agents.exploration import ExploringAgent
from cardlab.core.messages import InvalidOption
from cardlab.games.agent_protocol import Agent
from cardlab.games.array_checks import unchecked
from cardlab.games.protocol import Actions, Game, HasSymmetries, InfoStates
from cardlab.learners.distributed import ProcessGroup, mean_metrics
from cardlab.learners.hyperparameters import SharedOptions
from cardlab.learners.rollouts.experience import Experience, generator_state, restore_generator
from cardlab.networks.layers import Critic
from cardlab.networks.protocol import Network

Metrics = dict[str, float]

_ROWS_IN_CACHE = 4096  # decisions
_SMALLEST_SCALE = 1e-3  # of rewards, in typical payoffs of the game: a smaller one makes huge targets
_TOLERANCE = 0.1  # share by which a part may be larger: a rollout has a few decisions more than asked for


class TrainingDiverged(RuntimeError):
    """A loss, a gradient or a weight is not finite; the last checkpoint is unaffected."""


class LearnerOptions(SharedOptions, Protocol):
    """Options of one kind of learner."""

    def build(self, game: Game, network: Network, total_iterations: int, seed: int) -> "Learner":
        """A learner that trains `network`. Raises InvalidOption for a game that it cannot learn."""
        ...


@dataclass(frozen=True, slots=True)
class RolloutSummary:
    """Size and result of a rollout, over all processes."""

    decisions: int
    seats: int  # seats of the learner in the games that ended
    payoff: float  # mean final payoff of those seats


class Learner(lightning.LightningModule, ABC):
    """Counts iterations, anneals the learning rate and checks for NaN; subclasses write `update`.

    With several processes, options that are totals (minibatch, replay buffer, decisions per iteration) hold this
    process's share.
    """

    group: ProcessGroup = ProcessGroup()
    cuts_games: bool = False  # whether a rollout ends in the middle of games
    adam_epsilon, min_learning_rate = 1e-8, 0.0

    def __init__(self, game: Game, network: Network, options: LearnerOptions, total_iterations: int, seed: int) -> None:
        super().__init__()
        if options.symmetries and not isinstance(game, HasSymmetries):
            raise InvalidOption("agent.symmetries", True, f"false: {game.spec.name} has none")
        self.automatic_optimization = False
        self.game = unchecked(game)
        self.network = network
        self.total_iterations = total_iterations
        self.iterations_done = 0
        self.decisions_done = 0
        self.rng = np.random.default_rng(seed)
        self.reward_scale = game.spec.payoff_scale if options.reward_scale is None else options.reward_scale
        if network.reward_scale not in (None, self.reward_scale):
            expected = f"left out: this network has its own scale, {network.reward_scale:g}"
            raise InvalidOption("agent.reward_scale", options.reward_scale, expected)
        self._shared = options
        self.ema = _make_ema(network, options.ema_decay)

    @property
    def ema_network(self) -> Network:
        """The network that is evaluated and saved: the EMA (Polyak and Juditsky 1992), or `network` without one."""
        return self.network if self.ema is None else cast(Network, self.ema.module)

    @property
    def trained_modules(self) -> tuple[Network | Critic, ...]:
        """The modules that the optimiser updates; the gradient of each is clipped separately."""
        return (self.network,)

    @property
    def needs_states(self) -> bool:
        """Whether `update` reads `Experience.states`, hidden cards included."""
        return False

    @property
    def progress(self) -> float:
        """Share of the budget that is used, 0 to 1."""
        return min(self.iterations_done / self.total_iterations, 1.0)

    @abstractmethod
    def behaviour_agent(self) -> ExploringAgent:
        """The agent that plays rollouts with the current network; called at the start of each iteration."""
        ...

    @abstractmethod
    def trained_agent(self, game: Game, network: Network) -> Agent:
        """The agent that plays `network` after training, without exploration."""
        ...

    def policy_options(self) -> dict[str, Any]:
        """Options of the trained agent, written to its policy."""
        return {"reward_scale": self.reward_scale}

    def compile_networks(self) -> None:
        """Compile the passes of all trained modules with torch.compile at their first call (about a minute)."""
        for module in self.trained_modules:
            module.compiled = True

    @abstractmethod
    def update(self, experience: Experience) -> Metrics:
        """All updates of one iteration; returns their mean metrics."""
        ...

    def training_step(self, batch: Experience, batch_idx: int) -> dict[str, Any]:
        """One iteration. Returns `metrics` and `rollout` (RolloutSummary), both over all processes in the main one."""
        rate = self._shared.learning_rate * (1.0 - self.progress if self._shared.anneal_learning_rate else 1.0)
        rate = max(rate, self.min_learning_rate)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.network.train()
        metrics = self.update(batch)
        self._check_weights()
        if self.ema is not None:
            self.ema.update_parameters(self.network)
        rollout, gathered = self._summarize(batch), self.group.gather(metrics)
        self.iterations_done += 1
        self.decisions_done += rollout.decisions
        joint = mean_metrics(gathered) if len(gathered) > 1 else metrics
        return {"metrics": {**joint, "learning_rate": rate}, "rollout": rollout}

    def gradient_step(self, losses: Iterable[tuple[Tensor, float]], count: int, max_grad_norm: float) -> float:
        """One optimiser step on the mean loss over the `count` decisions of this process and those of the others.

        `losses` are mean losses of parts of the decisions, each with the part's share; each graph is freed before the
        next is built. Gradients are clipped to `max_grad_norm`; returns the network's norm before clipping. Raises
        TrainingDiverged in all processes, with unchanged weights, if a gradient or loss is not finite.
        """
        self.optimizer.zero_grad(set_to_none=True)
        alone, mean = self.group.size == 1, 0.0
        for loss, share in losses:
            mean += share * float(loss.detach())
            if count:  # a process without decisions still takes part in the exchange
                (loss * (share if alone else share * count)).backward()
        if not alone:
            mean = self.group.average_gradients(self._weights, mean, count)
        norms = [clip_gradients(weights, max_grad_norm) for weights in self._weights_by_module]
        if not np.isfinite([*norms, mean]).all():
            shown = " and ".join(map(str, norms))
            raise TrainingDiverged(f"gradient norm is {shown} (loss {mean}); {self._hint()}")
        self.optimizer.step()
        return norms[0]

    @cached_property
    def _weights_by_module(self) -> list[list[nn.Parameter]]:
        """The weights of each trained module; cached because searching modules is slow."""
        return [list(module.parameters()) for module in self.trained_modules]

    @cached_property
    def _weights(self) -> list[nn.Parameter]:
        return [weight for weights in self._weights_by_module for weight in weights]

    def minibatches(self, num: int, size: int) -> Iterator[NDArray[np.int64]]:
        """Indices 0 to num − 1 in random order, in minibatches of about `size` that differ by at most one.

        All processes make equally many, although their rollouts differ a little in length.
        """
        order = self.rng.permutation(num)
        yield from np.array_split(order, self.group.num_minibatches(num, size))

    def cache_sized_parts(self, num: int) -> Iterator[slice]:
        """Slices of a minibatch of `num` decisions whose activations fit a core's cache; one slice on a GPU.

        Gradients add up, so the step is the same except for rounding and for batch normalisation.
        """
        pieces = max(1, math.ceil(num / _ROWS_IN_CACHE - _TOLERANCE)) if self.device.type == "cpu" else 1
        yield from (slice(num * piece // pieces, num * (piece + 1) // pieces) for piece in range(pieces))

    def augment(self, info_states: InfoStates, actions: Actions) -> tuple[InfoStates, Actions]:
        """With `symmetries` a random equivalent form of each decision; else the same decisions."""
        if not (self._shared.symmetries and isinstance(self.game, HasSymmetries)):
            return info_states, actions
        return self.game.augment(info_states, actions, self.rng)

    def _check_weights(self) -> None:
        """Raise TrainingDiverged if a weight is not finite; such a network is neither played nor saved."""
        if not all(bool(weights.isfinite().all()) for weights in self._weights):
            raise TrainingDiverged(f"weights are not finite; {self._hint()}")

    def _hint(self) -> str:
        if self.reward_scale >= _SMALLEST_SCALE * self.game.spec.payoff_scale:
            return "lower agent.learning_rate"
        return f"agent.reward_scale={self.reward_scale:g} is too small for the payoffs of this game; leave it out"

    def _summarize(self, batch: Experience) -> RolloutSummary:
        seats, payoff = int((batch.seats == 0).sum()), batch.learner_payoff
        if self.group.size == 1:
            return RolloutSummary(len(batch), seats, payoff)
        decisions, seats, total = self.group.all_gather(len(batch), seats, payoff * seats).sum(axis=0)
        return RolloutSummary(int(decisions), int(seats), float(total / max(seats, 1)))

    @property
    def optimizer(self) -> torch.optim.Optimizer:
        """The optimiser without Lightning's wrapper, which costs as much as a small network's step."""
        optimizer = self.optimizers(use_pl_optimizer=False)
        if not isinstance(optimizer, torch.optim.Optimizer):
            raise TypeError("a learner must have one optimiser")
        return optimizer

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Adam, fused: that halves the cost of small networks."""
        return torch.optim.Adam(self._weights, lr=self._shared.learning_rate, eps=self.adam_epsilon, fused=True)

    def transfer_batch_to_device(self, batch: Any, device: torch.device, dataloader_idx: int) -> Any:
        """Leave the rollout on the CPU: each minibatch is encoded and then moved."""
        return batch

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Add counters and random generators to the weights."""
        state = {
            "iterations_done": self.iterations_done,
            "decisions_done": self.decisions_done,
            "rng": generator_state(self.rng),
            "torch_rng": torch.get_rng_state(),
            **self.extra_state(),
        }
        checkpoint["learner"] = self.group.gather_state(state)

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Restore what `on_save_checkpoint` saved."""
        state = self.group.own_state(checkpoint["learner"])
        self.iterations_done = int(state["iterations_done"])
        self.decisions_done = int(state["decisions_done"])
        restore_generator(self.rng, state["rng"])
        torch.set_rng_state(state["torch_rng"])
        self.load_extra_state(state)

    def extra_state(self) -> dict[str, Any]:
        """State beyond weights and counters, for the checkpoint."""
        return {}

    def load_extra_state(self, state: Mapping[str, Any]) -> None:
        """Restore `extra_state`."""


def _make_ema(network: Network, decay: float) -> AveragedModel | None:
    """A copy of `network` whose weights are the EMA of its weights; None for a decay of 0."""
    if not decay:
        return None
    ema = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(decay))
    return ema.requires_grad_(False).eval()


def clip_gradients(weights: Sequence[nn.Parameter], max_norm: float) -> float:
    """Clip the gradients of `weights` to `max_norm`; returns the norm before clipping."""
    found = nn.utils.get_total_norm([weight.grad for weight in weights if weight.grad is not None])
    norm = float(found)
    if norm > max_norm:
        nn.utils.clip_grads_with_norm_(weights, max_norm, found)
    return norm


class MetricMeans:
    """Means of metrics over the minibatches of an iteration."""

    def __init__(self) -> None:
        self._sums: dict[str, float] = {}
        self._counts: dict[str, int] = {}

    def add(self, **values: Tensor | float) -> None:
        """Add one value of each metric."""
        for name, value in values.items():
            number = float(value.detach()) if isinstance(value, Tensor) else value
            self._sums[name] = self._sums.get(name, 0.0) + number
            self._counts[name] = self._counts.get(name, 0) + 1

    def result(self) -> Metrics:
        """Mean of each metric by name."""
        return {name: total / self._counts[name] for name, total in self._sums.items()}
