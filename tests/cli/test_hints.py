"""Hints are followed: what a message says to type is typed, and is accepted.

`accepted` runs a command up to the first thing that would be trained or written.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from cardlab.cli import main


class _Accepted(Exception):
    """The command has begun."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def begin(*_: Any, **__: Any) -> None:
        raise _Accepted

    for place in ("sweep.sweep.run_sweep", "seeds.train_seeds", "seeds.train_methods"):
        monkeypatch.setattr(f"cardlab.experiments.{place}", begin)
    monkeypatch.setattr("cardlab.training.recorded_training.train_recorded", begin)
    monkeypatch.setattr("cardlab.cli.compose.write_atomically", begin)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DVC_ROOT", raising=False)
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "hint", "followed"),
    [
        ("train agent.gamma=0.9,1.0", "cardlab train -m trains with each", "train -m agent.gamma=0.9,1.0"),
        ("train agent=ppo,dqn", "cardlab train -m trains with each", "train -m agent=ppo,dqn"),
        ("train seed=1,2", "seeds=[1,2] trains with each", "train seeds=[1,2]"),
        ("train gamma=0.9", "did you mean agent.gamma?", "train agent.gamma=0.9"),
        ("train lr=0.01", "did you mean agent.learning_rate?", "train agent.learning_rate=0.01"),
        ("train thirty_one/dqn", "did you mean experiment=thirty_one/dqn?", "train experiment=thirty_one/dqn"),
        ("trian agent=dqn", "did you mean 'train'?", "train agent=dqn"),
        ("train agent=dnq", "did you mean dqn?", "train agent=dqn"),
        ("train agent.epsilon=0.1", "agent=dqn or agent=td has it", "train agent=dqn agent.epsilon=0.1"),
        ("train +agent.gamma=0.9", "write agent.gamma=0.9", "train agent.gamma=0.9"),
        ("train ~agent.gamma", "agent.gamma=VALUE sets it", "train agent.gamma=0.9"),
        (
            "train opponents=scripted opponents.agents.greedy=1",
            "+opponents.agents.greedy=1 adds an entry",
            "train opponents=scripted +opponents.agents.greedy=1",
        ),
        ("train game=thirty_one network=lines", "must be mlp or trunks", "train game=thirty_one network=trunks"),
        (
            "train game=open_spiel game.text=leduc_pokr",
            "did you mean leduc_poker?",
            "train game=open_spiel game.text=leduc_poker",
        ),
        ("sweep agent.gamma=0.9,1.0", "'sweep.space.agent.gamma=[0.9,1.0]'", "sweep sweep.space.agent.gamma=[0.9,1.0]"),
        ("sweep network=mlp,trunks", "'sweep.space.network=[mlp,trunks]'", "sweep sweep.space.network=[mlp,trunks]"),
        ("sweep agent=ppo,dqn", "'sweep.space.agent=[ppo,dqn]'", "sweep sweep.space.agent=[ppo,dqn]"),
        (
            "sweep sweep.space.seed=[1,2]",
            "sweep.sampler=grid takes seeds",
            "sweep sweep.space.seed=[1,2] sweep.sampler=grid",
        ),
        (
            "sweep sweep.space.game.num_players=[2,3]",
            "or sweep.sampler=grid",
            "sweep sweep.space.game.num_players=[2,3] sweep.sampler=grid",
        ),
        (
            "sweep agent=dqn sweep.sampler=grid",
            "as in 'sweep.space.agent.epsilon=[0.01,0.2]'",
            "sweep agent=dqn sweep.sampler=grid sweep.space.agent.epsilon=[0.01,0.2]",
        ),
        (
            "sweep sweep=dqn sweep.space.agent=[ppo,dqn] sweep.sampler=grid",
            "without sweep=, what is typed is the grid",
            "sweep sweep.space.agent=[ppo,dqn] sweep.sampler=grid",
        ),
        ("sweep agent=policy_iteration", "as in sweep=dqn", "sweep agent=dqn sweep=dqn"),
        ("sweep agent=ppo sweep=dqn", "choose sweep=ppo", "sweep agent=ppo sweep=ppo"),
        ("sweep sweep.space.network=[mlp]", "two or more options of network, as in [a,b]", "sweep network=mlp"),
        ("sweep sweep.space.network=[mlp,trunk]", "did you mean trunks?", "sweep sweep.space.network=[mlp,trunks]"),
        (
            "sweep sweep.space.trainer=[quick,smoke]",
            "as in sweep.space.trainer.KEY; options can be chosen of agent, network",
            "sweep sweep.space.trainer.parallel_games=[64,128]",
        ),
        (
            "sweep sweep.space.agent=[ppo,dqn] sweep.space.agent.dqn.gama=[0.9,1]",
            "did you mean sweep.space.agent.dqn.gamma?",
            "sweep sweep.space.agent=[ppo,dqn] sweep.space.agent.dqn.gamma=[0.9,1]",
        ),
        ("sweep game=poker_squares sweep.metric=win_rate", "must be points", "sweep game=poker_squares"),
        (
            "compose agent.gamma=0.9",
            "experiments.poker_squares_td.agent.gamma=0.9 sets it",
            "compose experiments.poker_squares_td.agent.gamma=0.9",
        ),
        (
            "compose experiments.big2_ppo.agent=dqn",
            "agent@experiments.big2_ppo.agent=dqn",
            "compose agent@experiments.big2_ppo.agent=dqn",
        ),
    ],
)
def test_what_a_hint_says_is_accepted(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str, hint: str, followed: str
) -> None:
    assert hint in refused(capsys, *command.split())
    with pytest.raises(_Accepted):
        main(followed.split())


@pytest.mark.parametrize(
    ("command", "hint", "followed"),
    [
        ("evaluate --all", "run `cardlab --help`", "--help"),
        ("evaluate --json", "run `cardlab evaluate --help`", "evaluate --help"),
        ("evaluate game=five_o policy=reflex_9", "did you mean reflex_3?", "evaluate game=five_o policy=reflex_3"),
        ("evaluate policy=reflex_1", "add game=NAME for a scripted agent", "evaluate policy=reflex_1 game=five_o"),
        ("tournament agents=[random,greedy_2]", "game=(left out)", "tournament game=five_o agents=[random,greedy_2]"),
        (
            "tournament game=five_o agents=[random,gredy_2]",
            "did you mean greedy_2?",
            "tournament game=five_o agents=[random,greedy_2]",
        ),
        ("runs sort=scor", "must be one of age, name, score", "runs sort=score"),
        ("init", "as in cardlab init my_cards", "init my_cards"),
    ],
)
def test_what_a_hint_says_is_done(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    hint: str,
    followed: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DVC_ROOT", raising=False)
    assert hint in refused(capsys, *command.split())
    few = ["arena.deals=4", "arena.processes=1"] if re.match("(evaluate|tournament) [^-]", followed) else []
    assert main([*followed.split(), *few]) == 0


def test_the_key_that_a_file_of_a_space_meant_is_accepted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder / "conf/sweep/mine.yaml"
    file.parent.mkdir(parents=True)
    text = "defaults: [standard, _self_]\nspace: {agent: {lr: {low: 0.001, high: 0.01}}}\n"
    file.write_text(text)
    meant = re.search(r"did you mean sweep\.space\.agent\.(\w+)\?", refused(capsys, "sweep", "sweep=mine"))
    assert meant
    file.write_text(text.replace("lr", meant[1]))
    with pytest.raises(_Accepted):
        main(["sweep", "sweep=mine"])
