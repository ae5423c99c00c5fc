import subprocess
from pathlib import Path

import pytest

from cardlab.tracking.lineage import _origin, lineage


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("code.py", "params.yaml", "dvc.lock", "results/a/evaluation.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    git("init", "-q")
    git("add", ".")
    git("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "first")
    return tmp_path


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout.strip()


def fresh_lineage() -> dict[str, str]:
    _origin.cache_clear()
    try:
        return lineage()
    finally:
        _origin.cache_clear()


def test_a_clean_clone(clone: Path) -> None:
    tags = fresh_lineage()
    assert tags["git.commit"] == git("rev-parse", "HEAD")
    assert tags["git.dirty"] == "false"
    assert '"torch"' in tags["versions"]


@pytest.mark.parametrize("name", ["params.yaml", "dvc.lock", "results/a/evaluation.json", "untracked.txt"])
def test_what_the_pipeline_writes_is_no_edit(clone: Path, name: str) -> None:
    (clone / name).write_text("2")
    assert fresh_lineage()["git.dirty"] == "false"


def test_an_edit_of_the_code_shows_also_from_a_folder_below(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (clone / "code.py").write_text("2")
    monkeypatch.chdir(clone / "results")
    assert fresh_lineage()["git.dirty"] == "true"


def test_outside_a_clone_there_is_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert "git.commit" not in fresh_lineage()


def test_the_stage_and_the_experiment_of_dvc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DVC_STAGE", "train@thirty_one_ppo")
    monkeypatch.setenv("DVC_EXP_NAME", "brown-cow")
    monkeypatch.setenv("DVC_EXP_BASELINE_REV", "abc")
    tags = lineage()
    assert (tags["dvc.stage"], tags["dvc.experiment"], tags["dvc.baseline"]) == (
        "train@thirty_one_ppo", "brown-cow", "abc",
    )  # fmt: skip
    monkeypatch.delenv("DVC_EXP_NAME")
    assert "dvc.experiment" not in lineage()
