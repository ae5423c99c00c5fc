"""Scratch clones with a tiny benchmark of two experiments, one of each game."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from shared_folders import make_once

ROOT = Path(__file__).parents[2]
COPIED = (
    "src",
    "conf",
    "pipelines",
    "dvc.yaml",
    "champions/dvc.yaml",
    "champions/thirty_one/exploitability.json",  # the report shows it
    ".dvc/config",
    ".dvc/.gitignore",
    ".dvc/plots",
    ".dvcignore",
    ".gitignore",
)
EXPERIMENT = """# @package _global_
defaults:
  - /experiment/{base}@_here_
  - override /agent@agent: {agent}
  - override /trainer@trainer: smoke
  - _self_

name: {name}
trainer: {{decisions: 16000, parallel_games: 32, evaluations: 2, evaluation_deals: 4, checkpoint_seconds: 0}}
arena: {{deals: 20, pairing_deals: 10}}
"""
SHORT = """defaults:
  - /agent/thirty_one/dqn@_here_
  - _self_

decisions_per_iteration: 2048
updates_per_iteration: 4
"""
BENCHMARK = """defaults:
  - experiment@experiments.squares: squares
  - experiment@experiments.duel: duel
  - _self_

seed: 7
experiments: {squares: {seeds: 1}, duel: {seeds: 2}}
compare: {}
"""


@dataclass(frozen=True)
class Clone:
    """A git repository with DVC in it."""

    root: Path
    programs: ClassVar[Path]
    """Folder of `quick_python`: its programs are run where none is killed."""

    @property
    def environment(self) -> dict[str, str]:
        """That of a user with the environment activated and nothing else set."""
        hidden = ("MLFLOW_TRACKING_URI", "DVC_ROOT", "DVC_STAGE", "PYTHONPATH", "PYTEST_CURRENT_TEST")
        kept = {key: value for key, value in os.environ.items() if key not in hidden}
        return kept | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"}

    def run(self, *command: str, check: bool = True) -> str:
        """Output of a command, errors included."""
        environment = self.environment
        environment["PATH"] = f"{self.programs}{os.pathsep}{environment['PATH']}"
        done = subprocess.run(
            command, cwd=self.root, env=environment, capture_output=True, text=True, check=False, timeout=600
        )
        output = done.stdout + done.stderr
        assert done.returncode == 0 or not check, output
        return output

    def dvc(self, *arguments: str, check: bool = True) -> str:
        return self.run("dvc", *arguments, check=check)

    def git(self, *arguments: str) -> str:
        return self.run("git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments)

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-qm", "state", "--allow-empty")

    def stages(self, *arguments: str) -> set[str]:
        """The stages that `dvc repro` would run."""
        lines = self.dvc("repro", "--dry", *arguments).splitlines()
        return {line.split("'")[1] for line in lines if line.startswith("Running stage")}


def copy_project(target: Path) -> Clone:
    """What a clone of the working tree holds, committed."""
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
    for name in COPIED:
        source = ROOT / name
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target / name, ignore=ignored)
        else:
            shutil.copyfile(source, target / name)
    clone = Clone(target)
    clone.git("init", "-q", "-b", "main")
    return clone


@pytest.fixture(scope="session")
def finished(quick_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Clone:
    """A clone whose tiny benchmark has been run once. Tests that change anything take a `clone` of it."""
    Clone.programs = quick_python
    return Clone(make_once(tmp_path_factory, "finished", run_benchmark))


def run_benchmark(root: Path) -> None:
    clone = copy_project(root)
    (clone.root / "conf" / "config.yaml").write_text(BENCHMARK)
    (clone.root / "conf" / "agent" / "thirty_one" / "short.yaml").write_text(SHORT)
    recipes = {"squares": ("poker_squares/td", "poker_squares/td"), "duel": ("thirty_one/dqn", "thirty_one/short")}
    for name, (base, agent) in recipes.items():
        text = EXPERIMENT.format(name=name, base=base, agent=agent)
        (clone.root / "conf" / "experiment" / f"{name}.yaml").write_text(text)
    clone.run("cardlab", "compose")
    clone.commit()
    clone.dvc("repro")
    clone.commit()


@pytest.fixture
def clone(finished: Clone, tmp_path: Path) -> Clone:
    """A copy of the finished benchmark, with its cache and its MLflow store, to be changed freely."""
    root = tmp_path / "clone"
    shutil.copytree(finished.root, root, symlinks=True)
    return Clone(root)


@pytest.fixture
def outputs(clone: Clone) -> Callable[[], dict[str, bytes]]:
    """All bytes that the pipeline has written, but what a training cost this once."""

    def read() -> dict[str, bytes]:
        files = [
            path for name in ("models", "snapshots", "results", "report") for path in (clone.root / name).rglob("*")
        ]
        names = [path for path in files if path.is_file()]
        return {str(path.relative_to(clone.root)): path.read_bytes() for path in [*names, clone.root / "dvc.lock"]}

    return read
