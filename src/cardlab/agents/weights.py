"""Weights of a network as a safetensors file with a checksum in it: a flipped bit is found when it is loaded."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file

_CHECKSUM = "sha256"  # key in the header's own table of texts, which readers that do not know it pass over

Weights = Mapping[str, torch.Tensor]


class ChecksumError(ValueError):
    """The numbers in a file are not those that were written; the message says no file: who loads it knows."""


def save_weights(network: torch.nn.Module, path: Path) -> None:
    """Write the weights, the same bytes for the same weights. Raises SafetensorError."""
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
    save_file(weights, path, metadata={_CHECKSUM: _checksum(weights)})


def load_weights(network: torch.nn.Module, path: Path) -> None:
    """Load the weights into `network`; nothing in the file is run.

    Raises ChecksumError, and SafetensorError, OSError or RuntimeError for a file that is torn, gone or of another
    network. A file without a checksum, as older versions wrote it, is taken as it is.
    """
    with safe_open(path, framework="pt") as file:
        written: str | None = (file.metadata() or {}).get(_CHECKSUM)
        weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  it is no mapping
    if written is not None and written != _checksum(weights):
        raise ChecksumError("damaged: their checksum is not that with which they were written")
    network.load_state_dict(weights)


def _checksum(weights: Weights) -> str:
    """SHA-256 over names, types, shapes and numbers, in the order of the names."""
    digest = hashlib.sha256()
    for name, tensor in sorted(weights.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
