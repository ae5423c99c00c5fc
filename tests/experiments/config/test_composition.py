"""Every form in which configurations are composed: the layout of conf/ is what makes them work."""

import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from dvc.utils.hydra import compose_and_dump
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from cardlab.experiments.config.composition import (
    compose_config,
    compose_experiment,
    run_hydra,
    search_folders,
    shipped_folder,
)
from cardlab.experiments.config.seed_options import experiment_part
from recipes import CONF, recipes

QUICK = (
    "poker_squares_td",
    "poker_squares_dqn",
    "poker_squares_ppo",
    "thirty_one_dqn",
    "thirty_one_ppo",
    "thirty_one_td",
    "five_o_td",
    "five_o_dqn",
    "five_o_ppo",
    "open_face_td",
    "big2_ppo",
)
BENCHMARKS = {
    "quick": QUICK,
    "full": (
        *QUICK,
        "poker_squares_td_long",
        "thirty_one_champion",
        "five_o_champion",
        "open_face_champion",
        "big2_champion",
    ),
    "champions": (
        "five_o_champion",
        "open_face_champion",
        "thirty_one_champion",
        "poker_squares_sparse_lines",
        "poker_squares_policy_iteration",
        "poker_squares_td_long",
        "poker_squares_champion",
    ),
    "papers": (
        "poker_squares_paper_bootstrap",
        "poker_squares_paper",
        "open_face_paper",
        "open_face_averaged_successors",
        "thirty_one_paper",
        "big2_paper",
    ),
}
RECIPES = {option.replace("/", "_"): option for option in recipes("experiment")}
"""Name of an experiment → the option that composes it."""


@cache
def benchmark(name: str) -> dict[str, Any]:
    """The composed benchmark, which takes a second; only read."""
    return compose_config("config", [f"benchmark={name}"])


def test_the_checkout_has_its_configuration_at_the_root() -> None:
    assert shipped_folder() == CONF


@pytest.mark.parametrize("experiment", recipes("experiment"))
def test_every_experiment_composes(experiment: str) -> None:
    config = compose_experiment([f"experiment={experiment}"])
    assert set(config) == {"name", "seed", "game", "agent", "network", "opponents", "trainer", "arena"}
    assert config["seed"] == 7
    if not experiment.endswith("default"):
        outside = str(config["game"].get("text", ""))  # a game of another library is called by its text
        assert config["name"] == experiment.replace("/", "_").replace("open_spiel", outside or "open_spiel")


def test_groups_change_the_default_experiment() -> None:
    config = compose_experiment(["game=poker_squares", "agent=dqn", "trainer=smoke", "agent.epsilon=0.05"])
    assert (config["game"]["name"], config["agent"]["name"]) == ("poker_squares", "dqn")
    assert config["agent"]["epsilon"] == 0.05
    assert config["name"] == "poker_squares_dqn", "an experiment without a name is called after its parts"


@pytest.mark.parametrize("experiment", QUICK)
def test_an_experiment_takes_another_agent_whole(experiment: str) -> None:
    config = compose_experiment([f"experiment={RECIPES[experiment]}", "agent=dqn", "agent.epsilon=0.1"])
    plain = compose_experiment(["agent=dqn", "agent.epsilon=0.1"])
    assert config["agent"] == plain["agent"], "no key of the experiment's own agent is left"


def test_the_documented_forms_compose() -> None:
    """The forms that the layout of conf/ exists for: other layouts end in `Multiple values for …`."""
    config = compose_experiment(["game=big2", "agent=dqn"])
    assert (config["game"]["name"], config["agent"]["name"]) == ("big2", "dqn")
    config = compose_experiment(["experiment=default", "game=big2"])
    assert config == compose_experiment(["game=big2"])
    config = compose_experiment(["experiment=big2/ppo"])
    assert (config["name"], config["agent"]["name"], config["network"]["name"]) == ("big2_ppo", "ppo", "auto")
    config = compose_experiment(["experiment=big2/ppo", "agent=dqn", "agent.epsilon=0.1"])
    assert (config["agent"]["name"], config["agent"]["epsilon"]) == ("dqn", 0.1)
    assert "clip_range" not in config["agent"]
    config = compose_experiment(["experiment=big2/ppo", "agent=big2/paper", "network=big2/paper", "trainer=big2/quick"])
    assert (config["agent"]["minibatch_size"], config["network"]["widths"]) == (240, [512])


