"""Trained policies as folders: policy.json and weights.safetensors, the same bytes for the same training."""

import errno
from collections.abc import Mapping
from dataclasses import asdict, fields
from math import isfinite
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from cardlab.agents.network_files import load_weights, save_weights
from cardlab.agents.policy_descriptions import (
    DESCRIPTION,
    WEIGHTS,
    PolicyDescription,
    PolicyError,
    check_game,
    default_features,
    find_class,
    policy_digest,
    read_description,
    write_description,
)
from cardlab.core.parts import target_of
from cardlab.games.agent_protocol import Agent, Policy
from cardlab.games.protocol import Game
from cardlab.networks.protocol import Network, NetworkOptions


def describe(
    game: Game, options: NetworkOptions, policy: Agent | type[Agent], policy_options: Mapping[str, Any]
) -> PolicyDescription:
    """The description of a `policy`, or of its class, for `game`; its network has these `options` (a dataclass)."""
    network_options: dict[str, Any] = asdict(options)  # pyright: ignore[reportArgumentType] - options are dataclasses
    return PolicyDescription(
        game.spec.name,
        target_of(game),
        dict(game.spec.options),
        target_of(options),
        network_options,
        target_of(policy),
        dict(policy_options),
    )


def save_policy(folder: Path, description: PolicyDescription, network: Network) -> str:
    """Write the policy and return its digest. The files contain no time, path or run id."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        save_weights(network, folder / WEIGHTS)
    except SafetensorError as error:
        raise OSError(errno.EIO, str(error), str(folder / WEIGHTS)) from error
    write_description(folder / DESCRIPTION, description)
    return policy_digest(folder)


def load_policy(game: Game, folder: Path) -> Policy:
    """The policy in `folder`, ready to play `game`; PolicyError when it does not fit."""
    description = _fitting(game, folder)
    network = _network(game, folder, description)
    path = folder / DESCRIPTION
    kind: Any = find_class(path, "policy", description.policy)
    known = [entry.name for entry in fields(kind)][2:]  # behind game and network
    for key, value in description.policy_options.items():
        if key not in known or not isinstance(value, int | float) or not isfinite(value):
            raise PolicyError(f"{path}: policy: must have numbers for {', '.join(known)}")
        if key == "reward_scale" and value <= 0:
            raise PolicyError(f"{path}: policy: reward_scale={value}: must be above 0")
    return kind(game, network, **description.policy_options)


def load_network(game: Game, folder: Path) -> Network:
    """The network of the policy in `folder`; PolicyError when it does not fit the observation of `game`."""
    return _network(game, folder, _fitting(game, folder))


def _fitting(game: Game, folder: Path) -> PolicyDescription:
    """The content of policy.json; PolicyError when it is of another game."""
    description = read_description(folder)
    trained_for = {"game": description.game, "features": default_features(game), **description.game_options}
    check_game(folder, game, trained_for)
    return description


def _network(game: Game, folder: Path, description: PolicyDescription) -> Network:
    return load_weights(
        folder, find_class(folder / DESCRIPTION, "network", description.network), description, game.spec
    )
