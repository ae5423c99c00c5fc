"""A remote that clones share, by its address alone: a folder, s3 and ssh, each with a real server."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from remotes import Remote, s3_remote, ssh_remote

pytestmark = pytest.mark.slow

STAGES = "stages: {train: {cmd: sh train.sh, outs: [model], deps: [train.sh]}}\n"
TRAIN = "mkdir -p model\necho weights > model/weights\necho policy > model/policy.json\n"
DVC = [sys.executable, "-m", "dvc"]
ADD_REMOTE = [*DVC, "remote", "add", "--local", "--default", "shared"]
HIDDEN = ("DVC_ROOT", "DVC_STAGE")


@pytest.fixture(params=["folder", "s3", "ssh"])
def remote(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Remote]:
    if request.param == "folder":
        yield Remote(str(tmp_path / "shared"))
    elif request.param == "s3":
        with s3_remote() as remote:
            yield remote
    else:
        with ssh_remote(tmp_path) as remote:
            yield remote


def run(folder: Path, environment: Mapping[str, str], *command: str) -> str:
    """Output of a command, errors included."""
    known = {key: value for key, value in os.environ.items() if key not in HIDDEN} | {"DVC_NO_ANALYTICS": "1"}
    done = subprocess.run(
        command, cwd=folder, env=known | environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def git(folder: Path, *arguments: str) -> str:
    return run(folder, {}, "git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A clone whose one stage is done; what it made is in no commit."""
    root = tmp_path / "project"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "dvc.yaml").write_text(STAGES)
    (root / "train.sh").write_text(TRAIN)
    run(root, {}, *DVC, "init", "--quiet")
    run(root, {}, *DVC, "repro")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "trained")
    return root


def test_what_one_clone_pushes_the_other_need_not_make(project: Path, remote: Remote, tmp_path: Path) -> None:
    """Keys and endpoints are those of the user, as every tool finds them."""
    environment = remote.environment
    run(project, environment, *ADD_REMOTE, remote.address)
    assert git(project, "status", "--porcelain") == "", "the address is in no file of git"
    assert "3 files pushed" in run(project, environment, *DVC, "push")  # the two files, and the list of them
    shutil.rmtree(project / ".dvc" / "cache")

    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", str(project), str(other))
    assert not (other / "model").exists()
    run(other, environment, *ADD_REMOTE, remote.address)
    run(other, environment, *DVC, "pull")
    assert (other / "model" / "weights").read_text() == "weights\n"
    assert "Running stage" not in run(other, environment, *DVC, "repro")
    assert git(other, "status", "--porcelain") == ""
    assert "up to date" in run(other, environment, *DVC, "push").lower()
    assert "in sync" in run(other, environment, *DVC, "status", "--cloud")
