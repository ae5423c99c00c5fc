"""Code that is edited, or a package that is exchanged, at a random moment of a training with seeds.

No seed is made by two codes: each policy has the bytes of an undisturbed training. The number of the kill seeds what
happens, and when.
"""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from cardlab.training.checkpoint_files import OTHER_VERSIONS

KILLS = 2
SOURCE = Path(__file__).parents[2] / "src"
SECONDS = 12.0  # within which it happens
COMMAND = ["train", "experiment=kuhn/reinforce", "seeds=2", "trainer.decisions=250000", "trainer.checkpoint_seconds=0"]
PROGRAM = [sys.executable, "-c", "import sys; from cardlab.cli import main; sys.exit(main())"]
OTHER_TORCH = """
import importlib.metadata as metadata
known = metadata.version
metadata.version = lambda name: "1.0" if name == "torch" else known(name)
"""
POLICY = re.compile(r"policy: (\S+)  \(seed (\d+)\)")


def start(project: Path, *paths: Path, **environment: str) -> subprocess.Popen[str]:
    """The training in `project`, in a session of its own."""
    path = os.pathsep.join(map(str, (*paths, SOURCE)))
    environment = {**os.environ, "PYTHONPATH": path, "DVC_ROOT": str(project), "OMP_NUM_THREADS": "1", **environment}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    return subprocess.Popen([*PROGRAM, *COMMAND, "-q"], cwd=project, env=environment, **pipes)  # type: ignore[call-overload]


def weights(project: Path, said: str) -> dict[str, bytes]:
    """Seed → weights of the policies that a training has named."""
    return {seed: (project / folder / "weights.safetensors").read_bytes() for folder, seed in POLICY.findall(said)}


def edit(project: Path) -> None:
    """Double the loss."""
    file = project / "src" / "mine" / "reinforce.py"
    text = file.read_text()
    assert "total = loss -" in text
    file.write_text(text.replace("total = loss -", "total = 2 * loss -"))


@dataclass(frozen=True)
class Undisturbed:
    """A project, and the weights by seed of trainings with its code as it is, and as it is edited."""

    project: Path
    before: dict[str, bytes]
    after: dict[str, bytes]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    folder = tmp_path_factory.mktemp("undisturbed")
    environment = os.environ | {"PYTHONPATH": str(SOURCE)}
    subprocess.run([*PROGRAM, "init", "mine"], cwd=folder, env=environment, check=True)
    for name in ("before", "after"):
        shutil.copytree(folder / "mine", folder / name)
    edit(folder / "after")
    before, after = (weights(folder / name, start(folder / name).communicate()[0]) for name in ("before", "after"))
    assert before.keys() == after.keys() == {"7", "8"}
    assert not {*before.values()} & {*after.values()}
    return Undisturbed(folder / "mine", before, after)


@pytest.mark.slow
def test_no_seed_is_made_by_two_codes(undisturbed: Undisturbed, kill: int, tmp_path: Path) -> None:
    chance = random.Random(f"changed {kill}")
    edits, number = chance.choice([True, False]), chance.choice([None, signal.SIGTERM, signal.SIGKILL])
    project = Path(shutil.copytree(undisturbed.project, tmp_path / "mine"))
    first = start(project)
    if chance.random() < 0.7:  # between its first checkpoint and its end
        while first.poll() is None and not list(project.glob("runs/*/*/checkpoint.ckpt")):
            time.sleep(0.05)
        time.sleep(chance.uniform(0, SECONDS / 6))
    else:
        time.sleep(chance.uniform(0, SECONDS))
    if edits:
        edit(project)
    if number is not None:
        os.killpg(first.pid, number)
    for seed, content in weights(project, first.communicate()[0]).items():
        assert content == undisturbed.before[seed], "it is of the code with which the command began"

    (tmp_path / "sitecustomize.py").write_text(OTHER_TORCH)
    paths = [] if edits else [tmp_path]
    again = start(project, *paths)
    said, errors = again.communicate()
    if not edits and again.returncode:
        assert re.search(r"was written with torch 2\S+, here is torch 1\.0; set \w+=1 to resume", errors), errors
        again = start(project, *paths, **{OTHER_VERSIONS: "1"})
        said, errors = again.communicate()
    assert again.returncode == 0, errors
    assert weights(project, said) == (undisturbed.after if edits else undisturbed.before)
