"""The policies of one method: what names them, and what does not."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from cardlab.core.messages import InvalidOption
from cardlab.experiments.policy_groups import (
    describe_other_groups,
    find_group,
    own_references,
    policies_by_seed,
    policy_config,
)
from cardlab.tracking.run_state import RunState

CONFIG = {"name": "duel", "seed": 7, "agent": {"gamma": 1.0}, "arena": {"references": ["greedy"]}}


@pytest.fixture
def policy(untrained: Callable[..., Path]) -> Callable[..., Path]:
    """Writes a policy to a folder; with a configuration beside it, in the order of `age`."""

    def write(folder: str, config: object = None, age: int = 0) -> Path:
        target = Path(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        untrained("made", "thirty_one").rename(target)
        if config is not None:
            path = target.with_name("config.json")
            path.write_text(json.dumps(config))
            os.utime(path, (1000 - age, 1000 - age))
        return target

    return write


def test_the_seeds_of_a_model_are_in_their_order(root: Path, policy: Callable[..., Path]) -> None:
    for seed in (10, 7, 8):
        policy(f"models/duel/seed_{seed}")
    Path("models/duel/seed_9").mkdir()  # not yet trained
    policy("models/duel/seed_best")  # of the user's own
    Path("params.yaml").write_text(json.dumps({"experiments": {"duel": CONFIG}}))
    for text in ("duel", "models/duel"):
        group = find_group(text, root)
        assert (group.name, group.config) == ("duel", CONFIG)
        assert [str(each) for each in group.policies] == [f"models/duel/seed_{seed}" for seed in (7, 8, 10)]
    assert own_references(policy_config(Path("models/duel/seed_8"))) == ("greedy",)
    elsewhere = {"arena": {"references": ["../../champions/duel", "greedy"]}}
    assert own_references(elsewhere) == ("greedy",), "the other is not found from here"
    assert find_group("models/duel/seed_8", root).name == "duel_seed_8"
    named = find_group("models/duel/seed_best", root)
    assert policies_by_seed(named.policies) == {7: Path("models/duel/seed_best")}, "that of its experiment"


def test_a_model_comes_before_the_runs_of_its_name(root: Path, policy: Callable[..., Path]) -> None:
    policy("runs/duel/a/policy", CONFIG)
    assert find_group("duel", root).policies == (root / "runs/duel/a/policy",)
    model = policy("models/duel")
    assert find_group("duel", root).policies == (model,)
    assert find_group("runs/duel", root).policies == (Path("runs/duel/a/policy"),)


def test_runs_with_the_newest_configuration_are_one_group(root: Path, policy: Callable[..., Path]) -> None:
    other = {**CONFIG, "agent": {"gamma": 0.9}}
    policy("runs/duel/a/policy", {**CONFIG, "seed": 8}, age=0)
    policy("runs/duel/b/policy", {**CONFIG, "seed": 7}, age=1)
    policy("runs/duel/c/policy", {**other, "seed": 9}, age=2)
    policy("runs/duel/d/policy", {**CONFIG, "seed": 8}, age=3)  # an older training with the seed of the first
    Path("runs/duel/e").mkdir()  # not finished
    Path("runs/duel/latest").symlink_to("c")
    group = find_group("duel", root)
    assert [policy.parent.name for policy in group.policies] == ["b", "a"]
    assert group.config == CONFIG
    assert find_group("runs/duel/latest/policy", root).config["agent"] == other["agent"]


def test_another_agent_is_named_without_its_options(root: Path, policy: Callable[..., Path]) -> None:
    policy("runs/duel/a/policy", {**CONFIG, "agent": {"_target_": "one.Options", "name": "dqn", "gamma": 1.0}})
    old = {**CONFIG, "agent": {"_target_": "two.Options", "name": "ppo", "gamma": 0.9, "clip_range": 0.2}}
    policy("runs/duel/b/policy", old, age=2)
    expected = "duel stands for its newest training; an earlier one is duel@agent.name:ppo (1 seed)"
    assert describe_other_groups("duel", root) == expected
    assert find_group("duel@agent.name:ppo", root).config["agent"]["name"] == "ppo"


def test_an_older_method_of_the_name_is_named_and_can_be_chosen(root: Path, policy: Callable[..., Path]) -> None:
    policy("runs/duel/a/policy", CONFIG)
    assert describe_other_groups("duel", root) == ""
    for seed in (7, 8):
        policy(f"runs/duel/old_{seed}/policy", {**CONFIG, "seed": seed, "agent": {"gamma": 0.9}}, age=seed)
    expected = "duel stands for its newest training; an earlier one is duel@gamma:0.9 (2 seeds)"
    assert describe_other_groups("duel", root) == expected
    for text in ("duel@gamma:0.9", "duel@agent.gamma:0.9"):
        older = find_group(text, root)
        assert (older.name, len(older.policies), older.config["agent"]) == (text, 2, {"gamma": 0.9})
    with pytest.raises(InvalidOption):
        find_group("duel@agent.gamma:0.8", root)


def test_trainings_of_other_code_are_another_group(root: Path, policy: Callable[..., Path]) -> None:
    for seed, code in ((7, "new"), (8, "old"), (9, "new")):
        made = policy(f"runs/duel/{seed}/policy", {**CONFIG, "seed": seed}, age=seed)
        made.with_name("training.json").write_text(json.dumps({"origin": {"group": code}}))
    policy("runs/duel/10/policy", {**CONFIG, "seed": 10}, age=10)  # of a version that wrote no group
    assert [each.parent.name for each in find_group("duel", root).policies] == ["7", "9"]


def test_a_champion_has_the_configuration_of_its_training(root: Path, policy: Callable[..., Path]) -> None:
    folder = policy("champions/thirty_one")
    (folder / "lineage.json").write_text(json.dumps({"config": CONFIG}))
    for text, name in (("champions/thirty_one", "thirty_one"), ("champion", "champion")):
        group = find_group(text, root, game="thirty_one")
        assert (group.name, group.policies, group.config) == (name, (folder,), CONFIG)


@pytest.mark.parametrize("text", ["nothing", "", "champion", "models", "runs/duel/e", "greedy"])
def test_other_texts_are_refused_in_one_line(root: Path, policy: Callable[..., Path], text: str) -> None:
    policy("runs/duel/a/policy", CONFIG)
    Path("runs/duel/e").mkdir()
    with pytest.raises(
        InvalidOption, match=r"^methods=.*: must be the name of an experiment in models/ or runs/"
    ) as at:
        find_group(text, root, key="methods")
    assert "\n" not in str(at.value)


@pytest.mark.parametrize("text", ["long", "runs/long", "runs/long/latest/policy"])
def test_an_unfinished_training_is_named(root: Path, text: str) -> None:
    RunState("a", None, None, {"name": "long", "seed": 8}).save(Path("runs/long/0123"))
    with pytest.raises(
        InvalidOption, match=rf"^policy={text}: must be .*; of {text} seed 8 is not finished .* resumes"
    ):
        find_group(text, root)
    RunState("a", None, "train@long", {"name": "long", "seed": 8}).save(Path("runs/long/0123"))
    with pytest.raises(InvalidOption, match=r"; dvc repro train@long resumes it$"):
        find_group(text, root)


def test_a_misspelt_name_is_answered_with_the_right_one(root: Path, policy: Callable[..., Path]) -> None:
    policy("models/thirty_one_dqn")
    with pytest.raises(InvalidOption, match=r"did you mean thirty_one_dqn\?$"):
        find_group("thirty_one_dq", root)
