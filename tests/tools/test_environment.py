"""Which packages an environment gets: the builds of torch, and what constraints.txt pins."""

from pathlib import Path

import pytest
from tools.check_versions import declared, find_python
from tools.make_environment import choose_torch, differences, main, read_pins

BOTH = ["2.14.1", "2.13.0+cu130", "2.13.0+cpu", "2.13.0"]


@pytest.mark.parametrize(
    ("offered", "cpu", "requirement"),
    [
        (BOTH, True, "torch===2.13.0+cpu"),
        (BOTH, False, "torch===2.13.0+cu130"),
        (["2.13.0+cpu", "2.13.0"], False, "torch===2.13.0"),
        (["2.14.1", "2.13.0"], True, "torch===2.13.0"),
        (["2.14.1+cpu"], True, "torch==2.13.0"),
        ([], True, "torch==2.13.0"),
    ],
)
def test_the_build_of_torch_fits_the_machine(offered: list[str], cpu: bool, requirement: str) -> None:
    chosen, reason = choose_torch("2.13.0", offered, cpu)
    assert chosen == requirement
    assert reason


def test_an_index_without_a_build_for_cpus_is_reported() -> None:
    _, reason = choose_torch("2.13.0", ["2.13.0"], cpu=True)
    assert "PIP_EXTRA_INDEX_URL" in reason


def test_differences_of_a_resolve_and_the_pins() -> None:
    pins = {"torch": "2.13.0", "numpy": "2.4.6", "idle": "1.0", "pip": "26.3"}
    resolved = {"cardlab": "0.1.0", "torch": "2.13.0+cpu", "numpy": "2.4.7", "new": "3.0", "nvidia-cublas": "13.0"}
    found = list(differences(resolved, pins))
    assert [line.split("=")[0].split(":")[0] for line in found] == ["new", "numpy", "idle"]
    assert not list(differences({"torch": "2.13.0+cpu"}, {"torch": "2.13.0", "pip": "26.3"}))


def test_the_pins_hold_torch_and_pip() -> None:
    pins = read_pins()
    assert pins["torch"] == "2.13.0"
    assert "pip" in pins


def test_declared_versions_are_those_that_requires_python_admits() -> None:
    assert declared(">=3.11,<3.14") == ["3.11", "3.12", "3.13"]
    with pytest.raises(ValueError, match="requires-python"):
        declared(">=3.11")


def test_a_program_that_is_no_such_python_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "python3.12"
    program.write_text("#!/bin/sh\necho 'not installed' >&2\nexit 127\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert find_python("3.12") is None
    program.write_text("#!/bin/sh\necho 3.12\n")
    assert find_python("3.12") == str(program)


def test_a_python_that_is_not_declared_is_refused_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.version_info", (3, 10, 13, "final", 0))
    assert main([str(tmp_path / "venv"), "."]) == 2
    assert capsys.readouterr().err.startswith("cardlab needs Python >=3.")
    assert not (tmp_path / "venv").exists()
