"""Supervised learning of beliefs: a round of sightings in, one pass of minibatches, metrics out."""

from dataclasses import dataclass
from typing import Any

import lightning
import numpy as np
import torch
from torch import Tensor, nn

from cardlab.core.options import check_range
from cardlab.games.protocol import Game
from cardlab.games.rows import take
from cardlab.learners.base import Means, Metrics, TrainingDiverged
from cardlab.learners.losses.belief import holder_loss
from cardlab.learners.rollouts.belief_samples import Sightings
from cardlab.networks.belief import BeliefNetwork


@dataclass(frozen=True)
class BeliefTraining:
    """The group `training` of `cardlab belief`."""

    rounds: int = 40
    games: int = 512  # of self-play a round, each seen once
    minibatch_size: int = 512
    learning_rate: float = 1e-3  # falls to 0 over the rounds
    max_grad_norm: float = 10.0
    held_out: int = 1000  # games that the belief is judged by

    def __post_init__(self) -> None:
        check_range("training.rounds", self.rounds, 1, whole=True)
        check_range("training.games", self.games, 1, whole=True)
        check_range("training.minibatch_size", self.minibatch_size, 1, whole=True)
        check_range("training.learning_rate", self.learning_rate, 0, 1, open_low=True)
        check_range("training.max_grad_norm", self.max_grad_norm, 0, open_low=True)
        check_range("training.held_out", self.held_out, 2, whole=True)


class BeliefLearner(lightning.LightningModule):
    """Cross-entropy of who holds each unseen card; one `training_step` is one round."""

    def __init__(self, game: Game, network: BeliefNetwork, options: BeliefTraining, seed: int) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.game = game
        self.network = network
        self.options = options
        self.rounds_done = 0
        self.rng = np.random.default_rng(seed)
        self.metrics: Metrics = {}

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Adam."""
        return torch.optim.Adam(self.network.parameters(), lr=self.options.learning_rate, fused=True)

    def transfer_batch_to_device(self, batch: Any, device: torch.device, dataloader_idx: int) -> Any:
        """Sightings stay where they are: minibatches travel, encoded."""
        return batch

    def training_step(self, batch: Sightings, batch_idx: int) -> None:
        """One round; its means are `metrics`. TrainingDiverged for a gradient that is not finite."""
        optimizer = self.optimizers(use_pl_optimizer=False)
        assert isinstance(optimizer, torch.optim.Optimizer)
        rate = self.options.learning_rate * (1 - self.rounds_done / self.options.rounds)
        for group in optimizer.param_groups:
            group["lr"] = rate
        self.network.train()
        means = Means()
        num_parts = max(1, round(len(batch) / self.options.minibatch_size))
        for part in np.array_split(self.rng.permutation(len(batch)), num_parts):
            observations = self.game.observe(take(batch.info_states, part), batch.players[part])
            logits = self.network(torch.from_numpy(observations).to(self.device))
            loss = holder_loss(logits, torch.from_numpy(batch.targets[part]).to(self.device))
            norm = self._descend(loss, optimizer)
            means.add(loss=loss, bits_per_card=loss / np.log(2), grad_norm=norm)
        self.rounds_done += 1
        self.metrics = {**means.result(), "learning_rate": rate}

    def _descend(self, loss: Tensor, optimizer: torch.optim.Optimizer) -> float:
        """One clipped step; the gradient's norm before clipping."""
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norm = float(nn.utils.clip_grad_norm_(self.network.parameters(), self.options.max_grad_norm))
        if not np.isfinite(norm):
            raise TrainingDiverged(f"gradient norm is {norm} (loss {float(loss)}): lower training.learning_rate")
        optimizer.step()
        return norm
