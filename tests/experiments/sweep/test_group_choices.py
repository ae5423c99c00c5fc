"""A study whose trials choose options of groups: `sweep.space.agent=[ppo,dqn]`."""

from pathlib import Path

import pytest

from cardlab.cli import main
from cardlab.experiments.config.composition import compose_experiment
from experiments.sweep.tiny import TINY, runs_of, study_of


@pytest.mark.usefixtures("no_plots", "no_training")
def test_a_trial_chooses_options_of_groups(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = [text for text in TINY if text != "sweep=dqn"]
    choices = ["sweep.space.agent=[ppo,dqn]", "sweep.space.network=[mlp,trunks]", "sweep.sampler=random"]
    command = ["sweep", *own, *choices, "sweep.trials=4", "sweep.apply=thirty_one/chosen"]
    assert main(command) == 0
    study = study_of(root)
    chosen = [trial.params["agent"] for trial in study.get_trials()]
    assert set(chosen) == {"ppo", "dqn"}
    for trial, run in zip(study.get_trials(), runs_of(root, "trial"), strict=True):
        agent, network = trial.params["agent"], trial.params["network"]
        assert all(key.split(".")[1] == agent for key in trial.params if "." in key)
        assert f"agent.{agent}.learning_rate" in trial.params, "the space of conf/sweep/NAME.yaml"
        assert (run.data.params["agent.name"], run.data.params["network.name"]) == (agent, network)
        assert run.data.params["agent.decisions_per_iteration"] == "128", "what is typed counts for each that has it"
        assert run.data.tags["changed"].startswith(f"agent={agent} network={network} ")
        assert run.data.metrics["score/evaluation"] == run.data.metrics["sweep/objective"], "MLflow's first column"
        assert (run.data.tags["against"], run.data.tags["deals"]) == ("random", "4")
    assert "importance" in capsys.readouterr().out
    best = study.best_params
    applied = compose_experiment(["experiment=thirty_one/chosen"])
    assert (applied["agent"]["name"], applied["network"]["name"]) == (best["agent"], best["network"])
    assert applied["agent"]["gamma"] == best[f"agent.{best['agent']}.gamma"]
    assert applied["network"]["widths"] == [8]
    assert all(len(str(value)) < 100 for value in study.user_attrs.values()), "`optuna studies` prints them all"
    assert main(["sweep", "worker", f"sweep.study={study.study_name}"]) == 0
    assert f"study:   {study.study_name}, 4 trials" in capsys.readouterr().out
