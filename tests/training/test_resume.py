"""A training that is interrupted and resumed ends with the same bytes as an uninterrupted one."""

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from cardlab.core.running_code import CodeChanged
from cardlab.learners.dqn.options import DQNOptions
from cardlab.learners.rollouts.opponents.pool import PoolOptions
from cardlab.training.checkpoint_files import CheckpointError, computing_versions
from cardlab.training.experiment import Experiment
from cardlab.training.run import RunInUse, Trained, train
from learners.kuhn_training import kuhn_experiment

ITERATIONS = 12
DECISIONS = 128  # of an iteration


class Interrupted(Exception):
    """Any reason to stop."""


class Interrupter:
    """A log that interrupts the training after so many iterations."""

    def __init__(self, after: int) -> None:
        self.after = after
        self.steps: list[int] = []

    def log_metrics(self, metrics: Mapping[str, float], step: int) -> None:
        self.steps.append(int(metrics["train/iteration"]))
        if self.steps[-1] == self.after:
            raise Interrupted


def quiet(_: str) -> None:
    """Print nothing."""


def experiment_of(agent: str) -> Experiment:
    """Twelve short iterations, a checkpoint after each; PPO against its own checkpoints."""
    learner, _, network = agent.partition("-")
    experiment = kuhn_experiment(learner, rounds=ITERATIONS, network=network or "mlp")
    options = replace(experiment.agent, decisions_per_iteration=DECISIONS)
    if isinstance(options, DQNOptions):
        options = replace(options, updates_per_iteration=4)
    budget = ITERATIONS * DECISIONS
    trainer = replace(experiment.trainer, decisions=budget, checkpoint_seconds=0.0, evaluations=4, evaluation_deals=20)
    pool = PoolOptions(size=2, every=3, current_share=0.5, agents={"random": 1.0}, priority=2.0)
    opponents = pool if agent.startswith("ppo") else experiment.opponents
    return replace(experiment, agent=options, trainer=trainer, opponents=opponents)


def run(experiment: Experiment, folder: Path, log: Interrupter | None = None) -> Trained:
    return train(experiment, run_dir=folder / "run", model_dir=folder / "model", log=log, report=quiet)


Whole = Callable[[str], Trained]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """The undisturbed training of an agent, done once."""
    return cache(lambda agent: run(experiment_of(agent), tmp_path_factory.mktemp(agent)))


@pytest.mark.parametrize(
    "agent",
    [
        "ppo",
        "ppo-proto_action",
        "ppo_all_cards",
        "dqn",
        "dqn_bootstrap",
        "td",
        "td_mean",
        "td_averaged",
        "policy_iteration",
    ],
)
def test_an_interrupted_training_ends_the_same(agent: str, whole: Whole, tmp_path: Path) -> None:
    experiment = experiment_of(agent)
    for after in (1, 7):  # twice
        with pytest.raises(Interrupted):
            run(experiment, tmp_path / "resumed", Interrupter(after))
    rest = Interrupter(-1)
    resumed = run(experiment, tmp_path / "resumed", rest)
    assert rest.steps[0] <= 7  # the iteration that was interrupted before its checkpoint is done again
    assert rest.steps[-1] == ITERATIONS
    assert resumed.digest == whole(agent).digest
    assert resumed.rows == whole(agent).rows


def test_seeds_are_runs_and_zero_is_a_seed(tmp_path: Path) -> None:
    digests = [
        run(kuhn_experiment("ppo", seed=seed, rounds=2), tmp_path / str(number)).digest
        for number, seed in enumerate([0, 0, 1])
    ]
    assert digests[0] == digests[1] != digests[2]


def test_a_finished_training_is_repeated_but_one_killed_at_its_very_end_is_not(tmp_path: Path) -> None:
    experiment = experiment_of("td")
    first = run(experiment, tmp_path)
    assert [file.name for file in (tmp_path / "run").glob("*.ckpt")] == ["finished.ckpt"]
    again = Interrupter(-1)
    assert run(experiment, tmp_path, again).digest == first.digest
    assert again.steps[0] == 1
    (tmp_path / "run" / "finished.ckpt").rename(tmp_path / "run" / "checkpoint.ckpt")
    rest = Interrupter(-1)
    resumed = run(experiment, tmp_path, rest)
    assert not rest.steps
    assert resumed.digest == first.digest
    assert resumed.rows == first.rows


