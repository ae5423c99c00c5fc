"""`trainer.overlap`: the next rollout is played during an update, by the network before it."""

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from cardlab.training.run import train
from cardlab.training.training_process import OverlappedRollouts, RolloutLoader, build_learner
from training.test_processes import ROUNDS, Watcher, experiment_of, quiet, run
from training.test_resume import Interrupted, Interrupter


def test_each_rollout_but_the_first_is_by_the_network_of_one_update_before() -> None:
    """The plain loader plays by the current one."""
    for loader, expected in ((RolloutLoader, [0, 1, 2, 3]), (OverlappedRollouts, [0, 0, 1, 2])):
        torch.manual_seed(0)
        experiment = experiment_of("ppo", processes=1)
        learner, collector = build_learner(experiment)
        rollouts, networks, players = loader(learner, collector, experiment, torch.float32), [], []
        for rollout in rollouts:
            networks.append(copy.deepcopy(learner.network).eval())
            shown = [log_probabilities(learner, network, rollout) for network in networks]
            matches = [np.isclose(one, rollout.log_probabilities, atol=1e-6).mean() for one in shown]
            players.append(int(np.argmax(matches)))  # the rest of the decisions are of games that began before
            with torch.no_grad():
                for weight in learner.network.parameters():
                    weight.add_(0.1 * torch.randn_like(weight))  # an update
            learner.iterations_done += 1
            if isinstance(rollouts, OverlappedRollouts):
                rollouts.wait()
        assert players == expected


def log_probabilities(learner, network, rollout) -> np.ndarray:
    agent = replace(learner.behaviour_agent(), network=network)
    return agent.evaluate(rollout.info_states, rollout.players)[0][np.arange(len(rollout)), rollout.actions]


@pytest.mark.parametrize("agent", ["ppo", "ppo_all_cards", "dqn_bootstrap", "td"])
def test_a_resumed_training_ends_with_the_same_bytes(agent: str, tmp_path: Path) -> None:
    experiment = experiment_of(agent, processes=1, overlap=True)
    whole = run(experiment, tmp_path / "whole")
    for after in range(1, ROUNDS):
        folder = tmp_path / str(after)
        with pytest.raises(Interrupted):
            train(experiment, run_dir=folder / "run", model_dir=folder / "model", log=Interrupter(after), report=quiet)
        resumed = run(experiment, folder)
        assert resumed.digest == whole.digest
    plain = run(replace(experiment, trainer=replace(experiment.trainer, overlap=False)), tmp_path / "plain")
    assert agent == "dqn_bootstrap" or plain.digest != whole.digest


@pytest.mark.slow
def test_two_processes_overlap_and_resume(tmp_path: Path) -> None:
    experiment = experiment_of("ppo", processes=2, overlap=True)
    whole = run(experiment, tmp_path / "whole")
    folder, watcher = tmp_path / "resumed", Watcher(2, lambda: (_ for _ in ()).throw(Interrupted))
    with pytest.raises(Interrupted):
        run(experiment, folder, watcher)
    assert run(experiment, folder).digest == whole.digest
