"""Trained belief networks as folders: belief.json and weights.safetensors; deals sampled by them.

As with policies, loading runs no code from the folder, and the same training gives the same bytes.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError

from cardlab.agents.weights import load_weights, save_weights
from cardlab.core.options import InvalidOption
from cardlab.games.cards.deck import NUM_CARDS
from cardlab.games.catalogue import make_game
from cardlab.games.protocol import Floats, Game, InfoStates, Players, States
from cardlab.networks.belief import BeliefNetwork
from cardlab.networks.options import BeliefOptions

FORMAT = 1
_DESCRIPTION = "belief.json"
_WEIGHTS = "weights.safetensors"
_FREE = ("features",)  # options of the game in which belief and agent may differ


class BeliefError(ValueError):
    """A folder holds no belief network for this game; the message is one line that names the folder."""


@dataclass(frozen=True)
class Belief:
    """Predicts which opponent holds each card from the observation of a player."""

    game: Game  # with the features that the network reads
    network: BeliefNetwork

    def weights(self, info_states: InfoStates, players: Players) -> Floats:
        """[N, P, 52] probability that each opponent holds each unseen card; 0 for the player."""
        num_players = self.game.spec.num_players
        with torch.inference_mode():
            observations = torch.from_numpy(self.game.observe(info_states, players)).to(self.network.device)
            shares: Floats = self.network(observations).softmax(dim=1).cpu().numpy()
        weights = np.zeros((len(players), num_players, NUM_CARDS), dtype=np.float32)
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
    save_weights(network, folder / _WEIGHTS)
    description = {
        "format": FORMAT,
        "game": game.spec.name,
        "game_options": dict(game.spec.options),
        "network": options.name,
        "network_options": asdict(options),
    }
    (folder / _DESCRIPTION).write_text(json.dumps(description, indent=2, sort_keys=True) + "\n")


def load_belief(game: Game, folder: Path) -> Belief:
    """The belief in `folder` for `game`, whose features may be others; BeliefError when it does not fit."""
    description = _read_description(folder)
    options = description["game_options"]
    wanted = {"game": game.spec.name, **game.spec.options}
    has = {"game": description["game"], **options}
    for key, value in wanted.items():
        if key not in _FREE and has.get(key) != value:
            raise BeliefError(f"{folder}: was trained for {key}={has.get(key)}, the game has {key}={value}")
    if description["network"] != BeliefOptions.name:
        raise BeliefError(f"{folder / _DESCRIPTION}: network={description['network']}: must be {BeliefOptions.name}")
    try:
        own_game = make_game(game.spec.name, **options)
    except (InvalidOption, TypeError) as error:
        raise BeliefError(f"{folder / _DESCRIPTION}: {error}") from error
    given: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in description["network_options"].items()
    }
    try:
        network = BeliefOptions(**given).build(own_game.spec)
        load_weights(network, folder / _WEIGHTS)
    except (SafetensorError, OSError, RuntimeError, TypeError, ValueError, AttributeError) as error:
        reason = str(error).splitlines()[0]
        raise BeliefError(f"{folder / _WEIGHTS}: are not the weights of this network ({reason})") from error
    return Belief(own_game, network.requires_grad_(False).eval())


def _read_description(folder: Path) -> Mapping[str, Any]:
    path = folder / _DESCRIPTION
    try:
        data = json.loads(path.read_text())
        version = data["format"]
        description = {key: data[key] for key in ("game", "game_options", "network", "network_options")}
    except OSError as error:
        raise BeliefError(f"{folder}: is not a belief's folder: no {_DESCRIPTION} in it") from error
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise BeliefError(f"{path}: is not a belief's description ({error!r})") from error
    if version != FORMAT:
        raise BeliefError(f"{path}: format {version}, this version reads {FORMAT}: train the belief again")
    for key in ("game_options", "network_options"):
        if not isinstance(description[key], Mapping):
            raise BeliefError(f"{path}: is not a belief's description ({key} is not a mapping)")
    return description


def _all_alike(info_states: InfoStates, players: Players) -> bool:
    rows: NDArray[np.uint8] = np.ascontiguousarray(info_states).view(np.uint8).reshape(len(players), -1)
    return bool((rows == rows[0]).all() and (players == players[0]).all())
