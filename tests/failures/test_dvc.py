"""What DVC does with a corrupted entry of its cache, and with two commands at once: as in docs/reliability.md."""

import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cardlab.agents.policy_descriptions import PolicyError
from cardlab.agents.policy_files import describe, load_policy, save_policy
from cardlab.games.make_game import make_game
from cardlab.networks.mlp_options import MLPOptions
from plays import PLAYS

pytestmark = pytest.mark.slow

GAME = make_game("poker_squares")
STAGES = "stages: {train: {cmd: sh train.sh, outs: [model]}}\n"
COPY = "mkdir -p model\ncp made/* model/\n"  # a training that always ends the same
DVC = [sys.executable, "-m", "dvc"]
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith("DVC_")} | {
    "DVC_NO_ANALYTICS": "1"
}


def dvc(root: Path, *arguments: str, status: int = 0) -> str:
    done = subprocess.run(
        [*DVC, *arguments], cwd=root, env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with one stage, done, whose output is a policy."""
    network = MLPOptions(widths=(8,))
    save_policy(tmp_path / "made", describe(GAME, network, PLAYS["softmax"], {}), network.build(GAME.spec))
    (tmp_path / "dvc.yaml").write_text(STAGES)
    (tmp_path / "train.sh").write_text(COPY)
    dvc(tmp_path, "init", "--no-scm", "--quiet")
    dvc(tmp_path, "repro")
    return tmp_path


def test_a_corrupted_entry_of_the_cache(root: Path) -> None:
    """What is read-only DVC trusts, and who reads the policy names it; once it may be written, DVC looks again."""
    weights = root / "model" / "weights.safetensors"
    whole = weights.read_bytes()
    digest = hashlib.md5(whole, usedforsecurity=False).hexdigest()
    entry = root / ".dvc" / "cache" / "files" / "md5" / digest[:2] / digest[2:]
    entry.chmod(0o644)
    entry.write_bytes(whole[:100])
    entry.chmod(0o444)
    assert "Running stage" not in dvc(root, "repro"), "what lies in the project is whole"
    weights.unlink()
    dvc(root, "checkout", "--force")
    assert weights.read_bytes() == whole[:100]
    with pytest.raises(PolicyError, match=r"weights\.safetensors"):
        load_policy(GAME, root / "model")
    for path in (root / ".dvc" / "cache" / "files").rglob("*"):
        path.chmod(path.stat().st_mode | 0o200)
    assert "Running stage 'train'" in dvc(root, "repro")
    assert weights.read_bytes() == entry.read_bytes() == whole


def test_two_repros_at_once(root: Path) -> None:
    """One works; the other ends at once, names it, and harms nothing."""
    (root / "train.sh").write_text(f"touch begun\nwhile [ ! -e go ]; do sleep 0.1; done\n{COPY}")
    first = subprocess.Popen(
        [*DVC, "repro", "--force", "--no-run-cache"],
        cwd=root,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    deadline = time.monotonic() + 120
    while not (root / "begun").exists():
        assert first.poll() is None, first.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.05)
    told = dvc(root, "repro", "--force", status=255)
    (root / "go").touch()
    output = first.communicate(timeout=120)[0]
    assert "is busy, it is being blocked by" in told
    assert f"(PID {first.pid})" in told
    assert first.returncode == 0, output
    load_policy(GAME, root / "model")
    assert "Running stage" not in dvc(root, "repro")
