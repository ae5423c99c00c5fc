"""Trained networks and policies as folders: a description in JSON and weights.safetensors with a checksum.

The same training gives the same bytes. Nothing in a folder is ever run: classes are named by registry key, weights are
plain arrays.
"""

import errno
import hashlib
from collections.abc import Mapping
from dataclasses import asdict, fields
from math import isfinite
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

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
from cardlab.core.files import LARGEST_DATA, check_regular
from cardlab.core.parts import target_of
from cardlab.games.agent_protocol import Agent, Policy
from cardlab.games.protocol import Game, GameSpec
from cardlab.networks.protocol import Network, NetworkOptions

_CHECKSUM = "sha256"  # key in the metadata of the header, which other readers ignore

_LARGEST_WEIGHT = 1e12  # sums of products of larger ones are not finite

Weights = Mapping[str, torch.Tensor]


def save_weights(network: torch.nn.Module, path: Path) -> None:
    """Write the weights, the same bytes for the same weights; an earlier file is replaced when the new one is complete.

    Raises SafetensorError or OSError.
    """
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
    draft = path.with_name(f"{path.name}.part")
    try:
        save_file(weights, draft, metadata={_CHECKSUM: _checksum(weights)})
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def load_weights(folder: Path, options: Any, description: PolicyDescription, spec: GameSpec) -> Any:
    """The network of the class `options` of options with the weights in `folder`, without gradients.

    PolicyError for a file that is damaged, missing or of another network. A file without a checksum is accepted.
    """
    given = {
        key: tuple(value) if isinstance(value, list) else value for key, value in description.network_options.items()
    }
    path = folder / WEIGHTS
    try:
        check_regular(path, LARGEST_DATA)
        network = options(**given).build(spec)
        expected = network.state_dict()
        with safe_open(path, framework="pt") as file:
            written: str | None = (file.metadata() or {}).get(_CHECKSUM)
            shapes = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118  no mapping
            if shapes != {name: tuple(tensor.shape) for name, tensor in expected.items()}:
                raise ValueError("names or shapes differ")
            weights = {name: file.get_tensor(name) for name in shapes}
        if written is not None and written != _checksum(weights):
            raise ValueError("damaged: the checksum does not match")
        _check_numbers(weights, expected)
        network.load_state_dict(weights)
    except (SafetensorError, OSError, RuntimeError, TypeError, ValueError, AttributeError) as error:
        reason = str(error).splitlines()[0]
        raise PolicyError(f"{path}: are not the weights of this network ({reason})") from error
    return network.requires_grad_(False).eval()


def _check_numbers(weights: Weights, expected: Weights) -> None:
    """ValueError for weights that are NaN, infinite or huge, or of another type than the network's."""
    for name, tensor in weights.items():
        if tensor.dtype != expected[name].dtype:
            raise ValueError(f"{name} has the type {tensor.dtype}, not {expected[name].dtype}")
        if tensor.is_floating_point() and not bool((tensor.abs() <= _LARGEST_WEIGHT).all()):
            raise ValueError(f"{name} has numbers that are NaN, infinite or above {_LARGEST_WEIGHT:g}")


def _checksum(weights: Weights) -> str:
    """SHA-256 over names, types, shapes and numbers, in the order of the names."""
    digest = hashlib.sha256()
    for name, tensor in sorted(weights.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


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
