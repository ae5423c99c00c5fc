"""Targets and loss of beliefs about who holds the cards that a player cannot see."""

import numpy as np
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor

from cardlab.games.protocol import Players

SEEN = -1  # target of a card whose place the player knows, or which no player holds


def holder_targets(
    holders: NDArray[np.int8], known: NDArray[np.int8], players: Players, num_players: int
) -> NDArray[np.int64]:
    """[N, 52] class of each unseen card: seats from `players` [N] to its holder, minus 1; SEEN for other cards.

    `holders` [N, 52] is `Game.holders` of the States, `known` [N, 52] that of the InfoStates.
    """
    seats = (holders.astype(np.int64) - players[:, None] - 1) % num_players
    return np.where((holders >= 0) & (known < 0), seats, SEEN)


def holder_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Cross-entropy of `logits` [N, P − 1, 52] against `targets` [N, 52], in nats per unseen card."""
    return F.cross_entropy(logits, targets, ignore_index=SEEN)
