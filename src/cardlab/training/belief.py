"""Training of a belief: self-play of given agents, one pass over each round, and what the belief is worth."""

import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from lightning.pytorch.callbacks import Callback
from numpy.typing import NDArray

from cardlab.agents.beliefs import Belief
from cardlab.core.options import InvalidOption
from cardlab.evaluation.intervals import Estimate, estimate
from cardlab.games.agent_protocol import Agent
from cardlab.games.big2.determinization import deal_log_likelihoods
from cardlab.games.protocol import Floats, Game
from cardlab.learners.belief import BeliefLearner
from cardlab.learners.losses.belief import SEEN
from cardlab.learners.options import BeliefTraining
from cardlab.learners.rollouts.belief_samples import BeliefSamples, collect_belief_samples
from cardlab.networks.options import BeliefOptions
from cardlab.training.callbacks import MetricsLog
from cardlab.training.options import TrainerOptions
from cardlab.training.process_loop import lightning_trainer

NUM_BINS = 10
_HELD_OUT = 1 << 20  # number of the round that is never trained on
_ROWS_AT_ONCE = 8192


@dataclass(frozen=True)
class Bin:
    """What is believed with about the same probability."""

    count: int  # (card, player) pairs
    believed: float  # mean probability
    happened: float  # share in which that player had the card


@dataclass(frozen=True)
class BeliefFigures:
    """A belief on games that it was not trained on, with intervals clustered by game; bits are per unseen card."""

    belief: Estimate
    uniform: Estimate
    gain: Estimate  # bits that the belief saves
    calibration: tuple[Bin, ...]
    decisions: int


@dataclass(frozen=True)
class BeliefExperiment:
    """All that a belief depends on."""

    game: Game
    agents: Sequence[Agent]  # who plays the games
    network: BeliefOptions
    training: BeliefTraining
    seed: int

    def __post_init__(self) -> None:
        """Raise InvalidOption for a game without hands whose deals have a known likelihood."""
        if self.game.spec.name != "big2":
            raise InvalidOption(
                "game.name", self.game.spec.name, "big2, whose players hold hands that others may guess"
            )

    def round(self, number: int) -> BeliefSamples:
        """The games of one round: a function of the seed and its number."""
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(number,)))
        games = self.training.held_out if number == _HELD_OUT else self.training.games
        return collect_belief_samples(self.game, self.agents, games, rng)


class _Rounds:
    """What Lightning iterates over; its length is known, so nothing is fetched ahead."""

    def __init__(self, experiment: BeliefExperiment) -> None:
        self.experiment = experiment

    def __len__(self) -> int:
        return self.experiment.training.rounds

    def __iter__(self) -> Iterator[BeliefSamples]:
        for number in range(len(self)):
            yield self.experiment.round(number)


class _Log(Callback):
    """Sends each round's metrics on."""

    def __init__(self, sink: MetricsLog | None, tell: Callable[[str], None]) -> None:
        self.sink = sink
        self.tell = tell

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """After each round."""
        assert isinstance(pl_module, BeliefLearner)
        if self.sink is not None:
            self.sink.log_metrics(pl_module.metrics, pl_module.rounds_done)
        done, total = pl_module.rounds_done, pl_module.options.rounds
        if done * 10 // total > (done - 1) * 10 // total:
            self.tell(f"round {done}/{total}: {pl_module.metrics['bits_per_card']:.4f} bits a card")


def train_belief(
    experiment: BeliefExperiment, *, log: MetricsLog | None = None, tell: Callable[[str], None] = print
) -> Belief:
    """The belief of players who watch these agents play; a function of the experiment."""
    torch.manual_seed(experiment.seed)
    torch.set_num_threads(1)
    network = experiment.network.build(experiment.game.spec)
    learner = BeliefLearner(experiment.game, network, experiment.training, experiment.seed)
    trainer = lightning_trainer(TrainerOptions(), [_Log(log, tell)])
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="lightning")
        trainer.fit(learner, train_dataloaders=_Rounds(experiment))
    return Belief(experiment.game, network.requires_grad_(False).eval())


def judge_belief(belief: Belief, experiment: BeliefExperiment) -> BeliefFigures:
    """How likely the belief finds the true deals of held-out games, against all deals alike; and its calibration."""
    seen = experiment.round(_HELD_OUT)
    weights = _in_parts(belief, seen)
    cards = (seen.targets != SEEN).sum(axis=1)
    believed = -deal_log_likelihoods(seen.states, seen.info_states, weights) / np.log(2)
    alike = -deal_log_likelihoods(seen.states, seen.info_states, np.ones_like(weights)) / np.log(2)
    per_game = [_by_game(bits, cards, seen.games) for bits in (believed, alike)]
    return BeliefFigures(
        estimate(per_game[0]),
        estimate(per_game[1]),
        estimate(per_game[1] - per_game[0]),
        _calibration(weights, seen, belief.game.spec.num_players),
        len(seen),
    )


def figures_as_data(figures: BeliefFigures) -> Mapping[str, float]:
    """The figures by name, as tracked."""
    named = {"belief": figures.belief, "uniform": figures.uniform, "gain": figures.gain}
    ends = {f"bits/{name}{end}": value for name, one in named.items() for end, value in _ends(one).items()}
    return {**ends, "decisions": float(figures.decisions)}


def _ends(one: Estimate) -> Mapping[str, float]:
    return {"": one.mean, "_low": one.low, "_high": one.high}


def _in_parts(belief: Belief, seen: BeliefSamples) -> Floats:
    parts = [slice(start, start + _ROWS_AT_ONCE) for start in range(0, len(seen), _ROWS_AT_ONCE)]
    return np.concatenate([belief.weights(seen.info_states[part], seen.players[part]) for part in parts])  # pyright: ignore[reportArgumentType]


def _by_game(bits: Floats, cards: NDArray[np.intp], games: NDArray[np.intp]) -> NDArray[np.float64]:
    """[games] bits per unseen card over the decisions of each game."""
    return np.bincount(games, bits) / np.bincount(games, cards)


def _calibration(weights: Floats, seen: BeliefSamples, num_players: int) -> tuple[Bin, ...]:
    """Bins of equal width over the probabilities of all (unseen card, other player) pairs."""
    rows, cards = np.nonzero(seen.targets != SEEN)
    seats = np.arange(1, num_players)
    players = (seen.players[rows, None] + seats) % num_players
    believed = weights[rows[:, None], players, cards[:, None]].ravel()
    happened = (seen.targets[rows, cards][:, None] == seats - 1).ravel()
    numbers = np.minimum((believed * NUM_BINS).astype(np.intp), NUM_BINS - 1)
    bins: list[Bin] = []
    for number in range(NUM_BINS):
        here = numbers == number
        if here.any():
            bins.append(Bin(int(here.sum()), float(believed[here].mean()), float(happened[here].mean())))
    return tuple(bins)
