"""A run that stops short of its budget, and what it learns from and is measured against."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from cardlab.agents.exploration import RandomAgent
from cardlab.agents.policy_files import load_policy
from cardlab.core.messages import InvalidOption
from cardlab.evaluation.match import play_match
from cardlab.evaluation.options import ArenaOptions
from cardlab.games.make_game import make_game
from cardlab.learners.rollouts.opponents.fixed import ScriptedOptions
from cardlab.training.curve_evaluation import score_agent
from cardlab.training.options import TrainerOptions
from cardlab.training.run import train
from cardlab.training.training_process import build_learner
from learners.kuhn_training import kuhn_experiment


def quiet(_: str) -> None:
    """Say nothing."""


def test_annealing_goes_by_the_whole_budget(tmp_path: Path):
    experiment = kuhn_experiment("ppo", rounds=10)
    short = replace(experiment, trainer=replace(experiment.trainer, stop_after=4 * 1024, evaluations=4))
    trained = train(short, run_dir=tmp_path / "run", model_dir=tmp_path / "model", report=quiet)
    assert trained.iterations == 4
    assert [row["iteration"] for row in trained.rows] == [1, 2, 3, 4]
    rates = [row["train/learning_rate"] for row in trained.rows]
    assert rates == pytest.approx([5e-3 * (1 - n / 10) for n in range(4)])


def test_it_cannot_stop_after_its_budget():
    with pytest.raises(InvalidOption, match=r"trainer\.stop_after=20: must be a whole number in \[1, 10\]"):
        TrainerOptions(decisions=10, stop_after=20)


@pytest.mark.parametrize("ask_forced", [False, True])
def test_forced_decisions_are_samples_when_asked_for(ask_forced: bool):
    experiment = kuhn_experiment("ppo")
    game = make_game("big2")
    experiment = replace(experiment, game=game, trainer=replace(experiment.trainer, ask_forced=ask_forced))
    _, collector = build_learner(experiment)
    experience = collector.collect(4000)
    forced = game.legal_actions(experience.info_states).sum(axis=1) == 1
    assert forced.any() == ask_forced


@pytest.mark.slow
@pytest.mark.parametrize("faster", [{"precision": "bfloat16"}, {"compile": True}])
def test_faster_training_goes_another_way_and_saves_the_same_kind_of_policy(faster, tmp_path: Path):
    """Weights are float32 in any case, and as good at Kuhn poker; bfloat16 rounds otherwise."""
    plain = kuhn_experiment("ppo", rounds=30)
    fast = replace(plain, trainer=replace(plain.trainer, **faster))
    runs = {
        name: train(run, run_dir=tmp_path / name / "run", model_dir=tmp_path / name / "model", report=quiet)
        for name, run in {"plain": plain, "fast": fast}.items()
    }
    assert "compile" in faster or runs["plain"].digest != runs["fast"].digest
    weights = [load_file(run.folder / "weights.safetensors") for run in runs.values()]
    assert all(array.dtype == np.float32 for part in weights for array in part.values())
    assert weights[0].keys() == weights[1].keys()
    game = plain.game
    paid = [play_match(game, [load_policy(game, run.folder), RandomAgent(game)], 4000, 5).mean for run in runs.values()]
    assert paid[0] == pytest.approx(paid[1], abs=0.1)


def test_a_mixed_table_is_one_more_match():
    game = make_game("thirty_one", num_players=3)
    arena = ArenaOptions(references=("random",))
    agent = _Caller()
    metrics = score_agent(game, agent, arena, 20, ["greedy", "random"])
    assert {"win_rate/random", "win_rate/greedy and random", "interval/score/greedy and random_low"} <= set(metrics)


class _Caller:
    """Plays the last legal action: calls, and keeps its hand."""

    def act(self, info_states, players, rng):
        legal = make_game("thirty_one", num_players=3).legal_actions(info_states)
        return (legal.shape[1] - 1 - np.argmax(legal[:, ::-1], axis=1)).astype(np.int16)


def test_a_trained_policy_is_an_opponent_as_any_other(tmp_path: Path):
    """And a reference: of its folder nothing stands in a metric's name that MLflow would refuse."""
    model = tmp_path / "model"
    experiment = kuhn_experiment("ppo", rounds=30)
    train(kuhn_experiment("ppo", rounds=1), run_dir=tmp_path / "run", model_dir=model, report=quiet)
    answer = replace(
        experiment,
        opponents=ScriptedOptions({str(model): 1.0}),
        arena=replace(experiment.arena, references=(str(model),)),
    )
    trained = train(answer, run_dir=tmp_path / "second", model_dir=tmp_path / "answer", report=quiet)
    assert trained.rows[-1]["score/" + str(model).strip("/")] > 0
