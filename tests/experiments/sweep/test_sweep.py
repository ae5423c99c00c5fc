"""`cardlab sweep` as a user runs it: trials in MLflow, what is refused, and an experiment made of the best values."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import optuna
import pytest
import yaml
from mlflow import MlflowClient
from omegaconf import OmegaConf
from optuna.trial import TrialState

from cardlab.agents.policy_descriptions import policy_digest
from cardlab.cli import main
from cardlab.core.child_processes import process_name
from cardlab.experiments.config.composition import compose_experiment
from cardlab.experiments.sweep import trials
from cardlab.experiments.sweep.scoring import play_references
from cardlab.experiments.sweep.tuned_files import write_tuned
from cardlab.experiments.sweep.worker import load_plan
from cardlab.learners.base import TrainingDiverged
from cardlab.tracking import Store
from cardlab.training.run import train
from experiments.sweep.tiny import TINY, runs_of, study_of, sweep_to_the_second_training
from failures.children import Child

PARAMS = ["params_agent.epsilon", "params_agent.gamma", "params_agent.learning_rate"]


def assert_promotion(root: Path, out: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The last line of a sweep promotes the best trial, under the name of the study and the trial."""
    study = study_of(root)
    (best,) = [run for run in runs_of(root, "trial") if run.data.tags["sweep.trial"] == str(study.best_trial.number)]
    folder = f"mlartifacts/thirty_one/{best.info.run_id}/artifacts/policy"
    assert out.endswith(f"         cardlab promote policy={folder}\n")
    assert main(["runs", f"run={best.info.run_id}"]) == 0
    assert re.search(rf"^policy +{folder}$", capsys.readouterr().out, re.MULTILINE)
    assert main(["promote", f"policy={folder}", "arena.deals=100"]) == 0
    assert f"\n{study.study_name}_trial_{study.best_trial.number} against random" in capsys.readouterr().out


