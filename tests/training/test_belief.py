"""Training of beliefs: it learns what players give away, the same every time, and is judged honestly."""

import numpy as np
import pytest

from cardlab.agents.registry import load_agent
from cardlab.core.messages import InvalidOption
from cardlab.games.make_game import make_game
from cardlab.learners.belief.learner import SEEN, collect_belief_samples
from cardlab.learners.belief.options import BeliefTraining
from cardlab.networks.belief_options import BeliefOptions
from cardlab.training.belief import BeliefExperiment, evaluate_belief, train_belief

GAME = make_game("big2", features="full")


def experiment(**training):
    options = BeliefTraining(**{"iterations": 6, "games": 120, "minibatch_size": 64, "held_out": 60, **training})
    return BeliefExperiment(GAME, [load_agent(GAME, "lowest")], BeliefOptions(widths=(64,)), options, 3)


def test_samples_contain_the_holders_of_cards():
    seen = collect_belief_samples(GAME, [load_agent(GAME, "random")], 10, np.random.default_rng(0))
    hidden = seen.info_states["counts"].sum(axis=1) - seen.info_states["counts"][np.arange(len(seen)), seen.players]
    np.testing.assert_array_equal((seen.targets != SEEN).sum(axis=1), hidden)
    for seat in range(3):
        others = (seen.players + seat + 1) % 4
        counts = seen.info_states["counts"][np.arange(len(seen)), others]
        np.testing.assert_array_equal((seen.targets == seat).sum(axis=1), counts)


def test_it_learns_from_players_who_give_themselves_away():
    """`lowest` always follows when it can, so its passes tell much."""
    told = []
    first = experiment()
    figures = evaluate_belief(train_belief(first, report=told.append), first)
    assert figures.gain.low > 0
    assert figures.belief.mean + figures.gain.mean == pytest.approx(figures.uniform.mean)
    assert len(told) == 6
    counted = sum(one.count for one in figures.calibration)
    assert counted == 3 * (first.rollout(1 << 20).targets != SEEN).sum()
    second = evaluate_belief(train_belief(experiment(), report=told.append), first)
    assert second == figures


def test_other_games_are_refused():
    game = make_game("five_o")
    with pytest.raises(InvalidOption, match="game=five_o: must be big2"):
        BeliefExperiment(game, [load_agent(game, "random")], BeliefOptions(), BeliefTraining(), 0)


def test_training_is_checked():
    with pytest.raises(InvalidOption, match=r"training\.iterations=0"):
        BeliefTraining(iterations=0)
