"""Folders of trained networks: a description in JSON, and weights as a safetensors file with a checksum.

Nothing in a folder is ever run: classes are named by registry key, weights are plain arrays.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from cardlab.agents.policy_paths import SEED
from cardlab.core.options import InvalidOption
from cardlab.games.catalogue import make_game
from cardlab.games.protocol import Game, GameSpec

WEIGHTS = "weights.safetensors"
_CHECKSUM = "sha256"  # key in the metadata of the header, which other readers ignore

Weights = Mapping[str, torch.Tensor]


class PolicyError(ValueError):
    """A folder holds no policy, or no belief network, for this game; the message is one line that names the folder."""


@dataclass(frozen=True)
class PolicyDescription:
    """A policy, or a belief network, without its weights."""

    game: str
    game_options: Mapping[str, Any]  # the options that the network depends on
    network: str  # registry key
    network_options: Mapping[str, Any]
    policy_kind: str = ""  # registry key of the kind of agent; empty for a belief network
    policy_options: Mapping[str, Any] = field(default_factory=dict[str, Any])


def write_description(path: Path, version: int, description: PolicyDescription) -> None:
    """Write policy.json or belief.json, the same bytes for the same description."""
    given = {key: value for key, value in asdict(description).items() if description.policy_kind or "policy" not in key}
    path.write_text(json.dumps({"format": version, **given}, indent=2, sort_keys=True) + "\n")


def parse_description(path: Path, version: int) -> PolicyDescription:
    """The content of policy.json or belief.json; PolicyError when it is missing, damaged or of another format."""
    what = path.stem
    try:
        data = json.loads(path.read_bytes())
        written = data.pop("format")
        description = PolicyDescription(**data) if written == version else None
    except OSError as error:
        raise PolicyError(missing_policy(path.parent, path.name)) from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise PolicyError(f"{path}: is not a {what}'s description ({error!r})") from error
    if description is None:
        raise PolicyError(f"{path}: format {written}, this version reads {version}; train the {what} again")
    for key, value in vars(description).items():
        wanted, name = (Mapping, "a mapping") if key.endswith("options") else (str, "text")
        if not isinstance(value, wanted):
            raise PolicyError(f"{path}: is not a {what}'s description ({key} is not {name})")
    return description


def missing_policy(folder: Path, name: str) -> str:
    """The message for a folder without the file `name`; it names the seeds of a folder that has one policy for each."""
    seeds = sorted(int(path.name[len(SEED) :]) for path in folder.glob(f"{SEED}*") if path.name[len(SEED) :].isdigit())
    if seeds:
        listed = ", ".join(map(str, seeds))
        return f"{folder}: has the policies of seeds {listed}; choose one, as in {folder / SEED}{seeds[0]}"
    return f"{folder}: is not a {Path(name).stem}'s folder: no {name} in it"


def check_game(folder: Path, game: Game, trained_for: Mapping[str, Any]) -> None:
    """PolicyError unless name and options of `game` are those that the network in `folder` was trained for."""
    for key, value in {"game": game.spec.name, **game.spec.options}.items():
        if _plain(trained_for.get(key)) != _plain(value):
            raise PolicyError(f"{folder}: was trained for {key}={trained_for.get(key)}, the game has {key}={value}")


def described_game(path: Path, name: str, options: Mapping[str, Any]) -> Game:
    """The game that the description `path` names; PolicyError when there is none."""
    try:
        return make_game(name, **options)
    except (InvalidOption, TypeError) as error:
        raise PolicyError(f"{path}: {error}") from error


def save_weights(network: torch.nn.Module, path: Path) -> None:
    """Write the weights, the same bytes for the same weights. Raises SafetensorError."""
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
    save_file(weights, path, metadata={_CHECKSUM: _checksum(weights)})


def load_weights(folder: Path, options: Any, description: PolicyDescription, spec: GameSpec) -> Any:
    """The network of the class `options` of options with the weights in `folder`, without gradients.

    PolicyError for a file that is damaged, missing or of another network. A file without a checksum is accepted.
    """
    given = {
        key: tuple(value) if isinstance(value, list) else value for key, value in description.network_options.items()
    }
    path = folder / WEIGHTS
    try:
        network = options(**given).build(spec)
        with safe_open(path, framework="pt") as file:
            written: str | None = (file.metadata() or {}).get(_CHECKSUM)
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  it is no mapping
        if written is not None and written != _checksum(weights):
            raise ValueError("damaged: the checksum does not match")
        _check_numbers(weights, network.state_dict())
        network.load_state_dict(weights)
    except (SafetensorError, OSError, RuntimeError, TypeError, ValueError, AttributeError) as error:
        reason = str(error).splitlines()[0]
        raise PolicyError(f"{path}: are not the weights of this network ({reason})") from error
    return network.requires_grad_(False).eval()


def _check_numbers(weights: Weights, expected: Weights) -> None:
    """ValueError for weights that are NaN or infinite, or of another type than the network's."""
    for name, tensor in weights.items():
        if name in expected and tensor.dtype != expected[name].dtype:
            raise ValueError(f"{name} has the type {tensor.dtype}, not {expected[name].dtype}")
        if not bool(torch.isfinite(tensor).all()):
            raise ValueError(f"{name} has NaN or infinite numbers")


def _plain(value: Any) -> Any:
    """Tuples as lists, as JSON stores them."""
    return list(value) if isinstance(value, tuple) else value


def _checksum(weights: Weights) -> str:
    """SHA-256 over names, types, shapes and numbers, in the order of the names."""
    digest = hashlib.sha256()
    for name, tensor in sorted(weights.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
