"""What every network can do, whatever its shape: learners and agents know no more than this."""

from abc import ABC, abstractmethod
from typing import ClassVar, Protocol

import torch
from torch import Tensor, nn

from cardlab.games.protocol import Game, GameSpec, InfoStates, Players
from cardlab.networks.inputs import Inputs, LegalPairs, encode, encode_legal


class Network(nn.Module, ABC):
    """Scores of actions and the value of a situation, from what a player sees.

    Scores are logits of a policy to PPO and action values to DQN. The value is the payoff still to come, in the
    learner's reward scale.
    """

    reads_actions: bool = False  # whether `forward` needs Inputs.choices
    reward_scale: float | None = None  # the only one that its values fit, where there is one
    fused: bool = False  # whether its passes are translated by torch.compile (fusion.py)
    mixes_rows: bool = False  # whether in training what it says of a decision depends on the others beside it
    reads_codes: bool = False  # whether numbers of an observation are entries of a vocabulary: then all bits count

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.parameters()).device

    @abstractmethod
    def forward(self, inputs: Inputs) -> tuple[Tensor, Tensor]:
        """Scores [N, A], minus infinity where illegal, and values [N]."""

    def score_legal(self, observations: Tensor, pairs: LegalPairs) -> tuple[Tensor, Tensor]:
        """Scores [K] of the legal actions alone, and values [N]; a network with many outputs computes no others.

        Observations [N, F] come in float32, or under autocast as products read them, unless it `reads_codes`.
        """
        scores, values = self(Inputs(observations, pairs.mask(), pairs if self.reads_actions else None))
        return scores[pairs.rows, pairs.actions], values

    @abstractmethod
    def value(self, observations: Tensor, /) -> Tensor:
        """Values [N] of the situations with these observations [N, F] alone: what afterstates are judged by."""


class NetworkOptions(Protocol):
    """Frozen options of one kind of network."""

    name: ClassVar[str]  # registry key, as in conf/network/

    def build(self, spec: GameSpec) -> Network:
        """A fresh network for this game, weights drawn from torch's generator; InvalidOption when it does not fit."""
        ...


def encode_for(network: Network, game: Game, info_states: InfoStates, players: Players) -> Inputs:
    """The inputs of [N] decisions as `network` reads them, where its weights are."""
    return encode(game, info_states, players, reads_actions=network.reads_actions, device=network.device)


def encode_legal_for(
    network: Network, game: Game, info_states: InfoStates, players: Players
) -> tuple[Tensor, LegalPairs]:
    """What `network.score_legal` reads of [N] decisions, where its weights are."""
    return encode_legal(game, info_states, players, reads_actions=network.reads_actions, device=network.device)
