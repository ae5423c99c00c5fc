"""The interface of networks, which learners and agents use, and the encoding of decisions for it."""

from abc import ABC, abstractmethod
from typing import Protocol

import torch
from torch import Tensor, nn

from cardlab.games.protocol import Game, GameSpec, InfoStates, Players
from cardlab.networks.inputs import Inputs, LegalPairs, described, game_pairs


class Network(nn.Module, ABC):
    """Observation and legal actions → scores of the actions and a value.

    PPO treats scores as logits, DQN as action values. The value is the expected sum of future payoffs in units of the
    learner's reward scale.
    """

    reads_actions: bool = False  # whether `forward` needs Inputs.pairs
    reward_scale: float | None = None  # the only reward scale that fits the network; None: any
    compiled: bool = False  # whether torch.compile compiles the passes (networks/compiled.py)
    depends_on_batch: bool = False  # whether outputs of a decision depend on the rest of its batch in training
    leaves_actions_out: bool = False  # whether some legal actions have no score, which only a policy may have
    reads_codes: bool = False  # whether observations hold indices of embeddings, which bfloat16 would round

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return next(self.parameters()).device

    @abstractmethod
    def forward(self, inputs: Inputs) -> tuple[Tensor, Tensor]:
        """Scores [N, A], minus infinity where illegal, and values [N]."""

    def score_legal(self, observations: Tensor, pairs: LegalPairs) -> tuple[Tensor, Tensor]:
        """Scores [K] of the legal actions only, and values [N].

        Observations [N, F] are float32, or in the dtype of autocast unless the network `reads_codes`. Networks with
        many outputs override this method and compute the legal ones only.
        """
        scores, values = self(Inputs(observations, pairs.mask(), pairs if self.reads_actions else None))
        return scores[pairs.rows, pairs.actions], values

    @abstractmethod
    def value(self, observations: Tensor, /) -> Tensor:
        """Values [N] of `observations` [N, F], e.g. of afterstates."""


class ActionInputNetwork(Network):
    """A network with the features of legal actions among its inputs: `score_legal` reads them."""

    reads_actions = True

    def forward(self, inputs: Inputs) -> tuple[Tensor, Tensor]:
        """Scores [N, A] and values [N]; ValueError without `inputs.pairs`."""
        pairs, _ = described(inputs.pairs)
        scores, values = self.score_legal(inputs.observations, pairs)
        return pairs.dense(scores), values

    @abstractmethod
    def score_legal(self, observations: Tensor, pairs: LegalPairs) -> tuple[Tensor, Tensor]:
        """Scores [K] and values [N]; ValueError if the pairs have no features."""


class NetworkOptions(Protocol):
    """Frozen options of one kind of network."""

    def check(self, spec: GameSpec) -> None:
        """Raise InvalidOption if the network does not fit the game."""
        ...

    def build(self, spec: GameSpec) -> Network:
        """A network for this game with weights from torch's generator; InvalidOption if it does not fit the game."""
        ...


def encode_for(network: Network, game: Game, info_states: InfoStates, players: Players) -> Inputs:
    """Encode N decisions for `network.forward`, on the device of its weights."""
    device = network.device
    observations = torch.from_numpy(game.observe(info_states, players)).to(device)
    legal = torch.from_numpy(game.legal_actions(info_states)).to(device)
    pairs = game_pairs(game, info_states, players, device, with_features=True) if network.reads_actions else None
    return Inputs(observations, legal, pairs)


def encode_legal_for(
    network: Network, game: Game, info_states: InfoStates, players: Players
) -> tuple[Tensor, LegalPairs]:
    """Encode N decisions for `network.score_legal`, on the device of its weights."""
    device = network.device
    observations = torch.from_numpy(game.observe(info_states, players)).to(device)
    return observations, game_pairs(game, info_states, players, device, with_features=network.reads_actions)
