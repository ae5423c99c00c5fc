"""A training that begins with a policy's weights: a budget, an optimiser and past selves of its own."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.numpy import load_file

from cardlab.agents.network_agents import SoftmaxAgent
from cardlab.core.messages import InvalidOption
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.composition import compose_experiment
from cardlab.games.make_game import make_game
from cardlab.learners.td.options import TDOptions
from cardlab.networks.mlp_options import MLPOptions
from cardlab.training.experiment import Experiment
from cardlab.training.run import Trained, run_folder
from cardlab.training.start_point import read_start_point
from cardlab.training.training_process import build_learner
from training.continuing import ROUNDS, experiment_of, run, steps


def from_policy(learner: str, folder: Path, **options: Any) -> Experiment:
    experiment = experiment_of(learner, stop_after=None, start_from=folder)
    return replace(experiment, **options)


def same_weights(network: torch.nn.Module, folder: Path) -> bool:
    kept = load_file(folder / "weights.safetensors")
    return all((weights.numpy() == kept[name]).all() for name, weights in network.state_dict().items())


def test_it_begins_with_the_weights_alone(agent: str, first: Trained):
    experiment = from_policy(agent, first.folder)
    learner, _ = build_learner(experiment, start=read_start_point(experiment))
    assert same_weights(learner.network, first.folder)
    assert not same_weights(build_learner(experiment)[0].network, first.folder)
    assert (learner.iterations_done, learner.decisions_done) == (0, 0)
    assert all(weights.requires_grad for weights in learner.network.parameters())


def test_it_has_the_whole_budget_and_a_new_optimiser(agent: str, first: Trained, tmp_path: Path):
    second = run(from_policy(agent, first.folder), tmp_path / "second")
    assert (second.iterations, len(second.rows)) == (ROUNDS, ROUNDS)
    assert second.rows[0]["train/learning_rate"] == first.rows[0]["train/learning_rate"]
    assert steps(second) == pytest.approx(steps(first) * ROUNDS / first.iterations, rel=0.2)


@pytest.mark.parametrize("agent", ["ppo"], indirect=True)
def test_its_first_past_self_is_the_policy(first: Trained):
    experiment = from_policy("ppo", first.folder)
    opponents = build_learner(experiment, start=read_start_point(experiment))[1].opponents
    assert opponents.state_dict()["num_saved"] == 1
    past = opponents.agents[0]
    assert isinstance(past, SoftmaxAgent)
    assert same_weights(past.network, first.folder)


@pytest.mark.parametrize("agent", ["ppo"], indirect=True)
def test_the_running_mean_begins_there_too(first: Trained):
    experiment = experiment_of("ppo", stop_after=None, start_from=first.folder)
    experiment = replace(experiment, agent=replace(experiment.agent, ema_decay=0.9))
    learner, _ = build_learner(experiment, start=read_start_point(experiment))
    assert same_weights(learner.ema_network, first.folder)


@pytest.mark.parametrize("agent", ["ppo"], indirect=True)
def test_other_weights_are_another_run(first: Trained, tmp_path: Path):
    experiment = from_policy("ppo", first.folder)
    before = run_folder(tmp_path, experiment)
    weights = first.folder / "weights.safetensors"
    weights.write_bytes(weights.read_bytes() + b"more")
    assert run_folder(tmp_path, experiment) != before


@pytest.mark.parametrize(
    ("game", "changes"),
    [
        ("thirty_one", ["experiment=thirty_one/dqn", "opponents=scripted", "+opponents.agents={{{}: 1}}"]),
        ("thirty_one", ["experiment=thirty_one/dqn", "opponents=pool", "+opponents.agents={{{}: 1}}"]),
        ("poker_squares", ["experiment=poker_squares/champion", "agent.rollouts_by={}"]),
        ("poker_squares", ["experiment=poker_squares/td", "arena.references=[random,{}]"]),
        ("poker_squares", ["experiment=poker_squares/td", "arena.references=['endgame:policy:{}']"]),
        ("beliefs/big2", ["experiment=big2/ppo", "arena.references=['monte_carlo:rollout:planner:belief:{}']"]),
    ],
)
def test_another_policy_in_a_folder_that_is_named_is_another_run(tmp_path: Path, game: str, changes: list[str]):
    named = shutil.copytree(Path("champions", game), tmp_path / "named")
    experiment = build_experiment(compose_experiment([change.format(named) for change in changes]))
    before = run_folder(tmp_path, experiment)
    assert run_folder(tmp_path, experiment) == before
    weights = named / "weights.safetensors"
    weights.write_bytes(weights.read_bytes() + b"more")
    assert run_folder(tmp_path, experiment) != before


def test_other_code_is_another_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Which edits are other code: tests/pipelines/test_code_digests.py."""
    experiment = build_experiment(compose_experiment(["experiment=thirty_one/ppo"]))
    before = run_folder(tmp_path, experiment)
    asked: list[Any] = []

    def other(roots: Any, *configs: Any) -> str:
        asked.extend([roots, *configs])
        return "other"

    monkeypatch.setattr("cardlab.training.experiment.code_digest", other)
    assert run_folder(tmp_path, experiment) != before
    assert asked == [("cardlab.experiments.config.build_experiment", "cardlab.training.run"), experiment.config]


@pytest.mark.parametrize("agent", ["ppo"], indirect=True)
def test_what_does_not_fit_is_refused_in_one_line(first: Trained):
    def refused(**options: Any) -> str:
        with pytest.raises(InvalidOption) as caught:
            read_start_point(from_policy("ppo", first.folder, **options))
        assert str(caught.value).startswith(f"trainer.start_from={first.folder}: must be a policy ")
        return str(caught.value)

    experiment = experiment_of("ppo")
    assert "network.widths=[7]: this one has [" in refused(network=MLPOptions(widths=(7,)))
    game = make_game("five_o")
    assert f"game=five_o: this one has {experiment.game.spec.name}" in refused(game=game, network=MLPOptions())
    assert "policy=cardlab.agents.network_agents.AfterstateAgent: this one has" in refused(agent=TDOptions())
    scaled = replace(experiment.agent, reward_scale=3.0)
    assert "reward_scale=3.0: this one has " in refused(agent=scaled)
    (first.folder / "weights.safetensors").write_bytes(b"torn")
    assert "weights.safetensors: are not the weights of this network" in refused()
    (first.folder / "policy.json").unlink()
    assert "is not a policy's folder: no policy.json in it" in refused()
