"""Folders of trained networks: a description in JSON, and weights as a safetensors file with a checksum.

Nothing in a folder is ever run: classes are named by registry key, weights are plain arrays.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from cardlab.agents.policy_descriptions import WEIGHTS, PolicyDescription, PolicyError
from cardlab.games.protocol import GameSpec

_CHECKSUM = "sha256"  # key in the metadata of the header, which other readers ignore

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


def _checksum(weights: Weights) -> str:
    """SHA-256 over names, types, shapes and numbers, in the order of the names."""
    digest = hashlib.sha256()
    for name, tensor in sorted(weights.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
