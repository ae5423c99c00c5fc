"""Trained belief networks as folders: belief.json and weights.safetensors; deals sampled by them.

As with policies, loading runs no code from the folder, and the same training gives the same bytes.
"""

from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from cardlab.agents.policy_descriptions import (
    BELIEF,
    WEIGHTS,
    PolicyDescription,
    PolicyError,
    check_game,
    described_game,
    parse_description,
    write_description,
)
from cardlab.agents.policy_files import load_weights, save_weights
from cardlab.core.parts import target_of
from cardlab.games.protocol import Floats, Game, InfoStates, Players, States
from cardlab.networks.belief import BeliefNetwork
from cardlab.networks.belief_options import BeliefOptions

_FREE = ("features",)  # options of the game in which belief and agent may differ


@dataclass(frozen=True)
class Belief:
    """Predicts which opponent holds each card from the observation of a player."""

    game: Game  # with the features that the network reads
    network: BeliefNetwork

    def weights(self, info_states: InfoStates, players: Players) -> Floats:
        """[N, P, C] probability that each opponent holds each unseen card; 0 for the player."""
        num_players, num_cards = self.game.spec.num_players, self.game.spec.num_cards
        with torch.inference_mode():
            observations = torch.from_numpy(self.game.observe(info_states, players)).to(self.network.device)
            shares: Floats = self.network(observations).softmax(dim=1).cpu().numpy()
        weights = np.zeros((len(players), num_players, num_cards), dtype=np.float32)
        others = (players[:, None] + np.arange(1, num_players)) % num_players
        weights[np.arange(len(players))[:, None], others] = shares
        return weights

    def determinize(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> States:
        """[N] full states sampled by the belief; copies of one InfoState are evaluated once."""
        if len(players) > 1 and _all_alike(info_states, players):
            weights = np.repeat(self.weights(InfoStates(info_states[:1]), players[:1]), len(players), axis=0)
        else:
            weights = self.weights(info_states, players)
        return self.game.determinize(info_states, players, rng, weights)


def save_belief(folder: Path, game: Game, options: BeliefOptions, network: BeliefNetwork) -> None:
    """Write the belief network, which reads the observations of `game`."""
    folder.mkdir(parents=True, exist_ok=True)
    save_weights(network, folder / WEIGHTS)
    spec = game.spec
    description = PolicyDescription(spec.name, target_of(game), spec.options, target_of(options), asdict(options))
    write_description(folder / BELIEF, description)


def load_belief(game: Game, folder: Path) -> Belief:
    """The belief in `folder` for `game`, whose features may be others; PolicyError when it does not fit."""
    path = folder / BELIEF
    description = parse_description(path)
    trained_for = {"game": description.game, **description.game_options}
    check_game(folder, game, trained_for | {key: game.spec.options[key] for key in _FREE if key in game.spec.options})
    if description.network != target_of(BeliefOptions):
        raise PolicyError(f"{path}: network={description.network}: must be {target_of(BeliefOptions)}")
    own_game = described_game(path, description, description.game_options)
    return Belief(own_game, load_weights(folder, BeliefOptions, description, own_game.spec))


def _all_alike(info_states: InfoStates, players: Players) -> bool:
    rows: NDArray[np.uint8] = np.ascontiguousarray(info_states).view(np.uint8).reshape(len(players), -1)
    return bool((rows == rows[0]).all() and (players == players[0]).all())
