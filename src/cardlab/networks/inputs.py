"""From InfoStates to tensors: what a network reads for N decisions."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cardlab.core.kernels import kernel
from cardlab.games.protocol import (
    Actions,
    Bools,
    Game,
    HasActionFeatures,
    InfoStates,
    Players,
    Starts,
    lists_legal_actions,
)

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LegalPairs:
    """The legal actions of N decisions as K pairs of decision and action: what is illegal costs nothing."""

    rows: Tensor  # [K] int64, ascending
    actions: Tensor  # [K] int64, ascending within a row
    starts: Tensor  # [N + 1] int64: row n has the pairs from starts[n] up to starts[n + 1]
    num_actions: int  # A, the illegal ones among them
    features: Tensor | None = None  # [K, Fa] of the actions, for networks that read them; in the dtype of observations

    def log_softmax(self, scores: Tensor) -> Tensor:
        """[K] log-probabilities of scores [K], float32: those of a row sum to one."""
        scores, num_rows = scores.float(), len(self.starts) - 1
        lowest = scores.new_full((num_rows,), -torch.inf)
        highest = lowest.scatter_reduce(0, self.rows, scores.detach(), "amax")
        shifted = scores - highest.index_select(0, self.rows)  # so that no exponential is too large
        sums = scores.new_zeros(num_rows).index_add(0, self.rows, shifted.exp())
        return shifted - sums.log().index_select(0, self.rows)

    def mask(self) -> Tensor:
        """[N, A] bool: whether an action is legal."""
        mask = torch.zeros((len(self.starts) - 1, self.num_actions), dtype=torch.bool, device=self.rows.device)
        mask[self.rows, self.actions] = True
        return mask


@dataclass(frozen=True, slots=True)
class Inputs:
    """N decisions as a network reads them."""

    observations: Tensor  # [N, F] float32
    legal: Tensor  # [N, A] bool
    choices: LegalPairs | None = None  # with features, for networks that read actions


def legal_pairs(legal: Bools, device: torch.device | str = "cpu") -> LegalPairs:
    """The pairs of a mask [N, A] in which each row has a legal action."""
    pairs = _split(np.flatnonzero(legal), *legal.shape)
    rows, actions, starts = (torch.from_numpy(array).to(device) for array in pairs)
    return LegalPairs(rows, actions, starts, legal.shape[1])


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
    legal = torch.from_numpy(game.legal_actions(info_states)).to(device)
    observations = torch.from_numpy(game.observe(info_states, players)).to(device)
    choices = _described_pairs(game, info_states, players, device) if reads_actions else None
    return Inputs(observations, legal, choices)


def encode_legal(
    game: Game,
    info_states: InfoStates,
    players: Players,
    *,
    reads_actions: bool = False,
    device: torch.device | str = "cpu",
) -> tuple[Tensor, LegalPairs]:
    """Observations [N, F] and legal pairs of [N] decisions, without a mask where a game tells them otherwise."""
    observations = torch.from_numpy(game.observe(info_states, players)).to(device)
    if reads_actions:
        return observations, _described_pairs(game, info_states, players, device)
    num_actions = game.spec.num_actions
    if lists_legal_actions(game):
        return observations, _listed_pairs(*game.list_legal_actions(info_states), num_actions, device)
    return observations, legal_pairs(game.legal_actions(info_states), device)


def _listed_pairs(legal: Actions, starts: Starts, num_actions: int, device: torch.device | str) -> LegalPairs:
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    rows, actions, begin = (torch.from_numpy(array).to(device) for array in (rows, legal.astype(np.int64), starts))
    return LegalPairs(rows, actions, begin, num_actions)


def _described_pairs(game: Game, info_states: InfoStates, players: Players, device: torch.device | str) -> LegalPairs:
    assert isinstance(game, HasActionFeatures)
    rows, actions, features = game.action_features(info_states, players)
    rows, actions = rows.astype(np.int64, copy=False), actions.astype(np.int64, copy=False)
    starts = np.searchsorted(rows, np.arange(len(players) + 1))
    here = [torch.from_numpy(array).to(device) for array in (rows, actions, starts, features)]
    return LegalPairs(here[0], here[1], here[2], game.spec.num_actions, here[3])
