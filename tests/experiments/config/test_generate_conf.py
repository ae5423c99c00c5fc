"""Each option is declared once: conf/ and the schemas are made from the classes, and hold for every experiment."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

from cardlab.core.messages import InvalidOption
from cardlab.core.parts import GROUPS, find_object, option_names, read_option
from cardlab.experiments.config.composition import compose_config, compose_experiment
from cardlab.experiments.config.seed_options import experiment_part
from cardlab.training.options import TrainerOptions

ROOT = Path(__file__).parents[3]
EXPERIMENTS = sorted(
    str(path.relative_to(ROOT / "conf/experiment").with_suffix(""))
    for path in (ROOT / "conf/experiment").rglob("*.yaml")
)
CLASSES = [
    find_object("_target_", read_option(group, name)["_target_"])
    for group in GROUPS
    for name in option_names(group)
    if "/" not in name
]


def generate_conf(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools/generate_conf.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def schemas() -> dict[str, dict[str, Any]]:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import generate_conf  # noqa: PLC0415
    finally:
        sys.path.remove(str(ROOT / "tools"))
    return generate_conf.schemas()


@pytest.fixture(scope="module")
def validator(schemas: dict[str, dict[str, Any]]) -> Draft202012Validator:
    Draft202012Validator.check_schema(schemas["experiment"])
    return Draft202012Validator(schemas["experiment"])


def test_the_base_files_are_those_of_the_classes() -> None:
    checked = generate_conf("--check")
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.slow
def test_the_schema_holds_for_every_experiment(validator: Draft202012Validator) -> None:
    composed = [compose_experiment([f"experiment={name.replace('.yaml', '')}"]) for name in EXPERIMENTS]
    composed += compose_config("config", ["benchmark=full"])["experiments"].values()
    for config in composed:
        assert not list(validator.iter_errors(experiment_part(config))), config["name"]


def test_each_file_of_a_group_fits_the_schema_that_editors_use(schemas: dict[str, dict[str, Any]]) -> None:
    """The mapping is in docs/cli.md: build/schema/GROUP.json for conf/GROUP/**/*.yaml."""
    groups = {path.name for path in (ROOT / "conf").iterdir() if path.is_dir()}
    assert groups - {"benchmark", "experiment"} == set(schemas) - {"experiment"}
    for group in groups & set(schemas) - {"experiment"}:
        validator = Draft202012Validator(schemas[group])
        for path in (ROOT / "conf" / group).rglob("*.yaml"):
            content = yaml.safe_load(path.read_text())
            assert not list(validator.iter_errors(content)), path
            assert not validator.is_valid({**content, "gama": 1}), path


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("agent", {"gamma": 7}),
        ("agent", {"gama": 1}),
        ("agent", {"_target_": "a2c.A2C"}),
        ("game", {"num_players": "two"}),
        ("trainer", {"device": "tpu"}),
        ("trainer", {"parallel_games": 1.5}),
    ],
)
def test_the_schema_refuses_what_the_command_refuses(
    validator: Draft202012Validator, part: str, change: dict[str, Any]
) -> None:
    config = compose_experiment()
    assert validator.is_valid(config)
    assert not validator.is_valid({**config, part: {**config[part], **change}})


def numbers() -> Iterator[Any]:
    for options in (*CLASSES, TrainerOptions):
        for key, node in TypeAdapter(options).json_schema()["properties"].items():
            kinds = {part.get("type") for part in (node, *node.get("anyOf", ()))}
            if kinds & {"integer", "number"}:
                yield pytest.param(options, key, id=f"{options.__name__}-{key}")


@pytest.mark.parametrize(("options", "key"), numbers())
def test_text_and_booleans_are_no_numbers(options: type, key: str) -> None:
    for value in (True, "1", float("nan"), float("inf"), [1]):
        with pytest.raises(InvalidOption, match=rf"^\w+\.{key}=.*: must be "):
            options(**{key: value})


@pytest.mark.parametrize("options", [*CLASSES, TrainerOptions])
def test_every_option_has_a_help_that_is_read_alone(options: type) -> None:
    properties = TypeAdapter(options).json_schema().get("properties", {})
    for entry in fields(options):
        text = properties[entry.name]["description"]
        assert 0 < len(text) <= 110, f"{entry.name}: {text}"
        assert not text.startswith(("of ", "as ", "or ", "the same", "that ")), f"{entry.name}: {text}"


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (["train", "agent.gamma=7"], "agent.gamma=7: must be a number in [0, 1]"),
        (["sweep", "sweep.trials=-1"], "sweep.trials=-1: must be a whole number of at least 1"),
        (["sweep", "worker", "sweep.study=../x"], "sweep.study=../x: must be a name"),
    ],
)
def test_a_wrong_value_is_refused_before_slow_imports(command: list[str], line: str) -> None:
    program = f"""
import sys
from cardlab.cli import main
status = main({command})
assert status == 2, status
found = {{"torch", "lightning", "mlflow", "optuna"}} & set(sys.modules)
assert not found, found
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert line in ran.stderr
