"""Trials that are pruned by deals, by learning curves, or for values that no learner takes; and what they cost."""

from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from optuna import TrialPruned
from optuna.trial import TrialState

from cardlab.cli import main
from cardlab.experiments.sweep import trials
from cardlab.experiments.sweep.scoring import NUM_BLOCKS
from cardlab.experiments.sweep.study import STARTUP_BLOCKS
from cardlab.training.run import train
from experiments.sweep.tiny import TINY, runs_of, study_of


@pytest.mark.usefixtures("no_plots")
def test_pruning_by_evaluation_deals(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each trial is worse than the first by one point on every block of deals."""
    calls: list[int] = []

    def play(game: Any, agent: Any, arena: Any, metric: str, on_block: Any = lambda _: None) -> Any:
        calls.append(arena.chunk)
        figures = np.arange(40.0) - 50.0 * (len(calls) > 1)
        for block in figures.reshape(-1, arena.chunk):
            on_block(float(block.mean()))
        return {"random": figures}

    monkeypatch.setattr(trials, "play_references", play)
    assert main(["sweep", *TINY, "sweep.deals=40", "sweep.trials=3", "sweep.pruner=wilcoxon"]) == 0
    found = study_of(root).get_trials()
    assert [trial.state for trial in found] == [TrialState.COMPLETE, TrialState.PRUNED, TrialState.PRUNED]
    assert [len(trial.intermediate_values) for trial in found] == [NUM_BLOCKS, STARTUP_BLOCKS, STARTUP_BLOCKS]
    assert found[0].value == pytest.approx(np.mean(list(found[0].intermediate_values.values())))
    assert [run.info.status for run in runs_of(root, "trial")] == ["FINISHED", "KILLED", "KILLED"]
    assert ["sweep.pruned" in run.data.tags for run in runs_of(root, "trial")] == [False, True, True]


@pytest.mark.usefixtures("no_plots")
@pytest.mark.parametrize("pruner", ["median", pytest.param("hyperband", marks=pytest.mark.slow)])
def test_pruning_by_learning_curves(pruner: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials get worse from one to the next: those that stand out as hopeless are pruned before their end."""
    begun: list[Any] = []

    def counted(experiment: Any, **rest: Any) -> Any:
        begun.append(experiment)
        return train(experiment, **rest)

    monkeypatch.setattr(trials, "train", counted)
    monkeypatch.setattr(trials, "curve_score", lambda *_: -float(len(begun)))
    budget = ["trainer.decisions=1024", "trainer.evaluations=8", "trainer.evaluation_deals=2"]
    assert main(["sweep", *TINY, *budget, "sweep.sampler=random", "sweep.trials=8", f"sweep.pruner={pruner}"]) == 0
    found = study_of(root).get_trials()
    assert found[0].state == TrialState.COMPLETE
    assert list(found[0].intermediate_values) == list(range(1, 9))
    pruned = [trial for trial in found if trial.state == TrialState.PRUNED]
    assert pruned
    assert all(len(trial.intermediate_values) < 8 for trial in pruned)
    assert not (root / "runs/sweeps").exists() or list((root / "runs/sweeps").iterdir()) == []


@pytest.mark.parametrize(("is_last", "points"), [(True, [3]), (False, [3, 4])])
def test_a_finished_training_is_pruned_only_if_another_one_follows(is_last: bool, points: list[int]) -> None:
    """The pruner wants to prune at each point from the third on; the experiment has four."""
    reported: list[int] = []
    trial = Mock(report=lambda _, point: reported.append(point), should_prune=lambda: reported[-1] >= 3)
    experiment = Mock(trainer=Mock(evaluations=4), last_iteration=8)
    log = trials.PruningLog(Mock(), trial, experiment, "points", is_last)
    pruned: list[int] = []
    for point in range(1, 5):
        try:
            log.log_metrics({trials.MEAN_SCORE: 0.0, trials.ITERATION: 2.0 * point}, 0)
        except TrialPruned:
            pruned.append(point)
    assert reported == [1, 2, 3, 4]
    assert pruned == points


def test_cpu_time_is_a_second_objective(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["sweep", *TINY, "sweep.trials=4", "sweep.cost=cpu_seconds", "sweep.space.network.widths=[[8],[64]]"]
    assert main(command) == 0
    study = study_of(root)
    assert all(trial.values[1] > 0 for trial in study.get_trials())
    front = [line for line in capsys.readouterr().out.splitlines() if line.startswith("front:")]
    assert len(front) == len(study.best_trials)
    (parent,) = runs_of(root, "sweep")
    folder = root / "mlartifacts/thirty_one" / parent.info.run_id / "artifacts/study"
    assert {"pareto_front.svg", "slices.svg", "parallel_coordinates.svg", "trials.csv"} <= {
        file.name for file in folder.iterdir()
    }


@pytest.mark.usefixtures("no_plots", "no_training")
def test_values_that_do_not_go_together_are_pruned(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each alone is fine, agent.double with agent.successors is not."""
    base = [*(option for option in TINY if option != "sweep=dqn"), "sweep=standard", "sweep.sampler=grid"]
    base += ["agent.n_step=1", "agent.double=false", "sweep.space.agent.double=[true,false]"]
    assert main(["sweep", *base, "sweep.space.agent.successors=[0,1]"]) == 0
    states = [trial.state for trial in study_of(root).get_trials()]
    assert (states.count(TrialState.COMPLETE), states.count(TrialState.PRUNED)) == (3, 1)
    assert "pruned: agent.double=true: must be false with agent.successors" in capsys.readouterr().err
