"""The learning curve of a training."""

from pathlib import Path

from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.composition import compose_experiment
from cardlab.training.run import train

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
