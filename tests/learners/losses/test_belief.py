"""Targets and loss of beliefs against their definitions."""

import numpy as np
import pytest
import torch

from cardlab.games.make_game import make_game
from cardlab.games.protocol import States
from cardlab.learners.belief.learner import SEEN, holder_loss, holder_targets


def test_targets_are_the_seats_of_holders_of_unseen_cards():
    game = make_game("big2")
    states = game.deal(20, np.random.default_rng(0))
    players = (np.arange(20) % 4).astype(np.int8)
    holders = game.holders(states)
    known = game.holders(States(game.information(states, players)))
    targets = holder_targets(holders, known, players, 4)
    for row, player in enumerate(players.tolist()):
        for card in range(52):
            hidden = holders[row, card] >= 0 and known[row, card] < 0
            expected = (holders[row, card] - player) % 4 - 1 if hidden else SEEN
            assert targets[row, card] == expected
    assert ((targets != SEEN).sum(axis=1) >= 38).all()


def test_loss_is_the_mean_over_unseen_cards():
    rng = np.random.default_rng(1)
    logits = rng.normal(size=(5, 3, 52)).astype(np.float32)
    targets = rng.integers(-1, 3, size=(5, 52))
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    rows, cards = np.nonzero(targets >= 0)
    expected = -np.log(shares[rows, targets[rows, cards], cards]).mean()
    found = float(holder_loss(torch.from_numpy(logits), torch.from_numpy(targets)))
    assert found == pytest.approx(expected, rel=1e-5)
