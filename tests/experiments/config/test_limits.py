"""Configurations that would run for minutes, or that mislead, are refused in one line and at once."""

import time
from pathlib import Path

import pytest

from cardlab.cli import main

SECONDS = 20.0  # on a busy machine; without limits these take minutes


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own folder of experiments."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "conf" / "experiment"
    folder.mkdir(parents=True)
    return folder


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line of `cardlab train`, which exits with 2."""
    began = time.process_time()
    assert main(["train", *arguments]) == 2
    assert time.process_time() - began < SECONDS
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    return line.removeprefix("cardlab: error: ")


HEAD = "# @package _global_\ndefaults: [default, _self_]\n"


def write(own: Path, text: str, encoding: str = "utf-8") -> None:
    (own / "mine.yaml").write_text(HEAD + text, encoding=encoding)


def test_a_few_anchors_are_fine(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(own, "name: &name mine\nagent: {gamma: &gamma 0.5, gae_lambda: *gamma}\n")
    assert main(["train", "experiment=mine", "--cfg", "job"]) == 0
    assert "gae_lambda: 0.5" in capsys.readouterr().out


@pytest.mark.parametrize("depth", [450, 5000])
def test_an_interpolation_that_is_nested_too_deep(own: Path, capsys: pytest.CaptureFixture[str], depth: int) -> None:
    write(own, "\n".join([*(f"x{level}: ${{x{level - 1}}}" for level in range(depth, 0, -1)), "x0: ab"]))
    assert "nested too deep" in refused(capsys, "experiment=mine")


def test_a_byte_order_mark(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(own, "name: mine\n", "utf-8-sig")
    assert refused(capsys, "experiment=mine").endswith("without a byte order mark")


def test_an_experiment_that_inherits_from_none(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (own / "mine.yaml").write_text("# @package _global_\ndefaults: [override /agent: dqn]\n")
    assert refused(capsys, "experiment=mine").endswith("an experiment's defaults begin with /experiment/default@_here_")


@pytest.mark.parametrize("text", ["", "name: mine\n", "defaults: [/experiment/thirty_one/dqn@_here_]\n"])
def test_an_experiment_without_its_package(own: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    (own / "mine.yaml").write_text(f"# mine\n{text}")
    assert "mine.yaml: must begin with the line `# @package _global_`" in refused(capsys, "experiment=mine")
    assert "mine.yaml: must begin with" in refused(capsys, "experiment=mine", "trainer=smoke")


@pytest.mark.parametrize("key", ["seed", "seeds"])
@pytest.mark.parametrize("value", [".inf", "3", "${oc.env:HOME}"])
def test_seeds_that_the_command_would_ignore(
    own: Path, capsys: pytest.CaptureFixture[str], key: str, value: str
) -> None:
    write(own, f"{key}: {value}\n")
    assert f"counts in the benchmark only; add {key}=" in refused(capsys, "experiment=mine")
    assert main(["train", "experiment=mine", f"{key}=3", "--cfg", "job"]) == 0


def test_a_policy_with_many_nested_brackets(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (own / "policy.json").write_text("[" * 100_000 + "]" * 100_000)
    assert main(["evaluate", f"policy={own}"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "policy.json: is not a policy's description" in line
