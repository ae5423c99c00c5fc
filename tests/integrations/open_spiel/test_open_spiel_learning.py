"""Learners at games of OpenSpiel: resume with equal bytes, exact exploitability, and names in all that is kept."""

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import cardlab
from cardlab.cli import main
from cardlab.core.messages import InvalidOption
from cardlab.games.protocol import Floats, InfoStates, Players
from cardlab.integrations.open_spiel.exploitability import measure
from cardlab.integrations.open_spiel.game import OpenSpiel
from cardlab.learners.dqn.options import DQNOptions
from cardlab.learners.ppo.options import PPOOptions
from cardlab.learners.td.options import TDOptions
from cardlab.testing import check_learner

SHORT = {"decisions_per_iteration": 64, "minibatch_size": 32}


class Uniform:
    """Plays each legal action equally often, and says so."""

    def __init__(self, game: OpenSpiel) -> None:
        self.game = game

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> None:
        raise NotImplementedError

    def evaluate(self, info_states: InfoStates, players: Players) -> tuple[Floats, Floats]:
        legal = self.game.legal_actions(info_states)
        with np.errstate(divide="ignore"):
            logs = np.log(legal / legal.sum(axis=1, keepdims=True))
        return logs.astype(np.float32), np.zeros(len(legal), dtype=np.float32)


@pytest.mark.parametrize("options", [PPOOptions(**SHORT), DQNOptions(**SHORT), TDOptions(**SHORT)])
def test_a_training_resumes_with_equal_bytes(options: PPOOptions | DQNOptions | TDOptions) -> None:
    check_learner(OpenSpiel("leduc_poker"), options)


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("kuhn_poker", "exploitability", 11 / 24),
        ("leduc_poker", "exploitability", 2.373611),
        ("kuhn_poker(players=3)", "nash_conv", 2.0625),
    ],
)
def test_uniform_play_is_as_exploitable_as_is_known(text: str, name: str, value: float) -> None:
    game = OpenSpiel(text)
    assert measure(game, Uniform(game)) == {name: pytest.approx(value, abs=1e-6)}  # type: ignore[arg-type]


def test_exact_exploitability_needs_a_policy_and_a_game_that_has_it() -> None:
    game = OpenSpiel("kuhn_poker")
    with pytest.raises(InvalidOption, match="a trained policy"):
        measure(game, cardlab.load_agent(game, "random"))
    assert main(["train", "game=five_o", "trainer.exploitability=true"]) == 2


def test_a_game_keeps_its_own_name(
    fresh_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "conf").mkdir()
    shutil.copyfile(fresh_database, tmp_path / "mlflow.db")
    monkeypatch.chdir(tmp_path)
    budget = ["trainer.decisions=1024", "trainer.evaluations=1", "trainer.evaluation_deals=20", "trainer.snapshots=0"]
    spiel = ["game=open_spiel", 'game.text="kuhn_poker(players=2)"', "agent=ppo", "name=kuhn"]
    assert main(["train", *spiel, *budget, "trainer.exploitability=true"]) == 0
    policy = next((tmp_path / "runs" / "kuhn").glob("*/policy"))
    assert json.loads((policy / "policy.json").read_text())["game"]["name"] == "kuhn_poker"
    assert json.loads((policy.parent / "config.json").read_text())["game"]["version"] == OpenSpiel("kuhn_poker").version
    with (policy.parent / "curve.csv").open() as file:
        assert [0 < float(row["exploitability"]) < 1 for row in csv.DictReader(file)] == [True]
    capsys.readouterr()
    assert main(["exploit", "policy=kuhn", "exact=true", "output=exact.json"]) == 0
    assert "points per game of kuhn_poker" in capsys.readouterr().out
    assert len(json.loads(Path("exact.json").read_text())["values"]) == 1
    assert main(["runs"]) == 0
    assert "kuhn_poker" in capsys.readouterr().out
    other = ["agent=td", "name=kuhn_td", "agent.decisions_per_iteration=512"]
    assert main(["train", *spiel[:2], *other, *budget, "trainer.exploitability=true"]) == 0
    assert main(["compare", "kuhn", "kuhn_td", "arena.deals=100", "output=compared"]) == 0
    assert "exploitability" in capsys.readouterr().out
    compared = json.loads(Path("compared", "comparison.json").read_text())
    ends = json.loads(Path("exact.json").read_text())["values"]
    assert compared["exploitability"]["kuhn"]["mean"] == pytest.approx(ends[0], rel=1e-4)
    assert set(compared["exploitability"]) == {"kuhn", "kuhn_td"}
    assert "exploitability over decisions" in Path("compared", "comparison.html").read_text()
