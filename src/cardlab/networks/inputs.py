"""Inputs of networks as tensors: observations and legal actions of N decisions."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cardlab.core.kernels import kernel
from cardlab.games.protocol import (
    Actions,
    Bools,
    Floats,
    Game,
    HasActionFeatures,
    InfoStates,
    Players,
    lists_legal_actions,
)

Indices = NDArray[np.int64]

_ROWS_PER_PART = 16  # decisions; fewer take less time than handing them to a thread


@dataclass(frozen=True, slots=True)
class LegalPairs:
    """The legal actions of N decisions as K pairs (decision, action), so that illegal actions cost nothing."""

    rows: Tensor  # [K] int64: decision, ascending
    actions: Tensor  # [K] int64, ascending within a decision
    starts: Tensor  # [N + 1] int64: decision n has the pairs starts[n] to starts[n + 1] − 1
    num_actions: int  # A, including illegal actions
    features: Tensor | None = None  # [K, Fa] action features, in the dtype of the observations

    def log_softmax(self, scores: Tensor) -> Tensor:
        """Log-probabilities [K] of `scores` [K] in float32; each decision's probabilities sum to one."""
        scores, num_rows = scores.float(), len(self.starts) - 1
        lowest = scores.new_full((num_rows,), -torch.inf)
        highest = lowest.scatter_reduce(0, self.rows, scores.detach(), "amax")
        shifted = scores - highest.index_select(0, self.rows)  # against overflow of exp
        sums = scores.new_zeros(num_rows).index_add(0, self.rows, shifted.exp())
        return shifted - sums.log().index_select(0, self.rows)

    def dense(self, scores: Tensor) -> Tensor:
        """[N, A] of `scores` [K], minus infinity where illegal."""
        empty = scores.new_full((len(self.starts) - 1, self.num_actions), -torch.inf)
        return empty.index_put((self.rows, self.actions), scores)

    def mask(self) -> Tensor:
        """[N, A] bool: whether an action is legal."""
        mask = torch.zeros((len(self.starts) - 1, self.num_actions), dtype=torch.bool, device=self.rows.device)
        mask[self.rows, self.actions] = True
        return mask


@dataclass(frozen=True, slots=True)
class Inputs:
    """Input of `Network.forward` for N decisions."""

    observations: Tensor  # [N, F] float32
    legal: Tensor  # [N, A] bool
    pairs: LegalPairs | None = None  # with features, for networks that read actions


def described(pairs: LegalPairs | None) -> tuple[LegalPairs, Tensor]:
    """The pairs and their features [K, Fa]; ValueError if one of them is missing."""
    if pairs is None or pairs.features is None:
        raise ValueError("the legal pairs have no action features; encode decisions by encode_for or encode_legal_for")
    return pairs, pairs.features


def legal_pairs(legal: Bools, device: torch.device | str = "cpu") -> LegalPairs:
    """The pairs of a mask [N, A] in which each row has a legal action."""
    return _to_tensors(*_split(np.flatnonzero(legal), *legal.shape), num_actions=legal.shape[1], device=device)


def game_pairs(
    game: Game, info_states: InfoStates, players: Players, device: torch.device, *, with_features: bool
) -> LegalPairs:
    """The legal pairs of N decisions; built without a mask if the game lists legal actions or their features."""
    num_actions = game.spec.num_actions
    if with_features:
        assert isinstance(game, HasActionFeatures)
        rows, actions, features = _action_features(game, info_states, players)
        starts = np.searchsorted(rows, np.arange(len(players) + 1))
        pairs = _to_tensors(rows, actions, starts, num_actions=num_actions, device=device)
        return replace(pairs, features=torch.from_numpy(features).to(device))
    if lists_legal_actions(game):
        actions, starts = game.list_legal_actions(info_states)
        rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        return _to_tensors(rows, actions, starts, num_actions=num_actions, device=device)
    return legal_pairs(game.legal_actions(info_states), device)


def _action_features(
    game: HasActionFeatures, info_states: InfoStates, players: Players
) -> tuple[NDArray[np.intp], Actions, Floats]:
    """`game.action_features` of N decisions, in as many threads as torch has: kernels release Python's lock."""
    num_threads = torch.get_num_threads()
    num_parts = min(2 * num_threads, len(players) // _ROWS_PER_PART)  # two a thread, since parts differ in cost
    if num_threads < 2 or num_parts < 2:
        return game.action_features(info_states, players)
    cuts = np.linspace(0, len(players), num_parts + 1).astype(np.intp)
    parts = [slice(start, stop) for start, stop in pairwise(cuts)]
    described = _threads(num_threads).map(
        lambda part: game.action_features(InfoStates(info_states[part]), players[part]), parts
    )
    rows, actions, features = zip(*described, strict=True)
    rows_of_all = [own + part.start for own, part in zip(rows, parts, strict=True)]
    return np.concatenate(rows_of_all), np.concatenate(actions), np.concatenate(features)


@cache
def _threads(num: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(num, thread_name_prefix="action_features")


os.register_at_fork(after_in_child=_threads.cache_clear)  # threads do not survive a fork


def _to_tensors(*arrays: NDArray[Any], num_actions: int, device: torch.device | str) -> LegalPairs:
    """LegalPairs of rows [K], actions [K] and starts [N + 1]."""
    rows, actions, starts = (torch.from_numpy(array.astype(np.int64, copy=False)).to(device) for array in arrays)
    return LegalPairs(rows, actions, starts, num_actions)


@kernel
def _split(cells: Indices, num_rows: int, num_actions: int) -> tuple[Indices, Indices, Indices]:
    """Rows and actions [K] and starts [N + 1] of ascending flat indices [K] into a mask [N, A] without empty rows."""
    rows = np.empty_like(cells)
    actions = np.empty_like(cells)
    starts = np.zeros(num_rows + 1, dtype=np.int64)
    for k in range(len(cells)):
        rows[k] = cells[k] // num_actions
        actions[k] = cells[k] - rows[k] * num_actions
        starts[rows[k] + 1] = k + 1
    return rows, actions, starts
