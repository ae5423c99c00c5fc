"""One learner in several real processes: the gradient of one, one checkpoint, and one clear end whatever fails."""

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cardlab.core.messages import InvalidOption
from cardlab.learners.base import Learner, TrainingDiverged
from cardlab.learners.distributed import ProcessGroup
from cardlab.learners.rollouts.opponents.pool import PoolOptions
from cardlab.training.checkpoint_files import CheckpointError
from cardlab.training.experiment import Experiment
from cardlab.training.launch_processes import ProcessLost
from cardlab.training.options import TrainerOptions
from cardlab.training.run import Trained, train
from failures.children import Child
from learners.kuhn_training import kuhn_experiment
from training.joint_steps import OPTIONS, other_process, step, steps

pytestmark = pytest.mark.usefixtures("quick_children")

ROUNDS = 4
FEW_STEPS: dict[str, dict[str, Any]] = {
    "ppo": {"epochs": 2, "minibatch_size": 512},
    "ppo_all_cards": {"epochs": 2, "minibatch_size": 512},
    "dqn": {"updates_per_iteration": 4},
    "dqn_bootstrap": {"updates_per_iteration": 4},
    "td": {},
}


class Watcher:
    """A log that keeps the steps, and does something after one of them."""

    def __init__(self, after: int = -1, act: Callable[[], object] = lambda: None) -> None:
        self.after, self.act = after, act
        self.rounds: dict[int, Mapping[str, float]] = {}

    def log_metrics(self, metrics: Mapping[str, float], step: int) -> None:
        self.rounds[int(metrics["train/iteration"])] = metrics
        if metrics["train/iteration"] == self.after:
            self.act()


def quiet(_: str) -> None:
    """Say nothing."""


def experiment_of(agent: str, processes: int = 2, **trainer: Any) -> Experiment:
    """A few short rounds of few steps, a checkpoint after each; PPO against its own past."""
    experiment = kuhn_experiment(agent, rounds=ROUNDS)
    experiment = replace(experiment, agent=replace(experiment.agent, **FEW_STEPS[agent]))
    short = {"checkpoint_seconds": 0.0, "evaluations": 2, "evaluation_deals": 20, "snapshots": 0, **trainer}
    pool = PoolOptions(size=2, every=2, current_share=0.5, priority=2.0)
    opponents = pool if agent.startswith("ppo") else experiment.opponents
    return replace(experiment, trainer=replace(experiment.trainer, processes=processes, **short), opponents=opponents)


def run(experiment: Experiment, folder: Path, log: Watcher | None = None) -> Trained:
    return train(experiment, run_dir=folder / "run", model_dir=folder / "model", log=log, report=quiet)


def run_dqn(arguments: Sequence[str]) -> int:
    """In a process of its own, in the folder of its argument."""
    run(experiment_of("dqn"), Path(arguments[0]))
    return 0


