"""cardlab's learners on a game of OpenSpiel: each as the command line trains it, with the CPU time of each snapshot."""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import cardlab
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.composition import compose_experiment
from cardlab.games.agent_protocol import Agent
from cardlab.games.protocol import Game
from cardlab.integrations.open_spiel.positions import positions_of
from cardlab.training.callbacks import is_point
from cardlab.training.run import train

LEARNERS = {
    "recipe": ["experiment=open_spiel/ppo"],
    "ppo": ["game=open_spiel", "agent=ppo"],
    "dqn": ["game=open_spiel", "agent=dqn"],
    "td": ["game=open_spiel", "agent=td"],
}
Point = tuple[int, float, Agent]
"""Decisions, CPU seconds of training until there, and the policy."""


class Clock:
    """The metrics log of a training: CPU seconds at the end of each iteration."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def log_metrics(self, metrics: Mapping[str, float], step: int) -> None:
        """Called after each iteration."""
        self.seconds.append(metrics["usage/cpu_seconds"])


def learn(
    game: Game, overrides: list[str], decisions: int, seed: int, parts: int, points: list[int], place: Path
) -> Iterator[Point]:
    """Train by `overrides`; yield the policies at `points`, each a number of `parts` of the decisions.

    The CPU seconds hold rollouts, updates and the writing of `parts` snapshots. Nothing is evaluated on the way.
    """
    text = str(game.spec.options["text"])
    budget = [f"trainer.decisions={decisions}", "trainer.evaluations=0", f"trainer.snapshots={parts}"]
    composed = compose_experiment([*overrides, f'game.text="{text}"', f"seed={seed}", *budget])
    shutil.rmtree(place, ignore_errors=True)
    positions_of.cache_clear()  # a training finds no positions that another one has met
    clock, experiment = Clock(), build_experiment(composed)
    trained = train(experiment, run_dir=place, model_dir=place / "policy", log=clock, report=lambda _: None)
    total = experiment.last_iteration
    iterations = [done for done in range(1, total + 1) if is_point(done, parts, total)]
    kept = sorted(int(path.name) for path in trained.snapshots.iterdir())
    by_iteration = dict(zip(iterations, kept, strict=True))
    for point in points:
        iteration = -(-point * total // parts)
        done = by_iteration[iteration]
        yield done, clock.seconds[iteration - 1], cardlab.load_agent(game, trained.snapshots / str(done))
    shutil.rmtree(place)
