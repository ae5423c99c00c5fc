"""Decisions of one iteration, encoded once; the epochs select minibatches from them."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cardlab.core.kernels import kernel
from cardlab.games.protocol import Actions, Game, InfoStates, Players
from cardlab.networks.inputs import Indices, LegalPairs
from cardlab.networks.protocol import Network, encode_legal_for

_CHUNK = 2048  # decisions encoded at a time, so that intermediate arrays stay in the cache


@dataclass(frozen=True, slots=True)
class EncodedMinibatch:
    """N decisions as `Network.score_legal` reads them."""

    observations: Tensor  # [N, F] float32, or the dtype of autocast
    pairs: LegalPairs
    chosen: Tensor  # [N] int64: index of the chosen action among the pairs


class EncodedDecisions:
    """N decisions encoded for `network`, on its device, and the actions that were chosen.

    Under autocast, features are stored in its dtype: half the memory, and they are rounded once. `encode` reuses the
    memory of the last call, since fresh pages from the operating system cost more than writing the numbers.
    """

    def __init__(self, network: Network, game: Game) -> None:
        self._network = network
        self._game = game
        self._actions: Indices = np.empty(0, dtype=np.int64)  # [K]
        self._starts: Indices = np.zeros(1, dtype=np.int64)  # [N + 1]
        self._chosen: Indices = np.empty(0, dtype=np.int64)  # [N] indices into the K pairs
        empty = torch.empty(0, device=network.device)
        self._observations = empty.new_empty((0, game.spec.num_features))  # [≥ N, F]
        self._features = empty.new_empty((0, game.spec.num_action_features))  # [≥ K, Fa] if the network reads actions

    def __len__(self) -> int:
        return len(self._starts) - 1

    @property
    def observations(self) -> Tensor:
        """Observations [N, F]."""
        return self._observations[: len(self)]

    def encode(self, info_states: InfoStates, players: Players, actions: Actions) -> None:
        """Replace the content by these decisions [N] and their chosen `actions` [N].

        Raises ValueError for an action that is not legal.
        """
        counts, legal_actions = [np.zeros(1, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        dtype = self._dtype()
        rows = pairs = 0
        for start in range(0, len(players), _CHUNK):
            chunk = slice(start, start + _CHUNK)
            observations, legal = encode_legal_for(
                self._network, self._game, InfoStates(info_states[chunk]), players[chunk]
            )
            counts.append(np.diff(legal.starts.cpu().numpy()))
            legal_actions.append(legal.actions.cpu().numpy())
            self._observations = _write(self._observations, rows, observations.to(dtype), len(players))
            if legal.features is not None:
                expected = (pairs + len(legal_actions[-1])) * len(players) // (rows + len(counts[-1]))
                self._features = _write(self._features, pairs, legal.features.to(dtype), expected)
            rows, pairs = rows + len(counts[-1]), pairs + len(legal_actions[-1])
        self._starts, self._actions = np.concatenate(counts).cumsum(), np.concatenate(legal_actions)
        self._chosen = _find_pairs(self._starts, self._actions, actions)
        if (self._chosen < 0).any():
            raise ValueError("a chosen action is not legal")

    def _dtype(self) -> torch.dtype:
        device = self._network.device.type
        rounded = torch.is_autocast_enabled(device) and not self._network.reads_codes
        return torch.get_autocast_dtype(device) if rounded else torch.float32

    def select(self, index: NDArray[np.int64]) -> EncodedMinibatch:
        """The decisions at `index` [n]."""
        device = self._network.device
        sources, *arrays = _select_pairs(self._starts, self._actions, self._chosen, index)
        rows, actions, starts, chosen = (torch.from_numpy(array).to(device) for array in arrays)
        observations = self._observations.index_select(0, torch.from_numpy(index).to(device))
        features = None
        if self._network.reads_actions:
            features = self._features.index_select(0, torch.from_numpy(sources).to(device))
        pairs = LegalPairs(rows, actions, starts, self._game.spec.num_actions, features)
        return EncodedMinibatch(observations, pairs, chosen)


def _write(buffer: Tensor, start: int, rows: Tensor, expected: int) -> Tensor:
    """Write `rows` into `buffer` from `start`; return it, or a larger copy for `expected` rows if they do not fit."""
    end = start + len(rows)
    if end > len(buffer) or buffer.device != rows.device or buffer.dtype != rows.dtype:
        larger = rows.new_empty((max(end, expected) * 9 // 8, rows.shape[1]))
        larger[:start] = buffer[:start]
        buffer = larger
    buffer[start:end] = rows
    return buffer


@kernel
def _find_pairs(starts: Indices, actions: Indices, chosen: Actions) -> Indices:
    """[N] index of each row's `chosen` [N] action among `actions` [K] by `starts` [N + 1]; −1 where it is missing."""
    indices = np.full(len(chosen), -1, dtype=np.int64)
    for row in range(len(chosen)):
        for k in range(starts[row], starts[row + 1]):
            if actions[k] == chosen[row]:
                indices[row] = k
    return indices


@kernel
def _select_pairs(
    starts: Indices, actions: Indices, chosen: Indices, index: Indices
) -> tuple[Indices, Indices, Indices, Indices, Indices]:
    """The pairs of the rows `index` [n]: sources, rows and actions [K], starts [n + 1] and chosen pairs [n].

    Sources are the indices of the pairs among all of `actions`.
    """
    new_starts = np.zeros(len(index) + 1, dtype=np.int64)
    for row in range(len(index)):
        new_starts[row + 1] = new_starts[row] + starts[index[row] + 1] - starts[index[row]]
    sources = np.empty(new_starts[-1], dtype=np.int64)
    rows = np.empty_like(sources)
    selected = np.empty_like(sources)
    new_chosen = np.empty(len(index), dtype=np.int64)
    for row in range(len(index)):
        offset = starts[index[row]] - new_starts[row]
        new_chosen[row] = chosen[index[row]] - offset
        for k in range(new_starts[row], new_starts[row + 1]):
            rows[k] = row
            sources[k] = k + offset
            selected[k] = actions[sources[k]]
    return sources, rows, selected, new_starts, new_chosen
