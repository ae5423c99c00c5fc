"""The critic that sees all: what it sees, what it learns, and that play knows nothing of it."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from cardlab.core.messages import InvalidOption
from cardlab.learners.base import TrainingDiverged
from cardlab.learners.ppo.options import PPOOptions
from cardlab.networks.mlp_options import MLPOptions
from cardlab.training.experiment import Experiment
from cardlab.training.run import Trained, train
from cardlab.training.training_process import build_learner
from learners.kuhn_training import kuhn_experiment
from small_games.high_card import HighCard


def quiet(_: str) -> None:
    """Say nothing."""


def run(experiment: Experiment, folder: Path) -> Trained:
    return train(experiment, run_dir=folder / "run", model_dir=folder / "model", report=quiet)


def short(agent: str, rounds: int = 6, **trainer: object) -> Experiment:
    experiment = kuhn_experiment(agent, rounds=rounds)
    return replace(experiment, trainer=replace(experiment.trainer, evaluation_deals=20, snapshots=0, **trainer))


def test_it_explains_more_than_the_player_can(tmp_path: Path) -> None:
    """In Kuhn poker the card of the other decides every showdown."""
    last = run(short("ppo_all_cards", rounds=20), tmp_path).rows[-1]
    assert last["train/critic_explained_variance"] > last["train/explained_variance"] + 0.2
    assert last["train/critic_loss"] < last["train/value_loss"]


def test_a_policy_does_not_show_who_judged_it(tmp_path: Path) -> None:
    own, seeing = (run(short(agent, rounds=2), tmp_path / agent) for agent in ("ppo", "ppo_all_cards"))
    assert own.digest != seeing.digest
    shapes = [
        {name: value.shape for name, value in load_file(trained.folder / "weights.safetensors").items()}
        for trained in (own, seeing)
    ]
    assert shapes[0] == shapes[1]
    about = [json.loads((trained.folder / "policy.json").read_text()) for trained in (own, seeing)]
    assert {**about[0], "weights": None} == {**about[1], "weights": None}


def test_the_first_network_is_that_of_the_own_critic() -> None:
    one, other = (build_learner(short(agent))[0].network.state_dict() for agent in ("ppo", "ppo_all_cards"))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_it_judges_what_is_hidden() -> None:
    """Two deals that differ in the other's card alone are one to the network, and two to the critic."""
    learner, collector = build_learner(short("ppo_all_cards"))
    experience = collector.collect(600)
    learner._encode(experience)
    values = learner._evaluate_critic(learner.critic, experience)
    seen = np.unique([record.tobytes() for record in experience.info_states])
    pairs = {(x.tobytes(), player): set() for x, player in zip(experience.info_states, experience.players, strict=True)}
    for x, player, value in zip(experience.info_states, experience.players, values, strict=True):
        pairs[x.tobytes(), player].add(round(float(value), 5))
    assert len(pairs) >= len(seen)
    assert all(len(judged) == 2 for judged in pairs.values())


def test_bfloat16_trains_it_too(tmp_path: Path) -> None:
    experiment = short("ppo_all_cards", rounds=2, precision="bfloat16")
    first = build_learner(experiment)[0].critic.state_dict()
    trained = run(experiment, tmp_path)
    kept = torch.load(trained.checkpoint, weights_only=True)["state_dict"]
    assert all(not torch.equal(kept[f"critic.{name}"], weights) for name, weights in first.items())


def test_its_gradient_is_clipped_apart() -> None:
    """A critic far off throttles no policy: the network's step is that of a critic whose gradient is small."""
    norms = []
    for factor in (1.0, 1e6):
        learner, _ = build_learner(short("ppo_all_cards"))
        optimizer = torch.optim.SGD([w for part in learner.trained_modules for w in part.parameters()], lr=1.0)
        learner.optimizers = lambda *_, chosen=optimizer, **__: chosen
        before = [weights.detach().clone() for weights in learner.network.parameters()]
        loss = sum((weights**2).sum() for weights in learner.network.parameters())
        loss = loss + factor * sum((weights**2).sum() for weights in learner.critic.parameters())
        learner.gradient_step([(loss, 1.0)], 1, 0.5)
        after = [weights.detach() for weights in learner.network.parameters()]
        moved = sum(float((old - new).square().sum()) for old, new in zip(before, after, strict=True))
        norms.append(moved**0.5)
    assert norms == pytest.approx([0.5, 0.5], rel=1e-3)


def test_weights_of_it_that_are_no_numbers_end_the_run() -> None:
    learner, _ = build_learner(short("ppo_all_cards"))
    with torch.no_grad():
        next(learner.critic.parameters())[0] = torch.nan
    with pytest.raises(TrainingDiverged, match=r"lower agent\.learning_rate"):
        learner._check_weights()


def test_a_tiny_reward_scale_is_named_as_the_cause() -> None:
    experiment = short("ppo")
    learner, _ = build_learner(replace(experiment, agent=replace(experiment.agent, reward_scale=1e-30)))
    with torch.no_grad():
        next(learner.network.parameters())[0] = torch.nan
    with pytest.raises(TrainingDiverged, match=r"agent\.reward_scale=1e-30 is too small .*; leave it out"):
        learner._check_weights()


def test_a_game_without_hidden_features_refuses_it() -> None:
    game = HighCard()
    network = MLPOptions(widths=(4,)).build(game.spec)
    said = r"^agent\.critic=all_cards: must be own: high_card has no privileged features$"
    with pytest.raises(InvalidOption, match=said):
        PPOOptions(critic="all_cards").build(game, network, 1, 0)
