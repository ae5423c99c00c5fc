"""Speed of learning and where its time goes, by the CPU time of one core.

    python benchmarks/learning_shares.py [NAME …]

For each setting: decisions and samples a second in the best round (a sample is a decision learned from once: epochs
count), then shares of the time of all rounds, then the share that the matrix work of networks would take alone, acting
included (matrix_work.py).
"""

import sys
import warnings
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch

from cardlab.experiments.config.composition import compose_experiment
from cardlab.learners.base import Learner
from learning_iterations import FAST, PPO_BIG2, WARM, as_in_trainings, best_speed, learn
from matrix_work import Replay
from stopwatch import Stopwatch

SETTINGS: Mapping[str, Sequence[str]] = {
    "PPO, Big 2, float32": PPO_BIG2,
    "PPO, Big 2, fast": (*PPO_BIG2, *FAST),
    "DQN, Poker Squares": ("experiment=poker_squares/dqn",),
    "TD, Poker Squares": ("experiment=poker_squares/td_long",),
}
ROUNDS = 6
REPLAYS = 5
COLUMNS = (
    "decisions/s",
    "samples/s",
    "engine",
    "encoding",
    "acting",
    "other play",
    "updates",
    "encoding",
    "matrix work",
)


@dataclass(frozen=True)
class Shares:
    """Of the CPU time of rounds, from 0 to 1, but for the speeds."""

    decisions: float  # a second, in the best round
    samples: float  # a second, in the best round
    engine: float  # rules: deal, mask, apply, pay
    encoding_in_play: float  # observations, features of actions, lists of legal ones
    acting: float  # forward passes in play
    other_play: float  # drawing actions, the loop, records of decisions
    updates: float  # all that learns: encoding, forward, backward, optimiser, targets
    encoding_in_updates: float  # a part of the updates
    matrix_work: float  # best replay of the networks' work alone, by the best round


class _Watch:
    """A stopwatch around the measured rounds, and the last of them again by its networks alone."""

    def __init__(self, stack: ExitStack, rounds: int, config: Mapping[str, Any]) -> None:
        self.stack, self.rounds, self.config = stack, rounds, config
        self.stopwatch = Stopwatch()
        self.last = Stopwatch(keep_calls=True)
        self.learner: Learner

    def prepare(self, learner: Learner, _: object) -> None:
        self.learner = learner
        self.stack.enter_context(self.stopwatch.watching(learner))

    def after_round(self, done: int) -> None:
        if done == WARM:
            self.stopwatch.clear()
        if done == WARM + self.rounds:  # one more follows, of which the calls are kept
            self.stack.close()
            self.stack.enter_context(self.last.watching(self.learner))

    def matrix_seconds(self) -> float:
        dtype = getattr(torch, self.config["trainer"]["precision"])
        is_dqn = self.config["agent"]["name"] == "dqn"
        replay = Replay(self.learner.network, self.last.calls, dtype, scores_only=is_dqn)
        with as_in_trainings():
            return min(replay.seconds() for _ in range(REPLAYS))


def measure(overrides: Sequence[str], rounds: int = ROUNDS) -> Shares:
    """One setting, in `rounds` rounds."""
    config = compose_experiment(overrides)
    with ExitStack() as stack:
        watch = _Watch(stack, rounds, config)
        measured = learn(overrides, rounds + 1, watch.prepare, watch.after_round)
    *rest, last = measured
    total, seconds = sum(one.seconds for one in rest), watch.stopwatch.seconds
    parts = {key: spent / total for key, spent in seconds.items()}
    played = sum(parts.get(("play", part), 0.0) for part in ("engine", "encoding", "network"))
    speed = best_speed(rest)
    return Shares(
        decisions=speed,
        samples=speed * samples_per_decision(config["agent"]),
        engine=parts["play", "engine"],
        encoding_in_play=parts["play", "encoding"],
        acting=parts["play", "network"],
        other_play=parts["play", ""] - played,
        updates=parts["updates", ""],
        encoding_in_updates=parts["updates", "encoding"],
        matrix_work=watch.matrix_seconds() / last.decisions * speed,
    )


def samples_per_decision(agent: Mapping[str, Any]) -> float:
    """How often a decision is learned from."""
    if agent["name"] == "dqn":
        return agent["updates_per_iteration"] * agent["minibatch_size"] / agent["decisions_per_iteration"]
    return agent["epochs"]


def row(name: str, shares: Shares) -> str:
    """A line of the table in Markdown."""
    speeds = (f"{shares.decisions:,.0f}", f"{shares.samples:,.0f}")
    parts = (
        shares.engine,
        shares.encoding_in_play,
        shares.acting,
        shares.other_play,
        shares.updates,
        shares.encoding_in_updates,
        shares.matrix_work,
    )
    return "| " + " | ".join([name, *speeds, *(f"{100 * part:.0f} %" for part in parts)]) + " |"


def main(names: Sequence[str]) -> None:
    warnings.filterwarnings("ignore", module="lightning")
    print("| | " + " | ".join(COLUMNS) + " |")
    for name in names or SETTINGS:
        print(row(name, measure(SETTINGS[name])), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
