import subprocess
from pathlib import Path

import pytest

from cardlab.core.running_code import code_digest
from cardlab.tracking.lineage import _origin, _warn_of_refusal, lineage, uncommitted

DVC = """
stages:
  code: {cmd: a, outs: [code.json: {cache: false}]}
  evaluate:
    foreach: ${experiments}
    do:
      cmd: b ${key}
      outs:
      - results/${key}/evaluation.json
      metrics:
      - figures/${key}.json: {cache: false}
"""
DVC_BELOW = """
stages:
  promote: {wdir: .., cmd: c, outs: [promotions/a.json]}
"""
WRITTEN = (
    "params.yaml", "dvc.lock", "code.json", "results/a/evaluation.json", "figures/a.json", "promotions/a.json",
    "champions/dvc.lock", "champions/a/policy.json",
)  # fmt: skip


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("code.py", *WRITTEN):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1\n")
    (tmp_path / "dvc.yaml").write_text(DVC)
    (tmp_path / "champions/dvc.yaml").write_text(DVC_BELOW)
    git("init", "-q")
    git("add", ".")
    git("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "first")
    return tmp_path


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout.strip()


def fresh_lineage() -> dict[str, str]:
    for cached in (_origin, uncommitted):
        cached.cache_clear()
    try:
        return lineage()
    finally:
        _origin.cache_clear()


def test_a_clean_clone(clone: Path) -> None:
    tags = fresh_lineage()
    assert tags["git.commit"] == git("rev-parse", "HEAD")
    assert (tags["git.dirty"], tags["git.folder"]) == ("false", ".")
    assert '"torch"' in tags["versions"]


@pytest.mark.parametrize("name", [*WRITTEN, "untracked.txt"])
def test_what_the_pipeline_writes_is_no_edit(clone: Path, name: str) -> None:
    (clone / name).write_text("2")
    assert fresh_lineage()["git.dirty"] == "false"


def test_an_edit_of_the_code_shows_also_from_a_folder_below(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (clone / "code.py").write_text("2")
    monkeypatch.chdir(clone / "results")
    tags = fresh_lineage()
    assert (tags["git.dirty"], tags["git.folder"]) == ("true", "results")
    diff = uncommitted(Path.cwd())
    (clone / "code.py").write_text("1\n")
    (clone / "the.diff").write_text(diff)
    monkeypatch.chdir(clone)
    git("apply", "the.diff")
    assert (clone / "code.py").read_text() == "2"


def test_new_code_that_runs_is_kept_and_other_new_files_are_not(clone: Path) -> None:
    (clone / "mine.py").write_text("A = 1\n")
    (clone / "notes.py").write_text("B = 1\n")
    code_digest([clone / "mine.py"])
    assert fresh_lineage()["git.dirty"] == "true"
    diff = uncommitted(clone)
    assert "+A = 1" in diff
    assert "notes" not in diff


def test_a_checkout_of_another_owner_is_named_with_the_remedy(
    clone: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    _warn_of_refusal.cache_clear()
    assert "git.commit" not in fresh_lineage()
    (line,) = [record.getMessage() for record in caplog.records]
    assert "dubious ownership" in line
    assert line.endswith(f"run: git config --global --add safe.directory {clone}")


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
