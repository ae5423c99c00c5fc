"""Learning who holds the cards that a player cannot see: targets by seat, and the loss."""

import numpy as np
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor

from cardlab.games.protocol import Players

SEEN = -1  # in place of a target: the player knows who has the card, or nobody has it


def holder_targets(
    holders: NDArray[np.int8], known: NDArray[np.int8], players: Players, num_players: int
) -> NDArray[np.int64]:
    """[N, 52] how many seats on from `players` [N] the holder of each unseen card sits, less one; SEEN elsewhere.

    `holders` [N, 52] as of the States, `known` [N, 52] as of the InfoStates (`Game.holders`).
    """
    seats = (holders.astype(np.int64) - players[:, None] - 1) % num_players
    return np.where((holders >= 0) & (known < 0), seats, SEEN)


def holder_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Cross-entropy in nats per unseen card of `logits` [N, P − 1, 52] against `targets` [N, 52]."""
    return F.cross_entropy(logits, targets, ignore_index=SEEN)
