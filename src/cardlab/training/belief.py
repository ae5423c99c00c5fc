"""Training and evaluation of a belief, from games between given agents."""

import logging
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from lightning.pytorch.callbacks import Callback
from numpy.typing import NDArray

from cardlab.agents.beliefs import Belief
from cardlab.evaluation.intervals import Estimate, estimate
from cardlab.games.agent_protocol import Agent
from cardlab.games.big2.hidden_cards import deal_log_likelihoods
from cardlab.games.protocol import Floats, Game
from cardlab.learners.belief.learner import SEEN, BeliefLearner, BeliefSamples, collect_belief_samples
from cardlab.learners.belief.options import BeliefTraining, check_believable
from cardlab.networks.belief_options import BeliefOptions
from cardlab.training.callbacks import MetricsLog
from cardlab.training.options import TrainerOptions
from cardlab.training.training_process import lightning_trainer

NUM_BINS = 10
_HELD_OUT = 1 << 20  # number of the rollout that is never trained on
_ROWS_AT_ONCE = 8192


@dataclass(frozen=True)
class Bin:
    """(card, player) pairs of about equal predicted probability."""

    count: int  # (card, player) pairs
    predicted: float  # mean predicted probability
    observed: float  # share of pairs in which the player held the card


@dataclass(frozen=True)
class BeliefFigures:
    """Bits per unseen card on held-out games, with intervals clustered by game."""

    belief: Estimate
    uniform: Estimate
    gain: Estimate  # uniform − belief
    calibration: tuple[Bin, ...]
    decisions: int


@dataclass(frozen=True)
class BeliefExperiment:
    """Everything that a belief depends on."""

    game: Game
    agents: Sequence[Agent]  # who plays the games
    network: BeliefOptions
    training: BeliefTraining
    seed: int

    def __post_init__(self) -> None:
        """Raise InvalidOption for a game without hands whose deals have a known likelihood."""
        check_believable(self.game.spec.name)

    def rollout(self, number: int) -> BeliefSamples:
        """Samples of rollout `number`, a function of the seed and the number."""
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(number,)))
        games = self.training.held_out if number == _HELD_OUT else self.training.games
        return collect_belief_samples(self.game, self.agents, games, rng)


class _Log(Callback):
    """Logs the metrics of each iteration."""

    def __init__(self, log: MetricsLog | None, report: Callable[[str], None]) -> None:
        self.metrics_log = log
        self.report = report

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """Log one iteration."""
        assert isinstance(pl_module, BeliefLearner)
        if self.metrics_log is not None:
            metrics = {f"train/{name}": value for name, value in pl_module.metrics.items()}
            self.metrics_log.log_metrics(metrics, pl_module.iterations_done)
        done, total = pl_module.iterations_done, pl_module.options.iterations
        if done * 10 // total > (done - 1) * 10 // total:
            self.report(f"iteration {done}/{total}: {pl_module.metrics['bits_per_card']:.4f} bits a card")


def train_belief(
    experiment: BeliefExperiment, *, log: MetricsLog | None = None, report: Callable[[str], None] = print
) -> Belief:
    """Train a belief on games between the experiment's agents."""
    torch.manual_seed(experiment.seed)
    torch.set_num_threads(1)
    network = experiment.network.build(experiment.game.spec)
    learner = BeliefLearner(experiment.game, network, experiment.training, experiment.seed)
    trainer = lightning_trainer(TrainerOptions(), [_Log(log, report)])
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="lightning")
        trainer.fit(learner, train_dataloaders=map(experiment.rollout, range(experiment.training.iterations)))
    return Belief(experiment.game, network.requires_grad_(False).eval())


def evaluate_belief(belief: Belief, experiment: BeliefExperiment) -> BeliefFigures:
    """Likelihood of the true deals of held-out games by the belief and uniformly, and the belief's calibration."""
    samples = experiment.rollout(_HELD_OUT)
    weights = _in_parts(belief, samples)
    cards = (samples.targets != SEEN).sum(axis=1)
    believed = -deal_log_likelihoods(samples.states, samples.info_states, weights) / np.log(2)
    uniform = -deal_log_likelihoods(samples.states, samples.info_states, np.ones_like(weights)) / np.log(2)
    per_game = [_by_game(bits, cards, samples.games) for bits in (believed, uniform)]
    return BeliefFigures(
        estimate(per_game[0]),
        estimate(per_game[1]),
        estimate(per_game[1] - per_game[0]),
        _calibration(weights, samples, belief.game.spec.num_players),
        len(samples),
    )


def belief_metrics(figures: BeliefFigures) -> Mapping[str, float]:
    """The figures as metrics by name."""
    named = {"belief": figures.belief, "uniform": figures.uniform, "gain": figures.gain}
    bits = [one.named(f"bits/{name}", f"bits/{name}_") for name, one in named.items()]
    return {**bits[0], **bits[1], **bits[2], "decisions": float(figures.decisions)}


def _in_parts(belief: Belief, samples: BeliefSamples) -> Floats:
    parts = [slice(start, start + _ROWS_AT_ONCE) for start in range(0, len(samples), _ROWS_AT_ONCE)]
    return np.concatenate([belief.weights(samples.info_states[part], samples.players[part]) for part in parts])  # pyright: ignore[reportArgumentType]


def _by_game(bits: Floats, cards: NDArray[np.intp], games: NDArray[np.intp]) -> NDArray[np.float64]:
    """[games] bits per unseen card over the decisions of each game."""
    return np.bincount(games, bits) / np.bincount(games, cards)


def _calibration(weights: Floats, samples: BeliefSamples, num_players: int) -> tuple[Bin, ...]:
    """Bins of equal width over the probabilities of all (unseen card, other player) pairs."""
    rows, cards = np.nonzero(samples.targets != SEEN)
    seats = np.arange(1, num_players)
    players = (samples.players[rows, None] + seats) % num_players
    believed = weights[rows[:, None], players, cards[:, None]].ravel()
    observed = (samples.targets[rows, cards][:, None] == seats - 1).ravel()
    numbers = np.minimum((believed * NUM_BINS).astype(np.intp), NUM_BINS - 1)
    bins: list[Bin] = []
    for number in range(NUM_BINS):
        here = numbers == number
        if here.any():
            bins.append(Bin(int(here.sum()), float(believed[here].mean()), float(observed[here].mean())))
    return tuple(bins)
