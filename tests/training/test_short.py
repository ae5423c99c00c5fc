"""A run that stops short of its budget, and what it learns from and is measured against."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cardlab.arena.options import ArenaOptions
from cardlab.games.catalogue import make_game
from cardlab.options import InvalidOption
from cardlab.training.learning import build_learner
from cardlab.training.options import TrainerOptions
from cardlab.training.run import train
from cardlab.training.strength import measure_strength
from learners.kuhn_training import kuhn_experiment


def quiet(_: str) -> None:
    """Say nothing."""


def test_annealing_goes_by_the_whole_budget(tmp_path: Path):
    experiment = kuhn_experiment("ppo", rounds=10)
    short = replace(experiment, trainer=replace(experiment.trainer, stop_after=4 * 1024, evaluations=4))
    trained = train(short, run_dir=tmp_path / "run", model_dir=tmp_path / "model", tell=quiet)
    assert trained.rounds == 4
    assert [row["round"] for row in trained.rows] == [1, 2, 3, 4]
    rates = [row["learning_rate"] for row in trained.rows]
    assert rates == pytest.approx([5e-3 * (1 - n / 10) for n in range(4)])


def test_it_cannot_stop_after_its_budget():
    with pytest.raises(InvalidOption, match=r"trainer\.stop_after=20: must be a whole number from 1 to 10"):
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


def test_a_mixed_table_is_one_more_match():
    game = make_game("thirty_one", num_players=3)
    arena = ArenaOptions(references=("random",))
    agent = _Caller()
    metrics = measure_strength(game, agent, arena, 20, ["greedy", "random"])
    assert {"win_rate/random", "win_rate/greedy and random", "strength/greedy and random_low"} <= set(metrics)


class _Caller:
    """Plays the last legal action: calls, and keeps its hand."""

    def act(self, info_states, players, rng):
        legal = make_game("thirty_one", num_players=3).legal_actions(info_states)
        return (legal.shape[1] - 1 - np.argmax(legal[:, ::-1], axis=1)).astype(np.int16)
