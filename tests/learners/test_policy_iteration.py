"""Policy iteration: what is tried, that rollouts are paid what playing on is, and that it learns."""

from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from safetensors.torch import load_file

from cardlab.core.messages import InvalidOption
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.composition import compose_experiment
from cardlab.games.loop import play_out
from cardlab.games.record_arrays import take
from cardlab.learners.policy_iteration.learner import near_best
from cardlab.learners.policy_iteration.options import PolicyIterationOptions
from cardlab.training.run import train
from cardlab.training.training_process import build_learner
from learners.kuhn_training import kuhn_experiment

EARLY = 6  # turns of Poker Squares: few cards are placed
LAST_CHOICE = 23  # turn of Poker Squares: two cells are open, one more card is to come


def learner_of(*changes):
    composed = compose_experiment(["experiment=poker_squares/policy_iteration", *changes])
    return build_learner(build_experiment(composed))


worths = st.sampled_from([-np.inf, 0.0, 0.5, 1.0, 3.0, 4.5])


@given(arrays.arrays(np.float32, (3, 6), elements=worths), st.integers(2, 8), st.sampled_from([0.25, 1.0, 4.0]))
def test_what_is_tried_is_near_the_best_and_worth_something_else(found, most, margin):
    found[:, 2] = np.maximum(found[:, 2], 0)  # one action is legal
    actions, tried = near_best(found, most, margin)
    for row, chosen, some in zip(found, actions, tried, strict=True):
        near = sorted({worth for worth in row if worth >= row.max() - margin}, reverse=True)
        assert [row[action] for action in chosen[some]] == near[:most]
        assert some[0]


@pytest.mark.parametrize("kind", [[], ["game.features=lines", "network=lines"]])
def test_rollouts_of_a_decision_meet_the_same_deals(kind):
    """At the last choice each rollout is one card: what was paid is what the same card makes of either cell."""
    learner, collector = learner_of("agent.margin=1000", "agent.rollouts=1", *kind)
    trials, game = learner._play_rollouts(collector.collect(1000)), learner.game
    last = np.flatnonzero(trials.info_states["turn"] == LAST_CHOICE)
    assert last.size
    different = 0
    for d in last:
        here = np.full(400, d)
        deals = game.determinize(take(trials.info_states, here), trials.players[here], np.random.default_rng(d))
        paid = []
        for action in trials.actions[d][trials.tried[d]]:
            states = take(deals, np.arange(len(deals)))
            game.apply(states, np.full(len(deals), action, dtype=np.int16))
            game.apply(states, game.legal_actions(states).argmax(axis=1).astype(np.int16))
            paid.append(game.payoffs(states)[:, 0])
        possible = set(zip(*paid, strict=True))
        assert tuple(trials.payoffs[d][trials.tried[d]]) in possible
        different += len(possible) < len(set(paid[0])) * len(set(paid[1]))
    assert different > 0


def kuhn_learner():
    return build_learner(kuhn_experiment("policy_iteration"))


@pytest.mark.parametrize(
    "make", [partial(learner_of, "agent.margin=1000", "agent.candidates=4"), kuhn_learner], ids=["squares", "kuhn"]
)
def test_the_loss_is_that_of_differences(make):
    """At Kuhn poker actions end the game, and what they pay stands for the afterstate."""
    learner, collector = make()
    trials = learner._play_rollouts(collector.collect(300))
    part = np.arange(0, len(trials), 3)
    worths = learner.behaviour_agent().action_values(trials.info_states, trials.players) / learner.reward_scale
    expected = 0.0
    for d in part:
        some = trials.tried[d]
        thought, paid = worths[d, trials.actions[d][some]], trials.payoffs[d][some] / learner.reward_scale
        expected += (((thought - thought.mean()) - (paid - paid.mean())) ** 2).sum()
    assert learner._loss(trials, part).item() == pytest.approx(expected / len(part), rel=1e-3)


def test_another_may_play_the_rollouts():
    """After the first placements fresh weights make some 20 points, who keeps flushes twice as many."""
    paid = {}
    for by in ("null", "flush"):
        learner, collector = learner_of(f"agent.rollouts_by={by}", "agent.margin=1000")
        trials = learner._play_rollouts(collector.collect(2000))
        early = trials.info_states["turn"] < EARLY
        paid[by] = trials.payoffs[early][trials.tried[early]].mean()
    assert paid["flush"] > paid["null"] + 10


