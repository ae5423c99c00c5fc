"""What the learners share: a round of experience in, updates inside, metrics out.

One `training_step` is one round, with manual optimisation: Lightning's cost per step and per logged value is paid
once a round, not once a minibatch. The learner counts rounds itself: Lightning's own counters follow optimisers.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol, cast

import lightning
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from cardlab.agents.network_agents import ExploringAgent
from cardlab.core.options import InvalidOption
from cardlab.games.agent_protocol import Agent
from cardlab.games.protocol import Actions, Game, HasSymmetries, InfoStates
from cardlab.learners.all_reduce import JointGradient
from cardlab.learners.distributed import Ranks, merged
from cardlab.learners.options import SharedOptions
from cardlab.learners.rollouts.experience import Experience, generator_state, restore_generator
from cardlab.networks.critic import Critic
from cardlab.networks.protocol import Network

Metrics = dict[str, float]

_ROWS_IN_CACHE = 4096  # decisions
_ROOM = 0.1  # of such a part: so few decisions more make no other, since a round is a little longer than asked for


class TrainingDiverged(RuntimeError):
    """A loss or a gradient is no longer finite; the last checkpoint is still good."""


class LearnerOptions(SharedOptions, Protocol):
    """Options of one kind of learner."""

    name: ClassVar[str]  # registry key, as in conf/agent/

    def build(self, game: Game, network: Network, total_rounds: int, seed: int) -> "RoundLearner":
        """The learner of `network`; InvalidOption when it cannot learn this game."""
        ...


@dataclass(frozen=True, slots=True)
class Played:
    """What a round was, over all processes."""

    decisions: int
    seats: int  # at which the learner sat in the games that ended
    payoff: float  # mean final payoff of those seats


class RoundLearner(lightning.LightningModule, ABC):
    """Base of the learners: counts rounds, anneals, guards against NaN. `update` is theirs to write.

    With several processes `ranks` says which of them this is; options that are shares of a whole (minibatches, memory,
    decisions per round) are then this process's share already.
    """

    policy_kind: str = ""  # registry key of the kind of agent that plays the network (agents/policies.py)
    ranks: Ranks = Ranks()

    def __init__(self, game: Game, network: Network, options: LearnerOptions, total_rounds: int, seed: int) -> None:
        super().__init__()
        if options.symmetries and not isinstance(game, HasSymmetries):
            raise InvalidOption("agent.symmetries", True, f"false: {game.spec.name} has none")
        self.automatic_optimization = False
        self.game = game
        self.network = network
        self.total_rounds = total_rounds
        self.rounds_done = 0
        self.decisions_done = 0
        self.rng = np.random.default_rng(seed)
        self.reward_scale = game.spec.payoff_scale if options.reward_scale is None else options.reward_scale
        if network.reward_scale not in (None, self.reward_scale):
            expected = f"left out with this network, which counts in units of {network.reward_scale:g}"
            raise InvalidOption("agent.reward_scale", options.reward_scale, expected)
        self._common = options
        self.average = _running_mean(network, options.ema_decay)

    @property
    def settled_network(self) -> Network:
        """What is measured and kept: the running mean of the weights where there is one (Polyak and Juditsky 1992)."""
        return self.network if self.average is None else cast(Network, self.average.module)

    @property
    def trained(self) -> tuple[Network | Critic, ...]:
        """The parts that the optimiser moves; the gradient of each is clipped by itself."""
        return (self.network,)

    @property
    def needs_states(self) -> bool:
        """Whether `update` reads `Experience.states`, the truth."""
        return False

    @property
    def progress(self) -> float:
        """Share of the budget that is spent, 0 to 1."""
        return min(self.rounds_done / self.total_rounds, 1.0)

    @abstractmethod
    def learning_agent(self) -> ExploringAgent:
        """The agent that gathers experience with the network as it is now; asked anew each round."""
        ...

    @abstractmethod
    def playing_agent(self, game: Game, network: Network) -> Agent:
        """How this kind of learner plays `network` for good: without exploring."""
        ...

    def policy_options(self) -> dict[str, Any]:
        """The options of that agent, beside game and network."""
        return {"reward_scale": self.reward_scale}

    def fuse(self) -> None:
        """Let torch.compile translate the passes of all that is trained: a minute once, for less in each later step."""
        for part in self.trained:
            part.fused = True

    @abstractmethod
    def update(self, experience: Experience) -> Metrics:
        """All updates of one round."""
        ...

    def training_step(self, batch: Experience, batch_idx: int) -> dict[str, Any]:
        """One round: updates, then the counters; gives `metrics` and `played`, in rank 0 those of all processes."""
        rate = self._common.learning_rate * (1.0 - self.progress if self._common.anneal_learning_rate else 1.0)
        optimizer = self.optimizer
        for group in optimizer.param_groups:
            group["lr"] = rate
        self.network.train()
        metrics = self.update(batch)
        self._check_weights()
        if self.average is not None:
            self.average.update_parameters(self.network)
        played, everyone = self._played(batch), self.ranks.gather(metrics)
        self.rounds_done += 1
        self.decisions_done += played.decisions
        joint = merged(everyone) if len(everyone) > 1 else metrics
        return {"metrics": {**joint, "learning_rate": rate}, "played": played}

    def descend(self, losses: Iterable[tuple[Tensor, float]], count: int, max_grad_norm: float) -> float:
        """One clipped step down the mean loss over `count` decisions, and those of the other processes with it.

        `losses` are means over parts of the decisions, each with the part's share of them; each is freed before the
        next is asked for. The gradient is that of the mean over all processes' decisions: each counts by its number of
        them. Gives the network's norm before clipping. TrainingDiverged, weights untouched and in all processes alike,
        if one is not finite.
        """
        self.optimizer.zero_grad(set_to_none=True)
        alone, mean = self.ranks.size == 1, 0.0
        for loss, share in losses:
            mean += share * float(loss.detach())
            if count:  # else there is nothing to learn from here, but the others wait for this process
                (loss * (share if alone else share * count)).backward()
        if not alone:
            mean = self._joint_gradient.average(mean, count)
        norms = [_clip(weights, max_grad_norm) for weights in self._weights_of_parts]
        if not np.isfinite([*norms, mean]).all():
            shown = " and ".join(map(str, norms))
            raise TrainingDiverged(f"gradient norm is {shown} (loss {mean}): lower agent.learning_rate")
        self.optimizer.step()
        return norms[0]

    @cached_property
    def _weights_of_parts(self) -> list[list[nn.Parameter]]:
        """Of all that is trained; found once, since modules are slow to search."""
        return [list(part.parameters()) for part in self.trained]

    @cached_property
    def _joint_gradient(self) -> JointGradient:
        """Of all processes; made at the first step, when the weights are where they stay."""
        return JointGradient(self.ranks, list(self._weights()))

    def minibatches(self, num: int, size: int) -> Iterator[NDArray[np.int64]]:
        """Indices 0 to num − 1 in random order, in parts of about `size` that differ by one at most.

        All processes make the same number of parts, though one may have gathered a little more than another.
        """
        order = self.rng.permutation(num)
        yield from np.array_split(order, self.ranks.parts(num, size))

    def parts_in_cache(self, num: int) -> Iterator[slice]:
        """A minibatch of `num` decisions in parts whose layers stay in a core's cache; a GPU takes it whole.

        Gradients add up, so the step is the same, but for rounding and for what batch normalisation sees.
        """
        pieces = max(1, math.ceil(num / _ROWS_IN_CACHE - _ROOM)) if self.device.type == "cpu" else 1
        yield from (slice(num * piece // pieces, num * (piece + 1) // pieces) for piece in range(pieces))

    def varied(self, info_states: InfoStates, actions: Actions) -> tuple[InfoStates, Actions]:
        """What a minibatch is learned from: with `symmetries` each decision in an equivalent form, else as it was."""
        if not (self._common.symmetries and isinstance(self.game, HasSymmetries)):
            return info_states, actions
        return self.game.augment(info_states, actions, self.rng)

    def _check_weights(self) -> None:
        """TrainingDiverged when a last step has led beyond all numbers: such a network plays and is kept no more."""
        if not all(bool(weights.isfinite().all()) for weights in self._weights()):
            raise TrainingDiverged("weights are no longer finite: lower agent.learning_rate")

    def _played(self, batch: Experience) -> Played:
        seats, payoff = int((batch.seats == 0).sum()), batch.learner_payoff
        if self.ranks.size == 1:
            return Played(len(batch), seats, payoff)
        decisions, chairs, payoffs = self.ranks.each(len(batch), seats, payoff * seats).sum(axis=0)
        return Played(int(decisions), int(chairs), float(payoffs / chairs))

    @property
    def optimizer(self) -> torch.optim.Optimizer:
        """The optimiser itself: Lightning's wrapper costs as much as a small network's step."""
        optimizer = self.optimizers(use_pl_optimizer=False)
        if not isinstance(optimizer, torch.optim.Optimizer):
            raise TypeError("a learner has one optimiser")
        return optimizer

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Adam with the small epsilon of its paper; its fused form halves the cost of small networks."""
        return torch.optim.Adam(self._weights(), lr=self._common.learning_rate, eps=1e-8, fused=True)

    def _weights(self) -> Iterator[nn.Parameter]:
        return (weights for part in self.trained for weights in part.parameters())

    def transfer_batch_to_device(self, batch: Any, device: torch.device, dataloader_idx: int) -> Any:
        """Experience stays where it is: minibatches travel, encoded."""
        return batch

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Keep the counters and the generator beside the weights."""
        state = {
            "rounds_done": self.rounds_done,
            "decisions_done": self.decisions_done,
            "rng": generator_state(self.rng),
            "torch_rng": torch.get_rng_state(),
            **self.extra_state(),
        }
        checkpoint["learner"] = self.ranks.keep(state)

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Go on where `on_save_checkpoint` was."""
        state = self.ranks.own(checkpoint["learner"])
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


def _running_mean(network: Network, decay: float) -> AveragedModel | None:
    """A second network whose weights follow those of `network`; the first round sets them."""
    if not decay:
        return None
    average = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(decay))
    return average.requires_grad_(False).eval()


def _clip(weights: Sequence[nn.Parameter], max_norm: float) -> float:
    """Scale the gradients of `weights` down to `max_norm` where their norm is larger; gives the norm before."""
    found = nn.utils.get_total_norm([weight.grad for weight in weights if weight.grad is not None])
    norm = float(found)
    if norm > max_norm:
        nn.utils.clip_grads_with_norm_(weights, max_norm, found)
    return norm


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
