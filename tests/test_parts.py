"""Parts named by `_target_`: names as files, a project's own parts, and which code of elsewhere is trusted."""

import json
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import cardlab
from cardlab.agents.policy_descriptions import PolicyError, policy_game
from cardlab.core import parts
from cardlab.core.messages import ConfigurationError, InvalidOption
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.composition import compose_experiment

AGENTS = """
from dataclasses import dataclass


@dataclass(frozen=True)
class First:
    game: object
    back: bool = True

    def act(self, info_states, players, rng):
        return self.game.legal_actions(info_states).argmax(axis=1).astype("int16")
"""
LEARNER = """
from cardlab.core.options import Number, option, options
from cardlab.learners.ppo.options import PPOOptions


@options("agent")
class Mine(PPOOptions):
    sharpness: Number = option(2.0, "how sharp", ge=0)
"""
FOREIGN = {"game": {"_target_": "handmade.agents.First"}}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project with a package `handmade`; the working directory is below it."""
    package = tmp_path / "src" / "handmade"
    package.mkdir(parents=True)
    (package / "agents.py").write_text(AGENTS)
    (package / "learner.py").write_text(LEARNER)
    (tmp_path / "conf" / "agent").mkdir(parents=True)
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "notebooks")
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == "handmade"]:
        del sys.modules[name]


def write(project: Path, name: str, text: str) -> None:
    (project / "conf" / f"{name}.yaml").write_text(text)


def test_a_part_of_the_project_composes_and_builds(project: Path) -> None:
    write(project, "agent/mine", "_target_: handmade.learner.Mine\ngamma: 0.9\n")
    config = compose_experiment(["agent=mine", "agent.sharpness=3"])
    assert config["agent"]["name"] == "mine"  # of the file
    assert config["agent"]["clip_range"] == 0.2  # left out in the file
    built = build_experiment(config)
    assert (built.agent.gamma, built.agent.sharpness) == (0.9, 3.0)  # type: ignore[attr-defined]


def test_a_name_left_out_is_that_of_the_file_also_when_it_inherits(project: Path) -> None:
    write(project, "agent/mine", "defaults: [ppo, _self_]\ngamma: 0.9\n")
    write(project, "agent/other", "defaults: [mine, _self_]\n_target_: handmade.learner.Mine\n")
    assert compose_experiment(["agent=mine"])["agent"]["name"] == "mine"
    other = compose_experiment(["agent=other", "name=${agent.name}_1"])
    assert (other["agent"]["name"], other["name"]) == ("other", "other_1")
    assert (other["agent"]["gamma"], other["agent"]["sharpness"]) == (0.9, 2.0)


def test_a_game_is_a_file_of_the_project_before_that_of_cardlab(project: Path) -> None:
    (project / "conf" / "game").mkdir()
    write(project, "game/trio", "defaults: [thirty_one]\nnum_players: 3\n")
    assert cardlab.make_game("trio").spec.num_players == 3
    assert "trio" in cardlab.game_names()
    with pytest.raises(InvalidOption, match=r"game=big3: must be one of .*big2.* \(did you mean big2\?\)"):
        cardlab.make_game("big3")


def test_a_class_that_is_missing_is_one_line(project: Path) -> None:
    write(project, "agent/mine", "_target_: handmade.lerner.Mine\n")
    missing = r"agent\._target_=handmade\.lerner\.Mine: must be a class .*has no attribute 'lerner'"
    with pytest.raises(InvalidOption, match=missing):
        compose_experiment(["agent=mine"])


def test_a_misspelt_target_and_a_class_of_something_else_are_one_line(project: Path) -> None:
    (project / "conf" / "game").mkdir()
    write(project, "game/misspelt", "_targt_: handmade.learner.Mine\n")
    write(project, "game/other", "_target_: handmade.learner.Mine\n")
    with pytest.raises(InvalidOption, match=r"game\._targt_=handmade\.learner\.Mine: must be written _target_"):
        cardlab.make_game("misspelt")
    with pytest.raises(InvalidOption, match=r"game\._target_=handmade\.learner\.Mine: must be a class with spec"):
        build_experiment(compose_experiment(["game=other"]))


def test_an_agent_may_be_a_dotted_path_and_a_folder_comes_first(project: Path) -> None:
    game = cardlab.make_game("five_o")
    match = cardlab.play_match(game, ["handmade.agents.First:back:false", "random"], num_deals=4)
    assert match.num_deals == 4
    with pytest.raises(InvalidOption, match=r"handmade\.agents\.First:top:1: must be .* with options back"):
        cardlab.load_agent(game, "handmade.agents.First:top:1")
    Path("handmade.agents.First").mkdir()
    with pytest.raises(PolicyError, match=r"handmade\.agents\.First: is not a policy's folder"):
        cardlab.load_agent(game, "handmade.agents.First")


@pytest.mark.parametrize("data", [FOREIGN, {"arena": {"references": ["monte_carlo:policy:[handmade.agents.First]"]}}])
def test_code_of_elsewhere_is_refused_before_it_is_imported(project: Path, data: object) -> None:
    refused = r"study: names the code handmade\.agents\.First, .* write it in a file"
    with pytest.raises(ConfigurationError, match=refused):
        parts.check_targets(data, "study")
    assert "handmade" not in sys.modules


def test_code_that_the_project_names_is_trusted(project: Path) -> None:
    write(project, "agent/mine", "_target_: handmade.agents.First\n")
    parts.check_targets(FOREIGN, "study")
    parts.check_targets({"game": {"_target_": "cardlab.games.big2.game.Big2"}}, "study")
    (project / "src" / "handmade" / "__init__.py").write_text("from handmade.agents import First\n")
    write(project, "agent/mine", "_target_: handmade.First\n")
    parts.check_targets(FOREIGN, "study")  # the same class by another name
    with pytest.raises(ConfigurationError):
        parts.check_targets({"game": {"_target_": "handmade.agents.Other"}}, "study")


def test_a_plugin_is_trusted(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [EntryPoint("mine", "handmade", parts.PLUGINS)]
    monkeypatch.setattr(parts, "entry_points", lambda group: found if group == parts.PLUGINS else [])
    parts.check_targets(FOREIGN, "study")


def test_a_policy_of_elsewhere_names_no_code_that_is_not_trusted(project: Path) -> None:
    folder = project / "policy"
    folder.mkdir()
    target = {"_target_": "handmade.agents.First"}
    content = {"format": 3, "game": {**target, "name": "five_o"}, "network": target, "policy": target}
    (folder / "policy.json").write_text(json.dumps(content))
    refused = r"policy\.json: names the code handmade\.agents\.First, which is not trusted"
    with pytest.raises(PolicyError, match=refused):
        policy_game(folder)
    assert "handmade" not in sys.modules
