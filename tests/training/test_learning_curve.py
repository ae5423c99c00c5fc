"""The learning curve of a training."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.composition import compose_experiment
from cardlab.training.run import train
from learners.kuhn_training import kuhn_experiment

ROUNDS = [
    "experiment=thirty_one/paper",
    "game.play=round",
    "agent.episode=game",
    "agent.decisions_per_iteration=1",
    "network.kinds={turn: [8], swap: [8]}",
    "trainer.decisions=40",
    "trainer.parallel_games=1",
    "trainer.evaluations=2",
    "trainer.evaluation_deals=2",
]


def test_an_iteration_may_lack_a_kind_of_decision(tmp_path: Path) -> None:
    experiment = build_experiment(compose_experiment(ROUNDS))
    trained = train(experiment, run_dir=tmp_path / "run", model_dir=tmp_path / "model", report=lambda _: None)
    assert [row["iteration"] for row in trained.rows] == [20, 40]
    for row in trained.rows:
        assert row["train/value_loss_turn"] > 0
        assert row["train/value_loss_swap"] > 0


class Interrupted(Exception):
    """Any reason to stop."""


class Log:
    """Keeps what is logged; stops the training after so many logs."""

    def __init__(self, stop: int = -1) -> None:
        self.rows: dict[int, Mapping[str, float]] = {}
        self.stop = stop

    def log_metrics(self, metrics: Mapping[str, float], step: int) -> None:
        self.rows[step] = {name: value for name, value in metrics.items() if "usage/" not in name}
        if len(self.rows) == self.stop:
            raise Interrupted


def logged(folder: Path, log: Log) -> dict[int, Mapping[str, float]]:
    experiment = kuhn_experiment("td", rounds=11)
    trainer = replace(experiment.trainer, evaluations=1, evaluation_deals=10, checkpoint_seconds=0.0)
    experiment = replace(experiment, trainer=trainer)
    train(experiment, run_dir=folder / "run", model_dir=folder / "model", log=log, report=lambda _: None)
    return log.rows


def test_many_iterations_are_logged_as_means(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    every = logged(tmp_path / "every", Log())
    assert list(every) == [512 * number for number in range(1, 12)]
    monkeypatch.setattr("cardlab.training.learning_curve.MAX_LOGGED", 4)
    means = logged(tmp_path / "means", Log())
    assert list(means) == [512 * number for number in (3, 6, 9, 11)]
    for number in (3, 6, 9):
        before = [every[512 * iteration] for iteration in (number - 2, number - 1, number)]
        for name in ("train/value_loss", "train/return", "train/win_rate"):
            mean = sum(row[name] for row in before) / 3
            assert means[512 * number][name] == pytest.approx(mean)
        assert means[512 * number]["train/games"] == before[-1]["train/games"]
    assert {name for name in every[512 * 11] if "score/" in name} <= set(means[512 * 11])


def test_an_interrupted_training_logs_the_same_means(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cardlab.training.learning_curve.MAX_LOGGED", 4)
    whole = logged(tmp_path / "whole", Log())
    first, rest = Log(2), Log()
    with pytest.raises(Interrupted):
        logged(tmp_path / "parts", first)
    logged(tmp_path / "parts", rest)
    assert first.rows | rest.rows == whole
    assert min(rest.rows) == 512 * 6, "the iterations since the last checkpoint are done again"