@pytest.mark.parametrize("game", [name for name in recipes("game") if name != "open_spiel"])
def test_every_game_has_a_default_experiment(game: str) -> None:
    config = compose_experiment([f"experiment={game}/default", "agent=dqn"])
    assert (config["game"]["name"], config["name"]) == (game, f"{game}_dqn")
    assert config["trainer"] == compose_experiment([f"trainer={game}/quick"])["trainer"]
    assert config["arena"]["references"]


def test_an_experiment_inherits_from_another() -> None:
    base, heir = (compose_experiment([f"experiment=thirty_one/{agent}"]) for agent in ("dqn", "ppo"))
    assert (base["agent"]["name"], heir["agent"]["name"]) == ("dqn", "ppo")
    for part in ("game", "network", "opponents", "trainer", "arena"):
        assert heir[part] == base[part]


def test_seed_zero_is_a_seed() -> None:
    assert compose_experiment(["seed=0"])["seed"] == 0


def test_the_benchmark_is_the_quick_one() -> None:
    assert compose_config("config") == benchmark("quick")


def test_every_benchmark_is_listed_here_and_full_has_the_champions_recipes() -> None:
    assert sorted(BENCHMARKS) == sorted(recipes("benchmark"))
    champions = {name for name in RECIPES if name.endswith("_champion")}
    assert champions - set(BENCHMARKS["full"]) == {"poker_squares_champion"}, "which needs trainer.start_from=POLICY"


@pytest.mark.parametrize("chosen", ["full", "quick"])  # that of the papers has the deals of their pages
def test_a_benchmark_mounts_each_experiment_as_it_is_trained_alone(chosen: str) -> None:
    config = benchmark(chosen)
    assert tuple(config["experiments"]) == BENCHMARKS[chosen]
    for name, mounted in config["experiments"].items():
        assert experiment_part(mounted) == compose_experiment([f"experiment={RECIPES[name]}"])
        assert mounted["seeds"] == (3 if name in QUICK else 1)


def test_one_seed_is_given_to_the_whole_benchmark() -> None:
    config = compose_config("config", ["seed=3", "experiments.thirty_one_ppo.seed=4"])
    seeds = {name: entry["seed"] for name, entry in config["experiments"].items()}
    assert seeds == {name: 4 if name == "thirty_one_ppo" else 3 for name in QUICK}


def dvc_composes(folder: Path, overrides: list[str]) -> dict[str, Any]:
    """What `dvc exp run -S …` makes of params.yaml."""
    output = folder / "params.yaml"
    compose_and_dump(str(output), str(CONF), None, "config", str(folder), overrides)
    data = OmegaConf.to_container(OmegaConf.load(output))
    assert isinstance(data, dict)
    return {str(key): value for key, value in data.items()}


@pytest.mark.parametrize(("overrides", "chosen"), [([], "quick"), (["benchmark=full"], "full")])
def test_dvc_composes_what_cardlab_composes(tmp_path: Path, overrides: list[str], chosen: str) -> None:
    assert dvc_composes(tmp_path, overrides) == benchmark(chosen)


@pytest.mark.parametrize(("chosen", "name"), [("quick", "thirty_one_ppo"), ("full", "thirty_one_champion")])
def test_dvc_varies_one_experiment(tmp_path: Path, chosen: str, name: str) -> None:
    overrides = [
        f"benchmark={chosen}",
        f"agent@experiments.{name}.agent=dqn",
        f"experiments.{name}.agent.epsilon=0.3",
    ]
    varied, plain = dvc_composes(tmp_path, overrides), benchmark(chosen)
    assert varied["experiments"][name]["agent"]["name"] == "dqn"
    assert varied["experiments"][name]["agent"]["epsilon"] == 0.3
    assert "clip_range" not in varied["experiments"][name]["agent"]
    for other in set(BENCHMARKS[chosen]) - {name}:
        assert varied["experiments"][other] == plain["experiments"][other]


