"""What a training says of itself: gradient steps, the age of its rollouts, and that it has not learned."""

from typing import Any

import numpy as np
import pytest

from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.composition import compose_experiment
from cardlab.training.experiment import Experiment
from cardlab.training.learning_check import gradient_steps, not_learned, plan, rollout_age
from cardlab.training.training_process import build_learner


def experiment_of(*overrides: str) -> Experiment:
    return build_experiment(compose_experiment([*overrides]))


@pytest.mark.parametrize(
    ("overrides", "network"),
    [
        (["game=big2", "agent=ppo"], "ActionsOptions"),
        (["game=big2", "agent=td"], "MLPOptions"),
        (["game=open_face", "agent=dqn"], "LinesOptions"),
        (["game=poker_squares", "agent=td"], "LinesOptions"),
        (["game=thirty_one", "agent=dqn"], "MLPOptions"),
        (["game=big2", "agent=ppo", "network=mlp"], "MLPOptions"),
    ],
)
def test_the_network_auto_is_what_game_and_learner_can_use(overrides: list[str], network: str) -> None:
    assert type(experiment_of(*overrides).network).__name__ == network


@pytest.mark.parametrize("game", ["poker_squares", "five_o"])
def test_the_expected_age_is_what_rollouts_have(game: str) -> None:
    experiment = experiment_of(f"game={game}", "network=mlp", "network.widths=[8]", "trainer.parallel_games=512")
    _, collector = build_learner(experiment)
    ages = []
    for _ in range(12):
        collector.collect(experiment.agent.decisions_per_iteration)
        ages.append(collector.mean_age)
    assert np.mean(ages[8:]) == pytest.approx(rollout_age(experiment), rel=0.15)


@pytest.mark.parametrize(
    ("overrides", "steps", "hint"),
    [
        (["agent=ppo"], 390, "trainer.decisions=200000"),
        (["agent=ppo", "agent.minibatch_size=1024"], 98, "agent.minibatch_size=256"),
        (["agent=dqn", "agent.decisions_per_iteration=8192"], 96, "agent.decisions_per_iteration=2048"),
    ],
)
def test_few_gradient_steps_are_said_with_an_option_that_makes_more(
    overrides: list[str], steps: int, hint: str
) -> None:
    experiment = experiment_of("game=thirty_one", "trainer.decisions=50_000", *overrides)
    assert gradient_steps(experiment) == pytest.approx(steps, rel=0.03)
    assert hint in plan(experiment)
    mended = experiment_of("game=thirty_one", "trainer.decisions=50_000", *overrides, hint)
    assert (gradient_steps(mended) or 0) > 2 * steps


def test_old_rollouts_are_said_with_the_option_that_keeps_them_young() -> None:
    experiment = experiment_of("game=five_o", "trainer.parallel_games=2048")
    hint = plan(experiment).partition("trainer.parallel_games=")[2].split()[0]
    assert rollout_age(experiment_of("game=five_o", f"trainer.parallel_games={hint}")) <= 1.0


@pytest.mark.parametrize(
    ("score", "low", "high", "said"),
    [
        (-0.9, -1.0, -0.8, "not better than random: -0.90 (-1.00 to -0.80); try network=auto first"),
        (0.1, -0.1, 0.3, "not clearly better than random: 0.10"),
        (0.2, 0.1, 0.3, None),
    ],
)
def test_a_training_that_does_not_learn_says_so(score: float, low: float, high: float, said: str | None) -> None:
    experiment = experiment_of("game=five_o", "network=mlp")
    row: dict[str, Any] = {"score/random": score}
    row |= {"interval/score/random_low": low, "interval/score/random_high": high}
    sentence = not_learned(experiment, [row])
    assert sentence is None if said is None else (sentence or "").startswith(said)


def test_a_single_player_is_compared_with_the_points_of_the_weakest_reference() -> None:
    experiment = experiment_of("game=poker_squares", "arena.references=[random,flush]")
    row = {"score/self": 14.0, "interval/score/self_low": 13.0, "interval/score/self_high": 15.0}
    sentence = not_learned(experiment, [row]) or ""
    assert "better than random (1" in sentence
    assert not_learned(experiment, [row | {"interval/score/self_low": 30.0}]) is None