def children() -> list[int]:
    """The processes of trainings that this process has started and that are alive."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        if b"cardlab.training.worker" in words and parent == os.getpid():
            found.append(int(entry.name))
    return found


def test_the_gradient_is_that_of_one_process_on_the_joined_batch(tmp_path: Path) -> None:
    other = Child(tmp_path, [str(tmp_path)], log=tmp_path / "log", body=other_process)
    together = steps(ProcessGroup(0, 2), tmp_path / "meeting")
    assert other.wait() == 0, other.log.read_text()
    second = np.load(tmp_path / "second.npz")
    alone = {name: array for agent in OPTIONS for name, array in step(agent, ProcessGroup()).items()}
    assert set(together) == set(alone) == set(second)
    assert sum("/gradient/" in name for name in alone) >= 3 * len(OPTIONS)
    for name, array in alone.items():
        assert np.array_equal(together[name], second[name]), name
        if "/gradient/" in name:
            assert np.abs(array).max() > 1e-4, name
            np.testing.assert_allclose(together[name], array, rtol=0, atol=1e-5, err_msg=name)


@pytest.mark.slow
def test_a_killed_process_is_told_and_the_run_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    experiment = experiment_of("dqn_bootstrap")
    watcher = Watcher()
    whole = run(experiment, tmp_path / "whole", watcher)
    assert [row["iteration"] for row in whole.rows] == [ROUNDS / 2, ROUNDS]
    assert whole.decisions == sum(row["decisions"] for row in whole.rows[-1:]) >= ROUNDS * 512
    assert watcher.rounds[ROUNDS]["train/buffer_size"] == whole.decisions  # of both processes: they fit
    assert watcher.rounds[ROUNDS]["usage/peak_memory_mb"] > 200
    killer = Watcher(ROUNDS // 2, lambda: os.kill(children()[0], signal.SIGKILL))
    with pytest.raises(ProcessLost, match=r"^process 2 of 2 \(trainer\.processes\) was killed by signal 9; .*resume"):
        run(experiment, tmp_path / "cut", killer)
    assert not children()
    assert not torch.distributed.is_initialized()
    assert (tmp_path / "cut" / "run" / "checkpoint.ckpt").exists()
    with pytest.raises(CheckpointError, match=r"trainer\.processes=2 instead of 1"):
        run(experiment_of("dqn_bootstrap", processes=1), tmp_path / "cut")
    rest = Watcher()
    resumed = run(experiment, tmp_path / "cut", rest)
    assert min(rest.rounds) > 1
    assert resumed.digest == whole.digest
    assert resumed.rows == whole.rows


@pytest.mark.slow
@pytest.mark.parametrize(("agent", "processes"), [("ppo", 3), ("ppo_all_cards", 2)])
def test_a_run_that_was_stopped_goes_on_to_the_same_bytes(agent: str, processes: int, tmp_path: Path) -> None:
    def stop() -> None:
        raise KeyError("stopped")

    experiment = experiment_of(agent, processes)
    whole = run(experiment, tmp_path / "whole")
    with pytest.raises(KeyError, match="stopped"):
        run(experiment, tmp_path / "cut", Watcher(3, stop))
    assert not children()
    assert run(experiment, tmp_path / "cut").digest == whole.digest


@pytest.mark.slow
def test_kill_nine_of_all_changes_nothing(tmp_path: Path) -> None:
    experiment = experiment_of("dqn")
    checkpoint = tmp_path / "cut" / "run" / "checkpoint.ckpt"
    first = Child(tmp_path, [str(tmp_path / "cut")], log=tmp_path / "log", body=run_dqn)
    while not checkpoint.exists() and first.process.is_alive():
        time.sleep(0.01)
    first.kill()  # the other ends by itself: its pipe does
    assert run(experiment, tmp_path / "cut").digest == run(experiment, tmp_path / "whole").digest


@pytest.mark.slow
def test_all_diverge_together_and_stop_at_the_same_plateau(tmp_path: Path) -> None:
    experiment = experiment_of("ppo")
    wild = replace(experiment, agent=replace(experiment.agent, reward_scale=1e-30))
    with pytest.raises(TrainingDiverged, match=r"agent\.reward_scale=1e-30 is too small .*; leave it out"):
        run(wild, tmp_path / "wild")
    assert not list((tmp_path / "wild" / "run").glob("*.ckpt"))
    assert not list((tmp_path / "wild" / "run").glob("process_*.log"))
    patient = experiment_of("td", evaluations=ROUNDS, patience=1)
    assert run(patient, tmp_path / "patient").iterations < ROUNDS


@pytest.mark.parametrize("where", ["loss", "weights"])
def test_divergence_leaves_the_last_good_checkpoint(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = experiment_of("td", processes=1)
    whole = run(experiment, tmp_path / "whole")
    update = Learner.training_step

    def poisoned(learner: Any, batch: Any, number: int) -> Any:
        if learner.iterations_done == 2 and where == "loss":
            batch.rewards[:] = np.nan
        elif learner.iterations_done == 2:
            with torch.no_grad():
                next(learner.network.parameters())[0] = torch.inf
            learner.update = lambda _: {}
        return update(learner, batch, number)

    with monkeypatch.context() as patch:
        patch.setattr(Learner, "training_step", poisoned)
        with pytest.raises(TrainingDiverged, match=r"lower agent\.learning_rate"):
            run(experiment, tmp_path / "cut")
    checkpoint = torch.load(tmp_path / "cut" / "run" / "checkpoint.ckpt", weights_only=True)
    assert checkpoint["learner"]["iterations_done"] == 2
    assert run(experiment, tmp_path / "cut").digest == whole.digest


@given(whole=st.integers(0, 10_000), size=st.integers(1, 9))
def test_shares_are_a_whole(whole: int, size: int) -> None:
    shares = [ProcessGroup(rank, size).share_of(whole) for rank in range(size)]
    assert sum(shares) == whole
    assert max(shares) - min(shares) <= 1


def test_what_cannot_be_shared_is_refused() -> None:
    with pytest.raises(
        InvalidOption,
        match=r"^trainer\.processes=3: must be a whole number in \[1, 2\], the number of trainer\.parallel_games$",
    ):
        TrainerOptions(parallel_games=2, processes=3)
    with pytest.raises(
        InvalidOption, match=r"^trainer\.processes=200: must be at most 64 with agent\.minibatch_size=12"
    ):
        experiment_of("td", processes=200, parallel_games=1000)


def test_what_cannot_be_sent_is_refused(tmp_path: Path) -> None:
    experiment = replace(experiment_of("td"), config={"secret": lambda: None})
    with pytest.raises(InvalidOption, match=r"^trainer\.processes=2: must be 1: this experiment cannot be sent"):
        run(experiment, tmp_path)
    local = type("Local", (dict,), {"__module__": "__main__"})
    sys.modules["__main__"].Local = local  # type: ignore[attr-defined]
    with pytest.raises(InvalidOption, match="move them to a module"):
        run(replace(experiment, config=local()), tmp_path)


@pytest.mark.skipif(torch.accelerator.is_available(), reason="this machine has a GPU")
def test_a_missing_gpu_is_told_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidOption, match=r"^trainer\.device=gpu: must be cpu: torch finds no GPU"):
        run(experiment_of("td", processes=1, device="gpu"), tmp_path)
    assert not list(tmp_path.iterdir())
