"""A long training in stretches: the next goes on with weights, optimiser, past selves and curve of the one before."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.numpy import load_file

from cardlab.core.messages import InvalidOption
from cardlab.learners.rollouts.opponents.pool import PRIOR
from cardlab.training.experiment import TRAINING_FILE
from cardlab.training.run import Trained, run_folder
from cardlab.training.start_point import read_start_point
from cardlab.training.training_process import build_learner
from training.continuing import FIRST, ROUNDS, experiment_of, run, steps
from training.test_resume import Interrupted, Interrupter


def test_the_next_stretch_begins_where_the_first_ended(agent: str, first: Trained):
    experiment = experiment_of(agent, stop_after=None, start_from=first.continuation)
    learner, collector = build_learner(experiment, start=read_start_point(experiment))
    kept = load_file(first.folder / "weights.safetensors")
    weights = learner.network.state_dict()
    assert all((weights[name].numpy() == kept[name]).all() for name in kept)
    assert (learner.iterations_done, learner.decisions_done) == (FIRST, first.decisions)
    if agent == "ppo":
        assert collector.opponents.state_dict()["num_saved"] == 1 + FIRST // 3


def test_rates_curve_and_optimiser_go_on(agent: str, first: Trained, tmp_path: Path):
    second = run(experiment_of(agent, stop_after=None, start_from=first.continuation), tmp_path / "second")
    assert second.iterations == ROUNDS
    assert second.rows[:FIRST] == first.rows
    assert [row["iteration"] for row in second.rows] == list(range(1, ROUNDS + 1))
    whole = [row["train/learning_rate"] for row in second.rows]
    assert whole == pytest.approx([whole[0] * (1 - n / ROUNDS) for n in range(ROUNDS)])
    made = [steps(trained) for trained in (first, second)]
    assert 0 < made[0] < made[1]
    assert second.spent.cpu > first.spent.cpu


def test_a_stretch_that_is_cut_off_goes_on_to_the_same_bytes(agent: str, first: Trained, tmp_path: Path):
    experiment = experiment_of(agent, stop_after=None, start_from=first.continuation)
    undisturbed = run(experiment, tmp_path / "undisturbed")
    with pytest.raises(Interrupted):
        run(experiment, tmp_path / "cut", Interrupter(after=FIRST + 2))
    resumed = run(experiment, tmp_path / "cut")
    assert resumed.digest == undisturbed.digest
    assert resumed.rows == undisturbed.rows


def test_a_stretch_deals_its_own_games(agent: str, first: Trained):
    one = experiment_of(agent)
    other = experiment_of(agent, stop_after=None, start_from=first.continuation)
    decks = [
        build_learner(experiment, start=read_start_point(experiment))[1].collect(100).info_states
        for experiment in (one, other)
    ]
    assert decks[0][:50].tobytes() != decks[1][:50].tobytes()


def test_another_start_is_another_run(first: Trained, tmp_path: Path):
    experiment = experiment_of("ppo", stop_after=None, start_from=first.continuation)
    before = run_folder(tmp_path, experiment)
    with (first.continuation / TRAINING_FILE).open("ab") as file:
        file.write(b"more")
    assert run_folder(tmp_path, experiment) != before


@pytest.mark.parametrize("agent", ["ppo"], indirect=True)
def test_the_next_stretch_may_meet_other_agents(first: Trained, tmp_path: Path):
    experiment = experiment_of("ppo", stop_after=None, start_from=first.continuation)
    met = replace(experiment.opponents, agents={"random": 1.0})
    second = run(replace(experiment, opponents=met), tmp_path / "second")
    assert second.iterations == ROUNDS
    content = torch.load(second.continuation / TRAINING_FILE, weights_only=True)
    assert content["opponents"]["agents"]["random"] != PRIOR
    new = str(first.folder)
    third = replace(met, agents={new: 1.0, "random": 1.0})
    experiment = replace(experiment_of("ppo", start_from=second.continuation), opponents=met)
    field = build_learner(replace(experiment, opponents=third))[1].opponents
    field.load_state_dict(content["opponents"])
    known = field.win_rates
    assert known[new] == PRIOR
    assert known["random"] == content["opponents"]["agents"]["random"]


def test_what_does_not_fit_is_refused_in_one_line(first: Trained, tmp_path: Path):
    with pytest.raises(InvalidOption, match=rf"trainer\.start_from={tmp_path}: must be a folder with"):
        read_start_point(experiment_of("ppo", start_from=tmp_path))
    (tmp_path / TRAINING_FILE).write_bytes(b"torn")
    with pytest.raises(InvalidOption, match=rf"must be a folder with a {TRAINING_FILE} written by a training"):
        read_start_point(experiment_of("ppo", start_from=tmp_path))


def test_a_stretch_of_another_learner_or_of_a_spent_budget_is_refused(agent: str, first: Trained):
    another = "td" if agent == "ppo" else "ppo"
    with pytest.raises(InvalidOption, match=rf"a training with agent=.*\.{another}\..*: this one has .*\.{agent}\."):
        read_start_point(experiment_of(another, stop_after=None, start_from=first.continuation))
    with pytest.raises(
        InvalidOption,
        match=r"a training of fewer decisions than trainer\.decisions and trainer\.stop_after; it has \d+",
    ):
        read_start_point(experiment_of(agent, start_from=first.continuation))
