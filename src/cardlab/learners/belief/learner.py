"""Supervised learning of beliefs: each iteration makes one pass of minibatches over a rollout."""

from typing import Any

import lightning
import numpy as np
import torch
from torch import Tensor, nn

from cardlab.games.protocol import Game
from cardlab.games.record_arrays import take
from cardlab.learners.base import MetricMeans, Metrics, TrainingDiverged
from cardlab.learners.belief.loss import holder_loss
from cardlab.learners.belief.options import BeliefTraining
from cardlab.learners.belief.samples import BeliefSamples
from cardlab.networks.belief import BeliefNetwork


class BeliefLearner(lightning.LightningModule):
    """Cross-entropy of who holds each unseen card; one `training_step` is one iteration."""

    def __init__(self, game: Game, network: BeliefNetwork, options: BeliefTraining, seed: int) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.game = game
        self.network = network
        self.options = options
        self.iterations_done = 0
        self.rng = np.random.default_rng(seed)
        self.metrics: Metrics = {}

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Adam."""
        return torch.optim.Adam(self.network.parameters(), lr=self.options.learning_rate, fused=True)

    def transfer_batch_to_device(self, batch: Any, device: torch.device, dataloader_idx: int) -> Any:
        """Leave the samples on the CPU: each minibatch is encoded and then moved."""
        return batch

    def training_step(self, batch: BeliefSamples, batch_idx: int) -> None:
        """One iteration; sets `metrics`. Raises TrainingDiverged for a gradient that is not finite."""
        optimizer = self.optimizers(use_pl_optimizer=False)
        assert isinstance(optimizer, torch.optim.Optimizer)
        rate = self.options.learning_rate * (1 - self.iterations_done / self.options.iterations)
        for group in optimizer.param_groups:
            group["lr"] = rate
        self.network.train()
        means = MetricMeans()
        num_parts = max(1, round(len(batch) / self.options.minibatch_size))
        for part in np.array_split(self.rng.permutation(len(batch)), num_parts):
            observations = self.game.observe(take(batch.info_states, part), batch.players[part])
            logits = self.network(torch.from_numpy(observations).to(self.device))
            loss = holder_loss(logits, torch.from_numpy(batch.targets[part]).to(self.device))
            norm = self._descend(loss, optimizer)
            means.add(loss=loss, bits_per_card=loss / np.log(2), grad_norm=norm)
        self.iterations_done += 1
        self.metrics = {**means.result(), "learning_rate": rate}

    def _descend(self, loss: Tensor, optimizer: torch.optim.Optimizer) -> float:
        """One clipped step; the gradient's norm before clipping."""
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norm = float(nn.utils.clip_grad_norm_(self.network.parameters(), self.options.max_grad_norm))
        if not np.isfinite(norm):
            raise TrainingDiverged(f"gradient norm is {norm} (loss {float(loss)}); lower training.learning_rate")
        optimizer.step()
        return norm