def test_other_versions_resume_when_they_are_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment, versions = experiment_of("td"), computing_versions()
    with monkeypatch.context() as earlier:
        earlier.setattr("cardlab.training.callbacks.computing_versions", lambda: versions | {"torch": "1.0"})
        with pytest.raises(Interrupted):
            run(experiment, tmp_path, Interrupter(3))
    line = r"was written with torch 1\.0, here is torch [\d.]+; set CARDLAB_OTHER_VERSIONS=1 .* delete .*run$"
    with pytest.raises(CheckpointError, match=line):
        run(experiment, tmp_path)
    monkeypatch.setenv("CARDLAB_OTHER_VERSIONS", "1")
    rest = Interrupter(-1)
    run(experiment, tmp_path, rest)
    assert rest.steps[0] == 3  # whose checkpoint was not written


def test_a_process_with_other_code_than_it_was_given_stops(tmp_path: Path) -> None:
    experiment = replace(experiment_of("td"), code="0123456789abcdef")
    with pytest.raises(CodeChanged, match=r"0123456789abcdef, now [0-9a-f]{16}\); run the command again"):
        run(experiment, tmp_path)


def test_a_flipped_bit_costs_one_checkpoint_and_changes_nothing(whole: Whole, tmp_path: Path) -> None:
    experiment, chance = experiment_of("td"), random.Random(1)
    with pytest.raises(Interrupted):
        run(experiment, tmp_path / "resumed", Interrupter(11))
    folder = tmp_path / "resumed" / "run"
    checkpoint, previous = folder / "checkpoint.ckpt", folder / "previous.ckpt"
    saved = {file: file.read_bytes() for file in (checkpoint, previous)}
    weights = np.flatnonzero(np.frombuffer(saved[checkpoint], np.uint8))
    for place in chance.sample(weights.tolist(), 12):
        damaged = bytearray(saved[checkpoint])
        damaged[place] ^= 1 << chance.randrange(8)
        checkpoint.write_bytes(damaged)
        previous.write_bytes(saved[previous])
        messages: list[str] = []
        resumed = train(experiment, run_dir=folder, model_dir=tmp_path / "model", report=messages.append)
        assert resumed.digest == whole("td").digest
        assert not previous.exists()
        if "is not a checkpoint of this run" in messages[0]:
            assert messages[0].startswith(f"{checkpoint}: ")
            assert messages[0].endswith("; the checkpoint before it is used")
            assert messages[1].startswith("resuming after iteration 9 ")


def test_a_kill_between_two_moves_of_files_costs_one_checkpoint(whole: Whole, tmp_path: Path) -> None:
    experiment = experiment_of("td")
    with pytest.raises(Interrupted):
        run(experiment, tmp_path / "resumed", Interrupter(7))
    (tmp_path / "resumed" / "run" / "checkpoint.ckpt").unlink()
    assert run(experiment, tmp_path / "resumed").digest == whole("td").digest


def test_the_first_checkpoints_come_before_checkpoint_seconds(
    whole: Whole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cardlab.training.callbacks._FIRST_SECONDS", 0.0)
    experiment = experiment_of("td")
    seldom = replace(experiment, trainer=replace(experiment.trainer, checkpoint_seconds=1e6))
    with pytest.raises(Interrupted):
        run(seldom, tmp_path, Interrupter(7))
    rest = Interrupter(-1)
    assert run(seldom, tmp_path, rest).digest == whole("td").digest
    assert rest.steps[0] == 7


def test_a_repetition_that_is_killed_at_once_does_not_take_the_finished_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cardlab.training.callbacks._FIRST_SECONDS", 1e6)
    experiment = experiment_of("td")
    first = run(experiment, tmp_path)
    without_checkpoints = replace(experiment, trainer=replace(experiment.trainer, checkpoint_seconds=1e6))
    with pytest.raises(Interrupted):
        run(without_checkpoints, tmp_path, Interrupter(3))
    rest = Interrupter(-1)
    resumed = train(
        experiment, run_dir=tmp_path / "run", model_dir=tmp_path / "model", log=rest, report=quiet, unfinished=True
    )
    assert rest.steps == [*range(1, ITERATIONS + 1)]
    assert resumed.digest == first.digest


def test_two_processes_cannot_train_in_one_folder(tmp_path: Path) -> None:
    class Intruder(Interrupter):
        def log_metrics(self, metrics: Mapping[str, float], step: int) -> None:
            with pytest.raises(RunInUse, match="another process"):
                run(experiment_of("td"), tmp_path)
            super().log_metrics(metrics, step)

    intruder = Intruder(-1)
    run(kuhn_experiment("td", rounds=1), tmp_path, intruder)
    assert intruder.steps == [1]
