"""Policies kept on the way, the plateau at which a training stops, and what it says that it cost."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cardlab.agents.policy_descriptions import policy_digest
from cardlab.evaluation.snapshot_matches import find_snapshots
from cardlab.training import run as run_module
from cardlab.training.callbacks import Checkpoints
from cardlab.training.recorded_training import write_summary
from cardlab.training.run import Trained, train
from learners.kuhn_training import kuhn_experiment


def quiet(_: str) -> None:
    """Say nothing."""


def trained_with(tmp_path: Path, rounds: int = 10, **options: Any) -> Trained:
    experiment = kuhn_experiment("ppo", rounds=rounds)
    experiment = replace(experiment, trainer=replace(experiment.trainer, evaluation_deals=20, **options))
    return train(experiment, run_dir=tmp_path / "run", model_dir=tmp_path / "model", report=quiet)


class Interrupted(Exception):
    """Ends a run."""


class Interrupter:
    def __init__(self, after: int) -> None:
        self.after = after

    def log_metrics(self, metrics: Mapping[str, float], step: int) -> None:
        if metrics["train/iteration"] == self.after:
            raise Interrupted


def digests(folder: Path) -> dict[str, str]:
    return {path.name: policy_digest(path) for path in find_snapshots(folder)}


def test_policies_are_kept_evenly_and_the_last_is_the_policy(tmp_path: Path) -> None:
    trained = trained_with(tmp_path, snapshots=5, evaluations=10)
    kept = digests(trained.snapshots)
    decisions = [int(row["decisions"]) for row in trained.rows]
    assert [int(name) for name in kept] == decisions[1::2]
    assert kept[str(trained.decisions)] == trained.digest
    assert len(set(kept.values())) == 5


def test_none_is_kept_when_none_is_asked_for(tmp_path: Path) -> None:
    assert find_snapshots(trained_with(tmp_path, rounds=2, snapshots=0).snapshots) == []


def test_a_run_that_goes_on_keeps_the_same(tmp_path: Path) -> None:
    whole = trained_with(tmp_path / "whole", snapshots=5)
    experiment = kuhn_experiment("ppo", rounds=10)
    trainer = replace(experiment.trainer, evaluation_deals=20, snapshots=5, checkpoint_seconds=0.0)
    experiment = replace(experiment, trainer=trainer)
    cut = tmp_path / "cut"
    with pytest.raises(Interrupted):
        train(experiment, run_dir=cut / "run", model_dir=cut / "model", log=Interrupter(7), report=quiet)
    assert len(find_snapshots(cut / "run" / "snapshots")) == 3
    rest = train(experiment, run_dir=cut / "run", model_dir=cut / "model", report=quiet)
    assert digests(rest.snapshots) == digests(whole.snapshots)
    assert rest.spent.wall > 0


def test_a_training_done_anew_forgets_the_old_ones(tmp_path: Path) -> None:
    trained_with(tmp_path, rounds=4, snapshots=4)
    assert len(find_snapshots(trained_with(tmp_path, rounds=4, snapshots=1).snapshots)) == 1


def plateau(monkeypatch: pytest.MonkeyPatch, strengths: list[float]) -> None:
    """Let the points of the curve be these."""
    points = iter(strengths)

    def measured(*_: Any, **__: Any) -> dict[str, float]:
        mean = next(points)
        return {"score/mean": mean, "score/random": mean}

    monkeypatch.setattr(run_module, "score_agent", measured)


@pytest.mark.parametrize(
    ("patience", "strengths", "rounds"),
    [
        (3, [0.1, 0.5, 0.4, 0.5, 0.3, 0.9], 5),  # 0.5 again is no new best
        (3, [0.1, 0.5, 0.4, 0.6, 0.3, 0.2, 0.1, 0.9], 7),
        (1, [0.5, 0.4, 0.9], 2),
        (3, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0], 10),
        (0, [0.9] + [0.1] * 9, 10),
    ],
)
def test_training_stops_at_the_plateau(
    patience: int, strengths: list[float], rounds: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plateau(monkeypatch, strengths)
    trained = trained_with(tmp_path, evaluations=10, snapshots=2, patience=patience)
    assert trained.iterations == rounds
    assert [row["score/mean"] for row in trained.rows] == strengths[:rounds]
    assert digests(trained.snapshots)[str(trained.decisions)] == trained.digest


@pytest.mark.parametrize("seconds", [60.0, 0.0])
def test_the_policy_of_a_plateau_is_its_best_point(
    seconds: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plateau(monkeypatch, [0.1, 0.5, 0.4, 0.3])
    trained = trained_with(tmp_path, evaluations=10, snapshots=10, patience=2, checkpoint_seconds=seconds)
    kept = digests(trained.snapshots)
    best, later = (kept[str(int(trained.rows[point]["decisions"]))] for point in (1, 2))
    assert trained.digest == best != later


def test_a_kill_at_the_plateau_does_not_train_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(Exception):
        """In place of a kill: nothing is written behind it."""

    def save_and_die(checkpoints: Checkpoints, trainer: Any) -> None:
        save(checkpoints, trainer)
        if trainer.should_stop:
            raise Killed

    save, strengths = Checkpoints.save, [0.1, 0.5, 0.4, 0.3, 0.2]
    options = {"evaluations": 10, "patience": 2, "checkpoint_seconds": 0.0}
    plateau(monkeypatch, strengths)
    whole = trained_with(tmp_path / "whole", **options)
    monkeypatch.setattr(Checkpoints, "save", save_and_die)
    plateau(monkeypatch, strengths)
    with pytest.raises(Killed):
        trained_with(tmp_path / "killed", **options)
    monkeypatch.setattr(Checkpoints, "save", save)
    plateau(monkeypatch, strengths[4:])
    resumed = trained_with(tmp_path / "killed", **options)
    assert (resumed.digest, resumed.rows) == (whole.digest, whole.rows)


def test_the_summary_says_what_it_cost_and_where_it_comes_from(tmp_path: Path) -> None:
    trained = trained_with(tmp_path, rounds=2)
    write_summary(trained, {"git.commit": "deadbeef"}, tmp_path / "training.json")
    summary = json.loads((tmp_path / "training.json").read_text())
    assert (summary["decisions"], summary["iterations"]) == (trained.decisions, 2)
    assert summary["policy_digest"] == trained.digest
    assert summary["origin"] == {"git.commit": "deadbeef"}
    assert 0 < summary["cpu_seconds"] < 600
    assert summary["decisions_per_second"] > 0
