"""What every network can do, whatever its shape: learners and agents know no more than this."""

from abc import ABC, abstractmethod
from typing import Protocol

from torch import Tensor, nn

from cardlab.games.protocol import GameSpec
from cardlab.networks.inputs import Inputs


class Network(nn.Module, ABC):
    """Scores of actions and the value of a situation, from what a player sees.

    Scores are logits of a policy to PPO and action values to DQN. The value is the payoff still to come, in the
    learner's reward scale.
    """

    reads_actions: bool = False  # whether `forward` needs Inputs.choices

    @abstractmethod
    def forward(self, inputs: Inputs) -> tuple[Tensor, Tensor]:
        """Scores [N, A], minus infinity where illegal, and values [N]."""

    @abstractmethod
    def value(self, observations: Tensor) -> Tensor:
        """Values [N] of the situations with these observations [N, F] alone: what afterstates are judged by."""


class NetworkOptions(Protocol):
    """Frozen options of one kind of network."""

    @property
    def name(self) -> str:
        """Registry key, as in conf/network/NAME.yaml."""
        ...

    def build(self, spec: GameSpec) -> Network:
        """A fresh network for this game, weights drawn from torch's generator; InvalidOption when it does not fit."""
        ...
