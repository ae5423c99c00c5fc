"""From InfoStates to tensors: what a network reads for N decisions."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from cardlab.games.protocol import Game, InfoStates, Players


@dataclass(frozen=True, slots=True)
class LegalActions:
    """The legal actions of N decisions as K rows: which decision, which action, its features."""

    rows: Tensor  # [K] int64, ascending
    actions: Tensor  # [K] int64
    features: Tensor  # [K, Fa] float32


@dataclass(frozen=True, slots=True)
class Inputs:
    """N decisions as a network reads them."""

    observations: Tensor  # [N, F] float32
    legal: Tensor  # [N, A] bool
    choices: LegalActions | None = None  # for networks that read actions


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
