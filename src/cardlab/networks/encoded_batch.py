"""Decisions that are encoded once and read in parts, in any order: what the epochs over one round share."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cardlab.core.kernels import kernel
from cardlab.games.protocol import Actions, Game, InfoStates, Players
from cardlab.networks.inputs import LegalPairs, Places
from cardlab.networks.protocol import Network, encode_legal_for

_ROWS_AT_ONCE = 2048  # encoded: what lies between is short-lived and stays in cache


@dataclass(frozen=True, slots=True)
class Picked:
    """N of the decisions, as `Network.score_legal` reads them."""

    observations: Tensor  # [N, F] float32, or what products are computed in where the network reads them so
    pairs: LegalPairs
    taken: Tensor  # [N] int64: which of the pairs are those of the actions taken


class EncodedDecisions:
    """N decisions as `network` reads them, where its weights are, and the actions that were taken.

    Under autocast they are held as its products read them: in half the memory, and no epoch rounds them anew. What
    `encode` is given next lies in the same memory, where there is enough: pages fresh from the kernel cost more than
    the numbers in them.
    """

    def __init__(self, network: Network, game: Game) -> None:
        self._network = network
        self._game = game
        self._actions: Places = np.empty(0, dtype=np.int64)  # [K]
        self._starts: Places = np.zeros(1, dtype=np.int64)  # [N + 1]
        self._taken: Places = np.empty(0, dtype=np.int64)  # [N] places among the K
        nothing = torch.empty(0, device=network.device)
        self._observations = nothing.new_empty((0, game.spec.num_features))  # [at least N, F]
        self._features = nothing.new_empty((0, game.spec.num_action_features))  # [at least K, Fa], where read

    def __len__(self) -> int:
        return len(self._starts) - 1

    @property
    def observations(self) -> Tensor:
        """What the players see [N, F]."""
        return self._observations[: len(self)]

    def encode(self, info_states: InfoStates, players: Players, taken: Actions) -> None:
        """Hold these decisions [N] and the actions `taken` [N] in the place of those before.

        ValueError when one of them was not legal.
        """
        nums, actions = [np.zeros(1, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        dtype = self._dtype()
        rows = pairs = 0
        for start in range(0, len(players), _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            observations, legal = encode_legal_for(
                self._network, self._game, InfoStates(info_states[part]), players[part]
            )
            nums.append(np.diff(legal.starts.cpu().numpy()))
            actions.append(legal.actions.cpu().numpy())
            self._observations = _write(self._observations, rows, observations.to(dtype), len(players))
            if legal.features is not None:
                expected = (pairs + len(actions[-1])) * len(players) // (rows + len(nums[-1]))
                self._features = _write(self._features, pairs, legal.features.to(dtype), expected)
            rows, pairs = rows + len(nums[-1]), pairs + len(actions[-1])
        self._starts, self._actions = np.concatenate(nums).cumsum(), np.concatenate(actions)
        self._taken = _places_of(self._starts, self._actions, taken)
        if (self._taken < 0).any():
            raise ValueError("an action was taken that is not legal")

    def _dtype(self) -> torch.dtype:
        device = self._network.device.type
        rounded = torch.is_autocast_enabled(device) and not self._network.reads_codes
        return torch.get_autocast_dtype(device) if rounded else torch.float32

    def pick(self, index: NDArray[np.int64]) -> Picked:
        """The decisions `index` [n]."""
        device = self._network.device
        places, *arrays = _pick(self._starts, self._actions, self._taken, index)
        rows, actions, starts, taken = (torch.from_numpy(array).to(device) for array in arrays)
        observations = self._observations.index_select(0, torch.from_numpy(index).to(device))
        features = None
        if self._network.reads_actions:
            features = self._features.index_select(0, torch.from_numpy(places).to(device))
        return Picked(observations, LegalPairs(rows, actions, starts, self._game.spec.num_actions, features), taken)


def _write(store: Tensor, start: int, rows: Tensor, expected: int) -> Tensor:
    """`store` with `rows` written from `start` on; a larger one, for more than `expected`, where it is full."""
    end = start + len(rows)
    if end > len(store) or store.device != rows.device or store.dtype != rows.dtype:
        larger = rows.new_empty((max(end, expected) * 9 // 8, rows.shape[1]))
        larger[:start] = store[:start]
        store = larger
    store[start:end] = rows
    return store


@kernel
def _places_of(starts: Places, actions: Places, taken: Actions) -> Places:
    """[N] the place of each row's `taken` [N] among `actions` [K] by `starts` [N + 1], −1 where it is not there."""
    places = np.full(len(taken), -1, dtype=np.int64)
    for row in range(len(taken)):
        for place in range(starts[row], starts[row + 1]):
            if actions[place] == taken[row]:
                places[row] = place
    return places


@kernel
def _pick(
    starts: Places, actions: Places, taken: Places, index: Places
) -> tuple[Places, Places, Places, Places, Places]:
    """Places, rows and actions [K], starts [n + 1] and places taken [n] of `index` [n] among all by `starts`."""
    new_starts = np.zeros(len(index) + 1, dtype=np.int64)
    for row in range(len(index)):
        new_starts[row + 1] = new_starts[row] + starts[index[row] + 1] - starts[index[row]]
    places = np.empty(new_starts[-1], dtype=np.int64)
    rows = np.empty_like(places)
    picked = np.empty_like(places)
    new_taken = np.empty(len(index), dtype=np.int64)
    for row in range(len(index)):
        moved = starts[index[row]] - new_starts[row]
        new_taken[row] = taken[index[row]] - moved
        for k in range(new_starts[row], new_starts[row + 1]):
            rows[k] = row
            places[k] = k + moved
            picked[k] = actions[places[k]]
    return places, rows, picked, new_starts, new_taken
