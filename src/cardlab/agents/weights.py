"""Network weights as a safetensors file with a checksum, which is verified when the file is loaded."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file

_CHECKSUM = "sha256"  # key in the metadata of the header, which other readers ignore

Weights = Mapping[str, torch.Tensor]


class ChecksumError(ValueError):
    """The tensors of a file do not match its checksum; the caller adds the name of the file."""


def save_weights(network: torch.nn.Module, path: Path) -> None:
    """Write the weights, the same bytes for the same weights. Raises SafetensorError."""
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
    save_file(weights, path, metadata={_CHECKSUM: _checksum(weights)})


def load_weights(network: torch.nn.Module, path: Path) -> None:
    """Load the weights into `network`; no code in the file is run.

    Raises ChecksumError, and SafetensorError, OSError or RuntimeError for a file that is damaged, missing or of another
    network. A file without a checksum is accepted.
    """
    with safe_open(path, framework="pt") as file:
        written: str | None = (file.metadata() or {}).get(_CHECKSUM)
        weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  it is no mapping
    if written is not None and written != _checksum(weights):
        raise ChecksumError("damaged: the checksum does not match")
    network.load_state_dict(weights)


def _checksum(weights: Weights) -> str:
    """SHA-256 over names, types, shapes and numbers, in the order of the names."""
    digest = hashlib.sha256()
    for name, tensor in sorted(weights.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
