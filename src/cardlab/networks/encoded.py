"""Decisions that are encoded once and read in parts, in any order: what the epochs over one round share."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cardlab.games.protocol import Bools, Game, InfoStates, Players
from cardlab.kernels import kernel
from cardlab.networks.inputs import Inputs, LegalActions, LegalPairs, Places, legal_pairs
from cardlab.networks.protocol import Network, encode_for

_ROWS_AT_ONCE = 2048  # encoded: the mask of so many is short-lived and stays in cache


class EncodedDecisions:
    """N decisions as `network` reads them, where its weights are; without their masks, which are mostly empty.

    What `encode` is given next lies in the same memory, where there is enough: pages fresh from the kernel cost more
    than the numbers in them.
    """

    def __init__(self, network: Network, game: Game) -> None:
        self._network = network
        self._game = game
        self._actions: Places = np.empty(0, dtype=np.int64)  # [K]
        self._starts: Places = np.zeros(1, dtype=np.int64)  # [N + 1]
        nothing = torch.empty(0, device=network.device)
        self._observations = nothing.new_empty((0, game.spec.num_features))  # [at least N, F]
        self._features = nothing.new_empty((0, game.spec.num_action_features))  # [at least K, Fa], where read

    def __len__(self) -> int:
        return len(self._starts) - 1

    @property
    def observations(self) -> Tensor:
        """What the players see [N, F]."""
        return self._observations[: len(self)]

    def encode(self, info_states: InfoStates, players: Players) -> None:
        """Hold these decisions [N] in the place of those before."""
        nums, actions = [np.zeros(1, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        rows = pairs = 0
        for start in range(0, len(players), _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            inputs = encode_for(self._network, self._game, InfoStates(info_states[part]), players[part])
            legal = legal_pairs(inputs)
            nums.append(np.diff(legal.starts.cpu().numpy()))
            actions.append(legal.actions.cpu().numpy())
            self._observations = _write(self._observations, rows, inputs.observations, len(players))
            if inputs.choices is not None:
                expected = (pairs + len(actions[-1])) * len(players) // (rows + len(nums[-1]))
                self._features = _write(self._features, pairs, inputs.choices.features, expected)
            rows, pairs = rows + len(nums[-1]), pairs + len(actions[-1])
        self._starts, self._actions = np.concatenate(nums).cumsum(), np.concatenate(actions)

    def pick(self, index: NDArray[np.int64]) -> tuple[Inputs, LegalPairs]:
        """The decisions `index` [n] as inputs, and their legal pairs."""
        device = self._network.device
        places, *arrays = _pick(self._starts, self._actions, index, self._game.spec.num_actions)
        rows, actions, starts, legal = (torch.from_numpy(array).to(device) for array in arrays)
        observations = self._observations.index_select(0, torch.from_numpy(index).to(device))
        choices = None
        if self._network.reads_actions:
            features = self._features.index_select(0, torch.from_numpy(places).to(device))
            choices = LegalActions(rows, actions, features)
        return Inputs(observations, legal, choices), LegalPairs(rows, actions, starts)


def _write(store: Tensor, start: int, rows: Tensor, expected: int) -> Tensor:
    """`store` with `rows` written from `start` on; a larger one, for more than `expected`, where it is full."""
    end = start + len(rows)
    if end > len(store) or store.device != rows.device:
        larger = rows.new_empty((max(end, expected) * 9 // 8, rows.shape[1]))
        larger[:start] = store[:start]
        store = larger
    store[start:end] = rows
    return store


@kernel
def _pick(
    starts: Places, actions: Places, index: Places, num_actions: int
) -> tuple[Places, Places, Places, Places, Bools]:
    """Places, rows and actions [K], starts [n + 1] and mask [n, A] of `index` [n] among all `actions` by `starts`."""
    new_starts = np.zeros(len(index) + 1, dtype=np.int64)
    for row in range(len(index)):
        new_starts[row + 1] = new_starts[row] + starts[index[row] + 1] - starts[index[row]]
    places = np.empty(new_starts[-1], dtype=np.int64)
    rows = np.empty_like(places)
    picked = np.empty_like(places)
    legal = np.zeros((len(index), num_actions), dtype=np.bool_)
    for row in range(len(index)):
        for k in range(new_starts[row], new_starts[row + 1]):
            rows[k] = row
            places[k] = starts[index[row]] + k - new_starts[row]
            picked[k] = actions[places[k]]
            legal[row, picked[k]] = True
    return places, rows, picked, new_starts, legal
