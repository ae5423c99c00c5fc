"""`cardlab clean`: what it lists, and what it never deletes."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from numba.core import config as numba_config

from cardlab.cli import main
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.composition import compose_experiment
from cardlab.training.run import run_folder

DAYS_AGO = 1_000_000_000.0
EARLIER, LATEST = "0" * 16, "1" * 16


class Project:
    """A folder with trainings of one name; `train` leaves one."""

    def __init__(self, root: Path, config: Mapping[str, Any]) -> None:
        self.root = root
        self.config = config
        self.current = run_folder(root / "runs", build_experiment(config)).name

    def train(self, name: str, *, recorded: bool = True) -> Path:
        folder = self.root / "runs" / str(self.config["name"]) / name
        artifacts = self.root / "mlartifacts" / "thirty_one" / name / "artifacts"
        written = [folder / "finished.ckpt", folder / "training/training.ckpt", folder / "policy/policy.json"]
        written += [artifacts / "checkpoint/finished.ckpt"] if recorded else []
        for path in written:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{path.name} of {name}")
        if recorded:
            (artifacts / "config.json").write_text(json.dumps(self.config, default=str))
        return folder


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with the latest training, which is of earlier code as well."""
    (tmp_path / ".dvc").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DVC_ROOT", raising=False)
    monkeypatch.setattr(numba_config, "CACHE_DIR", str(tmp_path / "cache/kernels/current"), raising=False)
    config = compose_experiment(["experiment=thirty_one/dqn", "trainer=smoke"])
    made = Project(tmp_path, config)
    (made.train(LATEST).parent / "latest").symlink_to(LATEST)
    return made


def test_a_training_of_former_code_goes(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    earlier, current = project.train(EARLIER), project.train(project.current)
    assert main(["clean", "--yes"]) == 0
    assert "earlier (1)" in capsys.readouterr().out
    assert not earlier.exists()
    assert (current / "finished.ckpt").exists()
    assert (current.with_name("latest") / "finished.ckpt").exists()
    assert (project.root / "mlartifacts/thirty_one" / EARLIER / "artifacts/checkpoint/finished.ckpt").exists()


def test_nothing_goes_without_an_answer(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    earlier = project.train(EARLIER)
    assert main(["clean"]) == 0
    assert "nothing was deleted" in capsys.readouterr().out
    assert (earlier / "policy/policy.json").exists()


def test_what_is_not_recorded_or_not_finished_stays(project: Project) -> None:
    unrecorded, interrupted = project.train("2" * 16, recorded=False), project.train("3" * 16)
    (interrupted / "run.json").write_text("{}")
    assert main(["clean", "ask=false"]) == 0
    assert (unrecorded / "finished.ckpt").exists()
    assert (interrupted / "finished.ckpt").exists()


def test_a_running_training_stays(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    earlier = project.train(EARLIER)
    with FileLock(earlier / "lock"):
        assert main(["clean", "--yes"]) == 0
    assert "a training runs there" in capsys.readouterr().out
    assert (earlier / "finished.ckpt").exists()


def test_what_git_tracks_and_dvc_names_stays(project: Project) -> None:
    tracked, named = project.train("4" * 16), project.train("5" * 16)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", str(tracked / "policy/policy.json")], ["commit", "-qm", "a"]):
        subprocess.run([*git, *command], cwd=project.root, check=True)
    out = {"path": str((named / "policy").relative_to(project.root))}
    (project.root / "dvc.lock").write_text(json.dumps({"stages": {"train": {"cmd": "true", "outs": [out]}}}))
    assert main(["clean", "--yes"]) == 0
    assert (tracked / "finished.ckpt").exists()
    assert (named / "finished.ckpt").exists()


def test_without_an_answer_of_git_nothing_goes(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    earlier = project.train(EARLIER)
    (project.root / ".git").write_text("no repository")
    assert main(["clean", "--yes"]) != 0
    assert "git cannot list what it tracks below runs/" in capsys.readouterr().err
    assert (earlier / "finished.ckpt").exists()


@pytest.mark.parametrize("text", ["", "<<<<<<< HEAD\nstages: {\n", "[1]"])
def test_a_lock_of_dvc_that_cannot_be_read_is_named(
    text: str, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    (project.root / "dvc.lock").write_text(text)
    assert main(["clean", "--yes"]) == 2
    assert "git and dvc.lock name files that stay, and must be read" in capsys.readouterr().err


def test_checkpoints_go_only_when_asked_for(project: Project) -> None:
    current = project.train(project.current)
    assert main(["clean", "--yes"]) == 0
    assert (current / "training").exists()
    assert main(["clean", "--yes", "kinds=[checkpoints]"]) == 0
    assert (current / "training").exists(), "trainer.start_from needs it, and nothing else has it"
    assert not (current / "finished.ckpt").exists()
    assert (current / "policy/policy.json").exists()


def test_deals_of_matches_go_only_when_asked_for(project: Project) -> None:
    played = project.root / "runs" / "scores" / "0123.json"
    played.parent.mkdir(parents=True)
    played.write_text("{}")
    assert main(["clean", "--yes"]) == 0
    assert played.exists()
    assert main(["clean", "kinds=[scores]", "--yes"]) == 0
    assert not played.parent.exists()


def test_an_unknown_kind_is_refused(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["clean", "kinds=[everything]"]) == 2
    assert "kinds[0]=everything: must be one of earlier, checkpoints" in capsys.readouterr().err
