"""Exploring near the best: how often what is drawn, and targets that do not follow it."""

import numpy as np
import pytest

from cardlab.agents.exploration import epsilon_softmax
from cardlab.core.messages import InvalidOption
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.composition import compose_experiment
from cardlab.learners.td.options import TDOptions
from cardlab.training.training_process import build_learner


def test_actions_are_as_frequent_as_they_are_said_to_be():
    worths = np.array([1.0, -np.inf, 1.5, 0.0], dtype=np.float32)
    many = 200_000
    sampled = epsilon_softmax(
        np.full(many, 2, dtype=np.int16), np.tile(worths, (many, 1)), 0.4, 0.5, np.random.default_rng(0)
    )
    counts = np.bincount(sampled.actions, minlength=4) / many
    weights = np.exp(worths / 0.5)
    expected = 0.4 * weights / weights.sum() + [0, 0, 0.6, 0]
    assert counts == pytest.approx(expected, abs=0.004)
    assert np.exp(sampled.log_probabilities) == pytest.approx(expected[sampled.actions], rel=1e-5)
    assert (sampled.values == 1.5).all()


@pytest.mark.parametrize("temperature", [0.0, 2.0])
def test_targets_are_cut_off_before_exploring_actions(temperature):
    changes = ["agent.epsilon=0.3", f"agent.temperature={temperature}", "agent.td_lambda=0.7", "network.width=16"]
    composed = compose_experiment(["experiment=poker_squares/sparse_lines", *changes])
    learner, collector = build_learner(build_experiment(composed))
    experience = collector.collect(2000)
    worths = learner.behaviour_agent().action_values(experience.info_states, experience.players)
    greedy = worths.argmax(axis=1) == experience.actions
    assert 0.02 < 1 - greedy.mean() < 0.3
    assert experience.values * 20 == pytest.approx(worths.max(axis=1), rel=1e-4)
    assert np.array_equal(learner._traces(experience)[:-1], np.where(greedy[1:], 0.7, 0.0))


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"off_policy": True, "epsilon": 0.5}, r"agent\.epsilon"),
        ({"off_policy": True, "successors": 2}, r"agent\.off_policy"),
        ({"temperature": -1.0}, r"agent\.temperature"),
    ],
)
def test_what_does_not_fit_is_refused(options, named):
    with pytest.raises(InvalidOption, match=named):
        TDOptions(**options)


def test_networks_of_codes_count_in_units_of_the_game():
    composed = compose_experiment(["experiment=poker_squares/sparse_lines", "agent.reward_scale=10"])
    with pytest.raises(InvalidOption, match=r"agent\.reward_scale=10\.0: must be left out: this network"):
        build_experiment(composed)
