"""From InfoStates to tensors: what a network reads for N decisions."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cardlab.games.protocol import Game, InfoStates, Players
from cardlab.kernels import kernel

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LegalActions:
    """The legal actions of N decisions as K rows: which decision, which action, its features."""

    rows: Tensor  # [K] int64, ascending
    actions: Tensor  # [K] int64
    features: Tensor  # [K, Fa] float32


@dataclass(frozen=True, slots=True)
class LegalPairs:
    """The legal actions of N decisions as K pairs of decision and action: what is illegal costs nothing."""

    rows: Tensor  # [K] int64, ascending
    actions: Tensor  # [K] int64, ascending within a row
    starts: Tensor  # [N + 1] int64: row n has the pairs from starts[n] up to starts[n + 1]

    def log_softmax(self, scores: Tensor) -> Tensor:
        """[K] log-probabilities of scores [K], float32: those of a row sum to one."""
        scores, num_rows = scores.float(), len(self.starts) - 1
        lowest = scores.new_full((num_rows,), -torch.inf)
        highest = lowest.scatter_reduce(0, self.rows, scores.detach(), "amax")
        shifted = scores - highest.index_select(0, self.rows)  # so that no exponential is too large
        sums = scores.new_zeros(num_rows).index_add(0, self.rows, shifted.exp())
        return shifted - sums.log().index_select(0, self.rows)

    def positions_of(self, actions: Tensor) -> Tensor:
        """[N] which pairs are those of legal actions [N], one for each decision."""
        rows = torch.arange(len(actions), device=self.rows.device)
        stride = int(self.actions.max()) + 1
        return torch.searchsorted(self.rows * stride + self.actions, rows * stride + actions)


@dataclass(frozen=True, slots=True)
class Inputs:
    """N decisions as a network reads them."""

    observations: Tensor  # [N, F] float32
    legal: Tensor  # [N, A] bool
    choices: LegalActions | None = None  # for networks that read actions


def legal_pairs(inputs: Inputs) -> LegalPairs:
    """The pairs of `inputs`, where they are; each decision has a legal action."""
    legal = inputs.legal.cpu().numpy()
    pairs = _split(np.flatnonzero(legal), *legal.shape)
    return LegalPairs(*(torch.from_numpy(array).to(inputs.legal.device) for array in pairs))


@kernel
def _split(places: Places, num_rows: int, num_actions: int) -> tuple[Places, Places, Places]:
    """Rows and actions [K] and starts [N + 1] of ascending places [K] in a mask [N, A] without empty rows."""
    rows = np.empty_like(places)
    actions = np.empty_like(places)
    starts = np.zeros(num_rows + 1, dtype=np.int64)
    for k in range(len(places)):
        rows[k] = places[k] // num_actions
        actions[k] = places[k] - rows[k] * num_actions
        starts[rows[k] + 1] = k + 1
    return rows, actions, starts


def encode(
    game: Game,
    info_states: InfoStates,
    players: Players,
    *,
    reads_actions: bool = False,
    device: torch.device | str = "cpu",
) -> Inputs:
    """The inputs of [N] decisions; with `reads_actions` the legal actions' own features too."""
    legal = torch.from_numpy(game.legal_actions(info_states))
    observations = torch.from_numpy(game.observe(info_states, players))
    choices = None
    if reads_actions:
        rows, actions, features = game.action_features(info_states, players)
        choices = LegalActions(
            torch.from_numpy(rows.astype(np.int64, copy=False)).to(device),
            torch.from_numpy(actions.astype(np.int64)).to(device),
            torch.from_numpy(features).to(device),
        )
    return Inputs(observations.to(device), legal.to(device), choices)