def test_dvc_varies_the_agent_of_a_mounted_recipe(tmp_path: Path) -> None:
    overrides = ["agent@experiments.big2_ppo.agent=dqn", "experiments.big2_ppo.agent.epsilon=0.3"]
    agent = dvc_composes(tmp_path, overrides)["experiments"]["big2_ppo"]["agent"]
    assert (agent["name"], agent["epsilon"], "clip_range" in agent) == ("dqn", 0.3, False)
    overrides = ["agent@experiments.big2_ppo.agent=big2/paper"]
    assert dvc_composes(tmp_path, overrides)["experiments"]["big2_ppo"]["agent"]["minibatch_size"] == 240


def test_a_benchmark_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "conf/benchmark").mkdir(parents=True)
    text = "# @package _global_\ndefaults: [{/experiment@experiments.big2_paper: big2/paper}]\n"
    (tmp_path / "conf/benchmark/mine.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert list(compose_config("config", ["benchmark=mine"])["experiments"]) == ["big2_paper"]


def test_the_benchmark_asks_hydra_for_nothing() -> None:
    for path in CONF.rglob("*.yaml"):
        assert "${hydra" not in path.read_text(), path


@pytest.mark.parametrize("experiment", recipes("experiment"))
def test_experiments_set_nothing_below_agent_or_network(experiment: str) -> None:
    data = OmegaConf.load(CONF / "experiment" / f"{experiment}.yaml")
    assert "agent" not in data
    assert "network" not in data


@pytest.mark.parametrize("group", ["game", "agent", "network", "opponents"])
def test_options_of_a_registry_say_their_key(group: str) -> None:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        for option in recipes(group):
            assert "name" in compose("train", [f"{group}={option}"])[group], f"{group}/{option}"


def test_the_own_folder_goes_first_and_adds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for group in ("agent", "experiment"):
        (tmp_path / "conf" / group).mkdir(parents=True)
    (tmp_path / "conf/agent/mine.yaml").write_text("defaults: [dqn, _self_]\nepsilon: 0.25\n")
    (tmp_path / "conf/agent/ppo.yaml").write_text("_target_: cardlab.learners.td.options.TDOptions\nname: td\n")
    (tmp_path / "conf/experiment/mine.yaml").write_text(
        "# @package _global_\n"
        "defaults: [/experiment/thirty_one/dqn@_here_, {override /agent@agent: mine}, _self_]\n"
        "name: mine\n"
    )
    monkeypatch.chdir(tmp_path)
    assert search_folders() == [tmp_path / "conf", CONF]
    mine = compose_experiment(["experiment=mine"])
    assert (mine["name"], mine["agent"]["name"], mine["agent"]["epsilon"]) == ("mine", "mine", 0.25)
    assert mine["agent"]["buffer_size"] == 200_000, "what the own file leaves out comes from the shipped one"
    replaced = compose_experiment(["agent=ppo"])["agent"]
    assert (replaced["name"], replaced["td_lambda"]) == ("td", 0.5), "an option left out has its default"


def test_a_folder_that_is_the_shipped_one_is_not_taken_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CONF.parent)
    assert search_folders() == [CONF]


def test_open_mappings_of_the_page_take_any_name() -> None:
    given = compose_config("play", ["play.belief={big2: here}", "play.searches.mine=tree:simulations:5"])["play"]
    assert given["belief"] == {"big2": "here"}
    assert list(given["searches"]) == ["monte_carlo", "tree", "mine"]
    given = compose_config("play", ["play.searches={mine: tree}", "play.belief.big2=there"])["play"]
    assert given["searches"] == {"mine": "tree"}, "in the place of those that stand there"
    assert given["belief"] == {"big2": "there"}
    assert "tree" not in compose_config("play", ["~play.searches.tree"])["play"]["searches"]


def test_composing_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    compose_experiment()
    assert os.listdir(tmp_path) == []


def test_hydra_leaves_the_arguments_of_the_process(capsys: pytest.CaptureFixture[str]) -> None:
    before = list(sys.argv)
    run_hydra("train", ["--cfg=hydra"])
    assert (sys.argv, capsys.readouterr().out != "") == (before, True)
