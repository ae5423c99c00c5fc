"""The commands as functions of Python: results as objects, the files and runs of the command, errors in one line."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cardlab
from cardlab.core.messages import ConfigurationError
from cardlab.tracking import Store

SMALL: dict[str, Any] = {
    "name": "small",
    "agent": {"decisions_per_iteration": 256},
    "trainer": {"decisions": 512, "parallel_games": 32, "evaluations": 1, "evaluation_deals": 20, "snapshots": 0},
    "network": "mlp",
    "network.widths": [8],
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_training_is_that_of_the_command() -> None:
    trained = cardlab.train("thirty_one/dqn", **SMALL)
    assert Path(trained.policy, "policy.json").is_file()
    run = Store().client.get_run(trained.run_id)
    assert (run.data.tags["kind"], run.data.params["agent.decisions_per_iteration"]) == ("training", "256")
    curve = trained.curve
    assert list(curve["seed"]) == [7]
    assert curve["decisions"].iloc[-1] >= 512
    assert trained.score.low <= trained.score.mean <= trained.score.high
    assert trained.score.mean == min(curve.filter(regex="^score/").iloc[-1])
    score = cardlab.evaluate(trained.policy, references=["random"], deals=20, record=False)
    assert set(score.by_reference) == {"random"}
    assert score.score == score.by_reference["random"]


def test_a_tournament_has_all_pairs() -> None:
    played = cardlab.tournament(["random", "greedy"], game="thirty_one", deals=20, record=False)
    assert played["agents"] == ["random", "greedy"]


def test_numbers_of_numpy_and_none_are_values() -> None:
    options = {"agent": {"gamma": np.float32(0.5)}, "agent.reward_scale": None, "trainer.evaluations": 0}
    trained = cardlab.train("thirty_one/dqn", seed=np.int64(3), **{**SMALL, **options})
    parameters = Store().client.get_run(trained.run_id).data.params
    assert (parameters["agent.gamma"], parameters["agent.reward_scale"]) == ("0.5", "null")
    assert parameters["seed"] == "3"
    with pytest.raises(LookupError, match="has no learning curve"):
        _ = trained.score


@pytest.mark.slow
def test_seeds_compare_and_sweep() -> None:
    trained = cardlab.train("thirty_one/dqn", seeds=2, **SMALL)
    assert len(trained.policies) == 2
    assert set(trained.curve["seed"]) == {7, 8}
    assert Store().client.get_run(trained.run_id).data.tags["kind"] == "seeds"
    assert trained.score.low < trained.score.high
    other = cardlab.train("thirty_one/dqn", seeds=[7, 8], **{**SMALL, "name": "other", "agent": "ppo"})
    assert other.policies
    assert len(cardlab.compare("small", "other", deals=20).verdicts) == 1
    found = cardlab.sweep("thirty_one/dqn", space={"agent.gamma": {"low": 0.8, "high": 1.0}}, trials=2, **SMALL)
    assert 0.8 <= float(found.best.values["agent.gamma"]) <= 1.0


@pytest.mark.parametrize(
    ("function", "arguments", "options", "said"),
    [
        ("train", (3,), {}, "experiment=3: must be"),
        ("train", ("thirty_one/dqn",), {"agent.gama": 1}, "agent.gama=1: no such key; did you mean agent.gamma?"),
        ("train", ("thirty_one/dqn",), {"agent": {"gamma": 2}}, "agent.gamma=2: must be a number in"),
        ("train", ("thirty_one/dqn",), {"agent": {"gamma": object()}}, "agent.gamma=object: must be a number, text"),
        ("train", (), {"seeds": "three"}, "seeds=three: must be a whole number"),
        ("evaluate", ("nothing",), {}, "policy=nothing: must be a policy's folder"),
        ("tournament", ("random",), {"game": "thirty_one"}, "agents=random: must be"),
        ("sweep", ("thirty_one/dqn",), {"space": {"agent.gama": {"low": 0, "high": 1}}}, "sweep.space.agent.gama="),
    ],
)
def test_wrong_arguments_are_one_line(
    function: str, arguments: tuple[Any, ...], options: dict[str, Any], said: str, folder: Path
) -> None:
    with pytest.raises(ConfigurationError) as raised:
        getattr(cardlab, function)(*arguments, **options)
    assert str(raised.value).startswith(said)
    assert "\n" not in str(raised.value)
    assert not list(folder.iterdir())