def test_trials_stand_under_one_run_and_the_command_goes_on(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", *TINY, "sweep.trials=2", "sweep.seeds=2"]) == 0
    starting, *lines = capsys.readouterr().err.splitlines()
    assert starting == "starting: 2 trials, 1 at a time, against random"
    assert re.fullmatch(r"study thirty_one_dqn_\w{8}: 0 of 2 done", lines[0])
    for number in (0, 1):
        begins, ends = [line for line in lines if line.startswith(f"trial {number} ")]
        assert re.fullmatch(rf"trial {number} begins  agent\.epsilon=.* agent\.gamma=.*", begins)
        score = rf"trial {number} complete  points -?\d\.\d+ \[.*\]  \d+ s  {number + 1} of 2 done(  best so far)?"
        assert re.fullmatch(score, ends)
    assert main(["sweep", *TINY, "sweep.trials=5", "sweep.seeds=2"]) == 0
    printed = capsys.readouterr()
    assert re.findall(r"^trial (\d) complete", printed.err, re.MULTILINE) == ["2", "3", "4"]
    study = study_of(root)
    assert [trial.state for trial in study.get_trials()] == [TrialState.COMPLETE] * 5
    assert f"study:   {study.study_name}, 5 trials, 0 of them pruned\n" in printed.out
    low, high = study.best_trial.user_attrs["interval"]
    best = f"best:    trial {study.best_trial.number}, points {study.best_value:.3f} [{low:.3f}, {high:.3f}]\n"
    assert best in printed.out
    for key, value in study.best_params.items():
        assert re.search(rf"^ +{re.escape(f'{key}={value}')}  \(importance \d\.\d\d\)$", printed.out, re.MULTILINE)

    (parent,) = runs_of(root, "sweep")
    children = runs_of(root, "trial")
    assert {run.info.status for run in [parent, *children]} == {"FINISHED"}
    assert [run.data.tags["mlflow.parentRunId"] for run in children] == [parent.info.run_id] * 5
    artifacts = root / "mlartifacts/thirty_one"
    note = parent.data.tags["mlflow.note.content"]
    overview = f"![overview](get-artifact?path=study/overview.svg&run_uuid={parent.info.run_id})"
    assert note.startswith(overview), "MLflow folds what comes later"
    assert "study/history.svg" in note
    assert f"best: trial {study.best_trial.number}, points {study.best_value:.3f} [" in note
    for run, trial in zip(children, study.get_trials(), strict=True):
        assert run.info.run_name == f"trial {trial.number}"
        assert run.data.tags["mlflow.note.content"] == f"`{run.data.tags['changed']}`"
        assert run.data.metrics["sweep/objective"] == trial.value
        assert float(run.data.params["agent.gamma"]) == trial.params["agent.gamma"]
        assert {"seed_7/train/return", "seed_8/train/return"} <= set(run.data.metrics), "each training has its curves"
        policies = [artifacts / run.info.run_id / f"artifacts/policy/seed_{seed}" for seed in (7, 8)]
        assert run.data.tags["policy.digest"].split() == [policy_digest(policy) for policy in policies]
    policy = artifacts / children[-1].info.run_id / "artifacts/policy/seed_8"
    capsys.readouterr()
    assert main(["runs", f"policy={policy}", "--json"]) == 0
    assert [run["id"] for run in json.loads(capsys.readouterr().out)] == [children[-1].info.run_id]
    assert_promotion(root, printed.out, capsys)
    assert parent.data.metrics["sweep/best"] == study.best_value
    assert parent.data.metrics["interval/sweep/best_low"] == low
    folder = root / "mlartifacts/thirty_one" / parent.info.run_id / "artifacts"
    assert {file.name for file in (folder / "study").iterdir()} >= {"history.svg", "trials.csv"}
    head, *rows = (folder / "study/trials.csv").read_text().splitlines()
    assert (head, len(rows)) == (",".join(["number", "state", "value_points", *PARAMS]), 5)
    best = OmegaConf.load(folder / "best/config.json")
    assert best.agent.gamma == study.best_params["agent.gamma"]
    assert not (root / "runs/sweeps").exists() or list((root / "runs/sweeps").iterdir()) == []


@pytest.mark.usefixtures("no_plots")
def test_a_store_that_goes_away_before_the_end_costs_no_result(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any) -> None:
        raise ConnectionError("no answer")

    def play(*arguments: Any, **named: Any) -> Any:
        monkeypatch.setattr(MlflowClient, "search_runs", away)
        return play_references(*arguments, **named)

    monkeypatch.setattr(trials, "play_references", play)
    assert main(["sweep", *TINY, "sweep.trials=1"]) == 0
    assert re.search(r"^study: .*, 1 trial$", capsys.readouterr().out, re.MULTILINE)


@pytest.mark.usefixtures("no_plots")
def test_the_best_values_become_an_experiment_that_trains(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["sweep", *TINY, "sweep.trials=2", "sweep.apply=thirty_one/mine"]
    assert main(command) == 0
    assert "next:    cardlab train experiment=thirty_one/mine" in capsys.readouterr().out
    values = study_of(root).best_params
    agent = OmegaConf.load("conf/agent/thirty_one/mine.yaml")
    head = Path("conf/experiment/thirty_one/mine.yaml").read_text()
    assert "# command: cardlab sweep game=thirty_one agent=dqn " in head
    assert re.search(
        r"^# study thirty_one_dqn_\w{8}: trial \d is the best of 2 trials, points -?\d\.\d+ \[", head, re.M
    )
    assert re.search(r"^# Budget: 256 decisions, \d\.\d CPU minutes$", head, re.M)
    assert re.search(
        r"^# Score: -?\d\.\d\d \(-?\d\.\d\d to -?\d\.\d\d\) points a game, against random; 1 seed$", head, re.M
    )
    assert agent.defaults == ["/agent/dqn@_here_", "_self_"]
    assert dict(agent) == {
        **dict(agent),
        **{key.removeprefix("agent."): value for key, value in values.items()},
        "updates_per_iteration": 1,
    }
    composed = compose_experiment(["experiment=thirty_one/mine"])
    assert composed["trainer"]["decisions"] == 256
    assert composed["agent"]["epsilon"] == values["agent.epsilon"]
    assert main(["train", "game=thirty_one", "--help"]) == 0
    assert re.search(
        r"^ +thirty_one/mine +-?\d\..* points a game, against random; 1 seed", capsys.readouterr().out, re.M
    )
    assert main(["train", "experiment=thirty_one/mine"]) == 0
    assert (root / "runs/thirty_one_mine/latest/policy").is_dir()
    assert main(command) == 0, "what a sweep wrote a sweep may write again"

    own = root / "conf/agent/thirty_one/mine.yaml"
    own.write_text("defaults: [/agent/ppo@_here_, _self_]\n")
    assert main(command) == 2
    assert "must be a new name: agent=thirty_one/mine exists" in capsys.readouterr().err
    assert own.read_text() == "defaults: [/agent/ppo@_here_, _self_]\n"
    assert main([*command, "sweep.overwrite=true"]) == 0
    assert compose_experiment(["experiment=thirty_one/mine"]) == composed


@pytest.mark.slow
@pytest.mark.usefixtures("no_plots", "seeds_here")
def test_the_best_trial_is_confirmed_with_fresh_seeds(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["sweep", *TINY, "sweep.trials=1", "sweep.confirm=2", "sweep.apply=thirty_one/sure"]
    assert main(command) == 0
    printed = capsys.readouterr()
    number = r"-?\d\.\d{3}"
    said = rf"^confirm: points ({number}) \[{number}, {number}\], 2 fresh seeds \(8, 9\), 4 fresh deals\n"
    said += rf"bias:    ({number}) of the ({number}) of trial {study_of(root).best_trial.number}"
    found = re.search(said, printed.out, re.MULTILINE)
    assert found
    (parent,) = runs_of(root, "sweep")
    metrics = parent.data.metrics
    assert f"{metrics['sweep/confirmed']:.3f}" == found[1]
    assert metrics["sweep/selection_bias"] == pytest.approx(study_of(root).best_value - metrics["sweep/confirmed"])
    assert metrics["interval/sweep/confirmed_low"] <= metrics["sweep/confirmed"]
    assert f"confirmed: points {found[1]} [" in parent.data.tags["mlflow.note.content"]
    assert f"# confirmed: points {found[1]} [" in Path("conf/experiment/thirty_one/sure.yaml").read_text()
    (group,) = runs_of(root, "seeds")
    assert group.data.tags["mlflow.parentRunId"] == parent.info.run_id
    assert main(command) == 0
    again = capsys.readouterr()
    assert found[0] in again.out
    assert again.err.count("finished before") == 2
    assert main([*command, "sweep.confirm=3", "sweep.overwrite=true"]) == 0
    found = re.search(
        said.replace(r"2 fresh seeds \(8, 9\)", r"3 fresh seeds \(8, 9, 10\)"), capsys.readouterr().out, re.MULTILINE
    )
    assert found
    assert f"{runs_of(root, 'sweep')[0].data.metrics['sweep/confirmed']:.3f}" == found[1], "the last one counts"


@pytest.mark.usefixtures("no_plots", "no_training")
def test_runs_are_found_by_a_game_whose_file_has_another_name(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = root / "conf" / "game" / "mine.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("defaults: [thirty_one]\n", encoding="utf-8")
    assert main(["sweep", *TINY, "game=mine", "sweep.trials=2"]) == 0
    assert [len(runs_of(root, kind)) for kind in ("sweep", "trial")] == [1, 2], "in one experiment of MLflow"
    capsys.readouterr()
    assert main(["runs", "game=mine", "--json"]) == 0
    assert [run["kind"] for run in json.loads(capsys.readouterr().out)] == ["sweep"]


def test_an_agent_that_is_replaced_does_not_build_on_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    untuned = compose_experiment(["agent=dqn"])["agent"]
    for gamma in (0.5, 0.6):  # over the shipped file, then over what a sweep wrote
        write_tuned("dqn", ["agent=dqn"], {"agent.gamma": gamma}, overwrite=True)
        for option in ("agent=dqn", "experiment=dqn"):
            assert compose_experiment([option])["agent"] == {**untuned, "gamma": gamma}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["'sweep.space.agent.clip_ranje={low: 0, high: 1}'"], "sweep.space.agent.clip_ranje="),
        (["sweep.space.agent.gamma={low: 0, high: 2}"], "sweep.space.agent.gamma={low: 0, high: 2}: must be within"),
        (["sweep.space.agent.loss=[mse,mae]"], "sweep.space.agent.loss=[mse, mae]: must be within what agent.loss"),
        (["sweep.space.agent.gamma={low: 1, high: 0}"], "sweep.space.agent.gamma={low: 1, high: 0}: must be"),
        (["sweep.metric=strength"], "sweep.metric=strength: must be one of points, win_rate"),
        (["sweep.metric=win_rate", "game=poker_squares"], "sweep.metric=win_rate: must be points"),
        (["sweep.objective=median"], "sweep.objective=median: must be one of mean, low"),
        (["sweep.sampler=annealing"], "sweep.sampler=annealing: must be one of tpe, random, qmc, gp, grid"),
        (["sweep.sampler=grid"], "sweep.space.agent.epsilon="),
        (["sweep.trials=0"], "sweep.trials=0: must be a whole number of at least 1"),
        (["sweep=standard"], "sweep.space={}: must be given"),
        (["sweep=ppo"], "sweep.space.agent.clip_range, sweep.space.agent.entropy_weight, "),
        (["sweep.study=../x"], "sweep.study=../x: must be a name"),
        (["sweep.apply=default"], "sweep.apply=default: must be NAME or FOLDER/NAME"),
        (["sweep.workers=0"], "sweep.workers=0: must be a whole number in [1, 256]"),
        (["sweep.pruner=threshold"], "sweep.pruner=threshold: must be one of wilcoxon, median, hyperband or null"),
        (["sweep.pruner=median"], "sweep.pruner=median: must be wilcoxon, or trainer.evaluations at least 2"),
        (["sweep.pruner=wilcoxon", "sweep.cost=cpu_seconds"], "sweep.pruner=wilcoxon: must be null with sweep.cost"),
        (["sweep.cost=dollars"], "sweep.cost=dollars: must be cpu_seconds or null"),
        (["sweep.heartbeat=0.5"], "sweep.heartbeat=0.5: must be a whole number"),
        (["sweep.launcher=slurm"], "sweep.launcher=slurm: must be one of processes, ray"),
        (["trainer.launcher=ray"], "trainer.launcher=ray: must be processes; only cardlab train uses ray"),
        (["agent.gamma=2"], "agent.gamma=2: must be a number in [0, 1]"),
    ],
)
def test_what_is_wrong_is_said_before_the_first_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", *TINY, *(argument.strip("'") for argument in arguments)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"cardlab: error: {said}")
    assert error.count("\n") == 1
    assert os.listdir(tmp_path) == []


@pytest.mark.usefixtures("no_plots", "no_training")
def test_a_changed_sweep_is_a_new_study_and_a_named_one_takes_only_what_compares(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = [*TINY, "sweep.trials=1"]
    changes = [[], ["sweep.trials=2"], ["sweep.space.agent.gamma={low: 0.8, high: 1}"], ["agent.n_step=1"]]
    changes += [["sweep.seed=2"], ["sweep.apply=x"]]
    for change in changes:
        assert main(["sweep", *one, *change]) == 0
    assert len(optuna.get_all_study_names(f"sqlite:///{root}/studies.db")) == 4
    with monkeypatch.context() as edited:
        edited.setattr("cardlab.training.experiment.code_digest", lambda *_: "edited")
        assert main(["sweep", *one]) == 0
    assert len(optuna.get_all_study_names(f"sqlite:///{root}/studies.db")) == 5

    named = [*one, "sweep.study=named"]
    assert main(["sweep", *named]) == 0
    assert main(["sweep", *named, "sweep.space.agent.gamma={low: 0.8, high: 1}", "sweep.trials=2"]) == 0
    capsys.readouterr()
    assert main(["sweep", *named, "sweep.deals=8"]) == 2
    assert "sweep.study=named: must be another name, or sweep.deals=4 as in this study" in capsys.readouterr().err
    assert main(["sweep", *named, "agent.n_step=1"]) == 2
    assert "agent.n_step=3" in capsys.readouterr().err

    study = optuna.load_study(study_name="named", storage=f"sqlite:///{root}/studies.db")
    with subprocess.Popen(["sleep", "600"]) as other:
        study.set_user_attr("owner", process_name(other.pid))
        assert main(["sweep", *named, "sweep.trials=7"]) == 1
        assert load_plan("named", None, 1, Store()).options.trials == 2, "a refused command changes nothing"
        assert "study named: another process runs it (cardlab sweep worker sweep" in capsys.readouterr().err
        other.kill()


@pytest.mark.usefixtures("no_plots")
def test_a_training_that_diverges_is_pruned_and_the_sweep_continues(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fragile(experiment: Any, **rest: Any) -> Any:
        if experiment.agent.gamma < 1.0:
            raise TrainingDiverged("gradient norm is nan")
        return train(experiment, **rest)

    monkeypatch.setattr(trials, "train", fragile)
    assert main(["sweep", *TINY, "sweep.trials=2"]) == 0
    assert "pruned: gradient norm is nan" in capsys.readouterr().err
    assert [trial.state for trial in study_of(root).get_trials()] == [TrialState.COMPLETE, TrialState.PRUNED]
    assert [run.info.status for run in runs_of(root, "trial")] == ["FINISHED", "KILLED"]
    (parent,) = runs_of(root, "sweep")
    assert parent.info.status == "FINISHED"

    assert main(["sweep", *TINY, "sweep.trials=1", "sweep.baseline=false"]) == 1
    assert "all of its trials were pruned" in capsys.readouterr().err


@pytest.mark.usefixtures("no_plots")
def test_a_trial_that_was_stopped_before_it_noted_its_run_continues_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = optuna.Trial.set_user_attr

    def stop(trial: optuna.Trial, key: str, value: Any) -> None:
        if key == trials.RUN:
            raise KeyboardInterrupt
        note(trial, key, value)

    command = ["sweep", *TINY, "sweep.trials=1"]
    with monkeypatch.context() as patch:
        patch.setattr(optuna.Trial, "set_user_attr", stop)
        assert main(command) == 130
    assert main(command) == 0
    (run,) = runs_of(root, "trial")
    assert run.info.status == "FINISHED"


@pytest.mark.slow
@pytest.mark.parametrize("blow", [signal.SIGINT, signal.SIGKILL])
def test_the_program_goes_on_where_it_was_stopped(blow: signal.Signals, root: Path, tmp_path: Path) -> None:
    """A real process, stopped in the middle of its second trial."""
    command = ["sweep", *TINY, "sweep.trials=3"]
    log = tmp_path / "stopped.log"
    stopped = Child(root, command, log=log, body=sweep_to_the_second_training)
    process = stopped.wait_until_halted()
    os.kill(process, blow)
    if blow == signal.SIGINT:
        stopped.resume()
    status = stopped.wait()
    assert status == (130 if blow == signal.SIGINT else -blow)
    said = log.read_text()
    if blow == signal.SIGINT:
        assert "trial 1 interrupted" in said
        assert "1 of 3 done\ncardlab: interrupted; run the same command again to resume" in said
        assert {run.info.status for run in runs_of(root, "sweep")} == {"KILLED"}
        (interrupted,) = [run for run in runs_of(root, "trial") if run.data.tags["sweep.trial"] == "1"]
        assert interrupted.info.status == "KILLED"
    again = Child(root, command, log=tmp_path / "again.log")
    assert again.wait() == 0, again.log.read_text()
    states = [trial.state for trial in study_of(root).get_trials()]
    assert states == [TrialState.COMPLETE, TrialState.FAIL, TrialState.COMPLETE, TrialState.COMPLETE]
    runs = runs_of(root, "trial")
    assert [(run.data.tags["sweep.trial"], run.info.status) for run in runs] == [(n, "FINISHED") for n in "023"]
    assert runs[1].data.tags["sweep.retry_of"] == "1"
    assert [run.info.run_name for run in runs] == ["trial 0", "trial 2", "trial 3"], "Optuna's numbers"
    assert [run.info.status for run in runs_of(root, "sweep")] == ["FINISHED"]


@pytest.mark.parametrize("agent", ["ppo", "dqn", "td"])
def test_the_search_space_follows_the_agent(agent: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "game=thirty_one", f"agent={agent}", "--cfg", "job", "--package", "sweep.space"]) == 0
    space = yaml.safe_load(capsys.readouterr().out)
    own = yaml.safe_load((Path(__file__).parents[3] / "conf" / "sweep" / f"{agent}.yaml").read_text())
    assert space == own["space"]
