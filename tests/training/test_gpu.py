"""A training on a GPU; skipped where torch finds none. `python -m pytest tests/training/test_gpu.py`."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import distributed, nn

from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.composition import compose_experiment
from cardlab.learners.distributed import ProcessGroup
from cardlab.training.external_launch import backend
from training.joint_steps import OPTIONS, step
from training.test_processes import ROUNDS, Watcher, experiment_of, run

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no GPU")


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("agent", ["ppo", "ppo_all_cards", "dqn_bootstrap", "td"])
def test_a_gpu_is_one_switch(agent: str, processes: int, tmp_path: Path) -> None:
    watcher = Watcher()
    trained = run(experiment_of(agent, processes, device="gpu"), tmp_path, watcher)
    assert trained.iterations == ROUNDS
    assert watcher.rounds[ROUNDS]["usage/peak_gpu_memory_mb"] > 0


@pytest.mark.parametrize("agent", OPTIONS)
def test_a_step_is_that_of_a_cpu(agent: str) -> None:
    on_cpu, on_gpu = (step(agent, ProcessGroup(), device) for device in ("cpu", "gpu"))
    gradients = [name for name in on_cpu if "/gradient/" in name]
    assert len(gradients) >= 3
    for name in gradients:
        np.testing.assert_allclose(on_gpu[name], on_cpu[name], rtol=0, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("agent", ["ppo", "dqn_bootstrap", "td"])
def test_a_training_resumes_to_the_same_bytes(agent: str, tmp_path: Path) -> None:
    class Interrupted(Exception):
        pass

    def interrupt() -> None:
        raise Interrupted

    experiment = experiment_of(agent, processes=1, device="gpu")
    whole = run(experiment, tmp_path / "whole")
    with pytest.raises(Interrupted):
        run(experiment, tmp_path / "cut", Watcher(ROUNDS // 2, interrupt))
    assert run(experiment, tmp_path / "cut").digest == whole.digest


@pytest.mark.parametrize(
    "options",
    [
        ["game=big2", "agent=ppo", "network=big2/paper"],
        ["game=big2", "agent=ppo", "network=big2/champion"],
        ["game=open_face", "agent=td"],
        ["game=poker_squares", "agent=td"],
        ["game=five_o", "agent=td"],
        ["game=thirty_one", "agent=dqn"],
    ],
    ids=" ".join,
)
def test_each_game_trains_to_the_same_bytes(options: list[str], tmp_path: Path) -> None:
    experiment = build_experiment(compose_experiment([*options, "trainer=smoke", "trainer.device=gpu"]))
    first, second = (run(experiment, tmp_path / name) for name in ("first", "second"))
    assert first.digest == second.digest


def test_rollouts_overlap_updates(tmp_path: Path) -> None:
    experiment = experiment_of("ppo", processes=1, device="gpu", overlap=True)
    overlapped = run(experiment, tmp_path / "overlap")
    plain = run(replace(experiment, trainer=replace(experiment.trainer, overlap=False)), tmp_path / "plain")
    assert overlapped.iterations == plain.iterations == ROUNDS
    assert overlapped.digest != plain.digest


def test_nccl_exchanges_gradients(tmp_path: Path) -> None:
    assert backend("gpu", torch.cuda.device_count()) == "cpu:gloo,cuda:nccl"
    store = distributed.FileStore(str(tmp_path / "meeting"), 1)
    distributed.init_process_group("cpu:gloo,cuda:nccl", store=store, rank=0, world_size=1)
    try:
        weights = [nn.Parameter(torch.ones(3, device="cuda")), nn.Parameter(torch.ones(2, device="cuda"))]
        weights[0].grad = torch.tensor([2.0, 4.0, 6.0], device="cuda")
        assert ProcessGroup(0, 1).average_gradients(weights, loss=0.5, count=2) == 0.5
    finally:
        distributed.destroy_process_group()
    assert weights[0].grad.tolist() == [1.0, 2.0, 3.0]
    assert weights[1].grad is None
