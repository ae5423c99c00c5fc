"""What a sweep finds becomes an experiment that trains with exactly those values."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import OmegaConf

from cardlab.core.messages import InvalidOption
from cardlab.experiments.config.composition import compose_config, compose_experiment, compose_tree, plain
from cardlab.experiments.config.values import flat_space, with_values
from cardlab.experiments.sweep import sweep
from cardlab.experiments.sweep.space import Space
from cardlab.experiments.sweep.tuned_files import check_keys, check_name, write_tuned
from experiments.sweep.tiny import swept_experiment
from recipes import recipes


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


SPACES = {
    "standard": ["agent=ppo"],
    "ppo": ["agent=ppo"],
    "dqn": ["agent=dqn"],
    "td": ["game=poker_squares", "agent=td"],
    "thirty_one/dqn": ["experiment=thirty_one/dqn"],
    "thirty_one/ppo": ["experiment=thirty_one/ppo"],
    "poker_squares/td": ["experiment=poker_squares/td"],
    "open_face/dqn": ["game=open_face", "agent=dqn", "network=lines"],
    "five_o/ppo": ["game=five_o", "agent=ppo", "network=actions", "opponents=pool"],
    "big2/ppo": ["experiment=big2/ppo", "network=actions", "opponents=pool"],
}
"""Each file of conf/sweep/ and what it is made for, as its first line says."""


@pytest.mark.parametrize("space", recipes("sweep"))
def test_every_space_fits_what_it_is_made_for(space: str) -> None:
    """Each end and each choice makes an experiment, and the untuned values lie in the space where they are."""
    overrides = SPACES[space]
    config = compose_config("sweep", [f"sweep={space}", *overrides])
    experiment = compose_experiment(overrides)
    entries = flat_space(config["sweep"]["space"])
    assert bool(entries) == (space != "standard")
    if entries:
        check_keys(config["sweep"]["space"], experiment)
        found = Space.parse(entries, experiment)
        sweep.check_space(found)
        held = {key for key, entry in entries.items() if "when" not in entry}
        assert len(held - set(found.baseline())) <= len(entries) // 3


def test_an_entry_of_the_command_line_replaces_the_file_s() -> None:
    entry = "sweep.space.agent.entropy_weight={low: 0.1, high: 0.2}"
    space = flat_space(
        compose_config("sweep", [entry, "sweep.space.network.widths=[[64],[128,128]]"])["sweep"]["space"]
    )
    assert space["agent.entropy_weight"] == {"low": 0.1, "high": 0.2}, "no log: true is left of the file's"
    assert space["network.widths"] == [[64], [128, 128]]
    assert "agent.gamma" in space


def test_a_key_that_the_experiment_does_not_have_is_named() -> None:
    config = compose_experiment()
    with pytest.raises(InvalidOption, match=r"sweep\.space\.agent\.gama=.*did you mean sweep\.space\.agent\.gamma\?"):
        check_keys({"agent": {"gama": {"low": 0, "high": 1}}}, config)


@pytest.mark.parametrize(
    ("space", "said"),
    [
        ({"arena.seed": [1, 2]}, r"sweep\.space\.arena\.seed=\[1,2\]: must be left out: scores compare"),
        ({"arena": {"references": [["random"], ["greedy"]]}}, r"sweep\.space\.arena\.references=.*must be left out"),
        ({"seed": [1, 2]}, r"sweep\.space\.seed=\[1,2\]: must be left out"),
        (
            {"trainer": ["quick", "smoke"]},
            r"sweep\.space\.trainer=\[quick,smoke\]: must be for a key of trainer, as in",
        ),
    ],
)
def test_what_decides_the_meaning_of_a_score_is_not_searched(space: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidOption, match=said):
        check_keys(space, compose_experiment())


@given(st.floats(0, 1), st.integers(1, 10))
def test_values_are_set_in_a_copy(gamma: float, epochs: int) -> None:
    config: dict[str, Any] = {"agent": {"gamma": 1.0, "epochs": 2}, "seed": 7}
    changed = with_values(config, {"agent.gamma": gamma, "agent.epochs": epochs, "seed": 8})
    assert changed == {"agent": {"gamma": gamma, "epochs": epochs}, "seed": 8}
    assert config == {"agent": {"gamma": 1.0, "epochs": 2}, "seed": 7}


@pytest.mark.parametrize(
    ("overrides", "values", "groups"),
    [
        (["game=thirty_one", "agent=dqn", "sweep=dqn"], {"agent.epsilon": 0.031}, ["agent"]),
        (
            [
                "experiment=poker_squares/td",
                "trainer=smoke",
                "trainer.decisions=5000",
                "arena.references=[random,flush]",
            ],
            {"agent.td_lambda": 0.25, "network.line_widths": [16, 8]},
            ["agent", "network"],
        ),
        (
            [
                "game.num_players=3",
                "opponents=scripted",
                "+opponents.agents.greedy=2.0",
                "network=mlp",
                "network.widths=[32]",
            ],
            {"agent.gamma": 0.9},
            ["agent", "network", "opponents"],
        ),
    ],
)
def test_the_written_experiment_is_the_one_that_was_swept(
    folder: Path, overrides: list[str], values: dict[str, Any], groups: list[str]
) -> None:
    files = write_tuned("tuned", overrides, values)
    assert [file.as_posix() for file in files] == [f"conf/{group}/tuned.yaml" for group in [*groups, "experiment"]]
    expected = {**with_values(swept_experiment(overrides), values), "name": "tuned"}
    assert compose_experiment(["experiment=tuned"]) == expected
    mixed = compose_experiment(["experiment=tuned", "agent=ppo"])
    assert mixed["agent"] == compose_experiment(["agent=ppo"])["agent"], "nothing of the tuned agent is left"
    other = compose_experiment(["experiment=tuned", "opponents=self_play", "arena=quick"])
    assert other["opponents"]["name"] == "self_play"
    swept = compose_experiment([*(text for text in overrides if text != "sweep=dqn"), "arena=quick"])
    assert other["arena"] == swept["arena"], "as with the experiment that was swept"
    mounted = plain(compose_tree("config", ["+experiment@experiments.tuned=tuned"]))
    assert mounted["experiments"]["tuned"] == expected
    assert write_tuned("tuned", overrides, values) == files, "a sweep may write what a sweep wrote"


def test_a_recipe_of_a_game_is_written_into_its_folder(folder: Path) -> None:
    overrides = ["experiment=thirty_one/dqn", "agent.n_step=3"]
    recipe = compose_experiment(overrides)["agent"]
    files = write_tuned("thirty_one/mine", overrides, {"agent.epsilon": 0.031, "network.widths": [32]})
    groups = ("agent", "network", "experiment")
    assert [file.as_posix() for file in files] == [f"conf/{group}/thirty_one/mine.yaml" for group in groups]
    found = compose_experiment(["experiment=thirty_one/mine"])
    assert found["name"] == "thirty_one_mine"
    assert found["agent"] == {**recipe, "epsilon": 0.031}
    assert set(OmegaConf.load(files[0])) == {"defaults", "name", "epsilon", "n_step"}, (
        "the rest stays in agent=thirty_one/dqn"
    )
    again = write_tuned("thirty_one/more", ["experiment=thirty_one/mine"], {"agent.gamma": 0.9})
    assert [file.as_posix() for file in again] == [
        f"conf/{group}/thirty_one/more.yaml" for group in ("agent", "experiment")
    ]
    more = compose_experiment(["experiment=thirty_one/more"])
    assert (more["agent"]["gamma"], more["agent"]["epsilon"], more["network"]) == (0.9, 0.031, found["network"])


@pytest.mark.parametrize(
    "name", ["dqn", "thirty_one/dqn", "lines", "thirty_one/default", "a/b/c", "/x", "x/", "../x", "thirty one/x", ""]
)
def test_no_option_of_another_is_replaced(folder: Path, name: str) -> None:
    with pytest.raises(InvalidOption, match=r"sweep\.apply="):
        check_name(name)
    assert list(folder.iterdir()) == []
