"""Supervised learning of beliefs: samples of games, their targets, one pass of minibatches over each rollout."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import lightning
import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor, nn

from cardlab.games.agent_protocol import Agent
from cardlab.games.loop import play
from cardlab.games.protocol import Game, InfoStates, Players, States
from cardlab.games.record_arrays import take
from cardlab.learners.base import MetricMeans, Metrics, TrainingDiverged
from cardlab.learners.belief.options import BeliefTraining
from cardlab.learners.rollouts.experience import Columns
from cardlab.networks.belief import BeliefNetwork

SEEN = -1  # target of a card whose place the player knows, or which no player holds


def holder_targets(
    holders: NDArray[np.int8], known: NDArray[np.int8], players: Players, num_players: int
) -> NDArray[np.int64]:
    """[N, C] class of each unseen card: seats from `players` [N] to its holder, minus 1; SEEN for other cards.

    `holders` [N, C] is `Game.holders` of the States, `known` [N, C] that of the InfoStates.
    """
    seats = (holders.astype(np.int64) - players[:, None] - 1) % num_players
    return np.where((holders >= 0) & (known < 0), seats, SEEN)


def holder_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Cross-entropy of `logits` [N, P − 1, C] against `targets` [N, C], in nats per unseen card."""
    return F.cross_entropy(logits, targets, ignore_index=SEEN)


@dataclass(frozen=True, slots=True)
class BeliefSamples(Columns):
    """Decisions of finished games, without forced moves."""

    games: NDArray[np.intp]  # [N] number of the game
    players: Players  # [N]
    info_states: InfoStates  # [N]
    states: States  # [N] after the decision; the opponents' cards are as before it
    targets: NDArray[np.int64]  # [N, C] see holder_targets

    def __len__(self) -> int:
        return len(self.players)


def collect_belief_samples(
    game: Game, agents: Sequence[Agent], num_games: int, rng: np.random.Generator
) -> BeliefSamples:
    """The decisions of `num_games` games; each seat of each game gets a random one of `agents`."""
    states = game.deal(num_games, rng)
    seats = rng.integers(0, len(agents), (num_games, game.spec.num_players)).astype(np.int8)
    parts: list[BeliefSamples] = []
    for moves in play(game, states, agents, rng, seats=seats):
        asked = np.flatnonzero(moves.queried)
        rows, players = moves.rows[asked], moves.players[asked]
        info_states, after = take(moves.info_states, asked), take(states, rows)
        targets = holder_targets(game.holders(after), game.holders(States(info_states)), players, game.spec.num_players)
        parts.append(BeliefSamples(rows, players, info_states, after, targets))
    return BeliefSamples.join(parts)


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
