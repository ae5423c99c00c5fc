"""The examples run as they stand; the bridge to an outside engine gives the records of cardlab's own engine."""

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cardlab.agents.exploration import RandomAgent
from cardlab.games.cards.deck import card_text

FOLDER = Path(__file__).parents[2] / "examples"
ELSEWHERE = {"sb3_maskable_ppo.py"}  # tests/integrations/test_stable_baselines.py


def run_example(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.chdir(folder)
    return runpy.run_path(str(FOLDER / name))


def test_every_example_is_run_and_listed() -> None:
    names = {path.name for path in FOLDER.glob("*.py")}
    assert names == {"train_compare_promote.py", "bring_your_own_agent.py", "outside_engine.py"} | ELSEWHERE
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert all(f"({name})" in page for name in names)


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.py") if path.name not in ELSEWHERE))
def test_examples_are_in_notebook_form(name: str) -> None:
    cells = (FOLDER / name).read_text(encoding="utf-8").split("\n# %%")[1:]
    assert any(cell.startswith(" [markdown]\n# # ") for cell in cells)
    for cell in cells:
        if cell.startswith(" [markdown]"):
            assert all(line.startswith("#") for line in cell.strip().splitlines()[1:])


@pytest.mark.slow
def test_train_compare_promote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = run_example("train_compare_promote.py", tmp_path, monkeypatch)
    assert names["both"].arena.deals == 1000
    assert list(names["duel"].by_name) == ["dqn", "ppo"]
    assert "registered: cardlab-thirty_one version 1" in capsys.readouterr().out


def test_bring_your_own_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = run_example("bring_your_own_agent.py", tmp_path, monkeypatch)
    assert names["evaluation"]["references"]["random"]["win_rate"] > 0.9
    assert {standing["agent"] for standing in names["tournament"]["standings"]} == set(names["entrants"])


def test_an_outside_engine_gives_the_records_of_cardlab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = run_example("outside_engine.py", tmp_path, monkeypatch)
    assert names["won"] > 120
    game, agent, rng = names["game"], names["champion"].agent, np.random.default_rng(7)
    decisions = 0
    for number in range(60):
        deck = rng.permutation(52)
        states = game.deal(1, rng, deck[None])
        engine = names["Engine"]([card_text(card) for card in deck])
        while not engine.over:
            seen, players = engine.observe(), game.current_player(states)
            info_states = game.information(states, players)
            assert names["to_info_states"](seen).tobytes() == info_states.tobytes()
            mover = agent if number % 3 == 0 else RandomAgent(game)
            action = mover.act(info_states, players, rng)
            engine.play(names["to_move"](seen, int(action[0])))
            game.apply(states, action)
            decisions += 1
        assert game.is_over(states).all()
        payoffs, (first, second) = game.payoffs(states)[0], map(names["points"], engine.hands)
        assert np.sign(payoffs[0] - payoffs[1]) == np.sign(first - second)
    assert decisions > 300