@pytest.mark.parametrize("kind", ["poker_squares/policy_iteration", "poker_squares/champion"])
def test_rollouts_by_codes_are_those_of_the_policy(tmp_path, kind):
    """The kernel and the loop play alike, whatever features the learner's own game has."""
    changes = ["experiment=poker_squares/sparse_lines", "trainer=smoke", "trainer.decisions=60_000", "network.width=16"]
    experiment = build_experiment(compose_experiment(changes))
    policy = train(experiment, run_dir=tmp_path / "run", model_dir=tmp_path / "model", report=lambda _: None).folder
    experiment = compose_experiment([f"experiment={kind}", f"agent.rollouts_by={policy}"])
    learner, collector = build_learner(build_experiment(experiment))
    states = learner.game.deal(50, np.random.default_rng(1))
    with_kernel = learner._play_out(learner._player, take(states, np.arange(50)))
    play_out(learner.game, states, [learner._player], np.random.default_rng(2))
    assert (with_kernel == learner.game.payoffs(states)).all()
    assert learner._player.sparse_line_values() is not None
    assert len(learner._play_rollouts(collector.collect(200)))


@pytest.mark.parametrize("by", ["nobody", "champions/big2"])
def test_who_plays_rollouts_is_refused_in_one_line(by):
    with pytest.raises(InvalidOption, match=r"agent\.rollouts_by=.* a policy or agent of poker_squares") as refusal:
        learner_of(f"agent.rollouts_by={by}")
    assert "\n" not in str(refusal.value)


def test_a_round_with_nothing_to_try_changes_no_weights(tmp_path):
    changes = ["network.width=16", "agent.margin=1e-30", "agent.ema_decay=0", "trainer.decisions=6000"]
    experiment = build_experiment(compose_experiment(["experiment=poker_squares/policy_iteration", *changes]))
    fresh = {name: weights.clone() for name, weights in build_learner(experiment)[0].network.state_dict().items()}
    done = train(experiment, run_dir=tmp_path / "run", model_dir=tmp_path / "model", report=lambda _: None)
    assert done.rows[-1]["train/candidate_share"] == 0
    kept = load_file(done.folder / "weights.safetensors")
    for name, weights in fresh.items():  # by which threads they were drawn shows in the last digit; a step is 2e-3
        torch.testing.assert_close(kept[name], weights, atol=1e-7, rtol=0)


@pytest.mark.parametrize("game", ["big2", "thirty_one", "five_o", "open_face"])
def test_every_game_can_be_play_out(game):
    composed = compose_experiment(
        [f"game={game}", "agent=policy_iteration", "agent.rollouts=1", "network=mlp", "network.widths=[8]"]
    )
    learner, collector = build_learner(build_experiment(composed))
    trials = learner._play_rollouts(collector.collect(40))
    assert (trials.tried.sum(axis=1) > 1).all()
    assert np.isfinite(trials.payoffs).all()


@pytest.mark.slow
def test_it_learns_to_play(tmp_path):
    """From fresh weights: at Poker Squares random play makes 14 points."""
    changes = [
        "network.width=16",
        "agent.margin=1000",
        "agent.learning_rate=0.02",
        "agent.decisions_per_iteration=1024",
        "agent.ema_decay=0",
        "trainer.decisions=30_000",
        "trainer.evaluations=1",
    ]
    experiment = build_experiment(compose_experiment(["experiment=poker_squares/policy_iteration", *changes]))
    done = train(experiment, run_dir=tmp_path / "run", model_dir=tmp_path / "model", report=lambda _: None)
    assert done.rows[-1]["score/mean"] > 70


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"candidates": 1}, r"agent\.candidates"),
        ({"margin": 0.0}, r"agent\.margin"),
        ({"rollouts": 0}, r"agent\.rollouts"),
        ({"optimizer": "sgd"}, r"agent\.optimizer"),
    ],
)
def test_what_does_not_fit_is_refused(options, named):
    with pytest.raises(InvalidOption, match=named):
        PolicyIterationOptions(**options)
