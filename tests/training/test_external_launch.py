"""One training in processes that torchrun or Ray Train starts: the bytes of `trainer.processes=2`."""

import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from cardlab.cli import main
from cardlab.core.exit_status import USAGE_ERROR
from cardlab.learners.distributed import ProcessGroup
from cardlab.tracking import Store
from cardlab.training.external_launch import ProcessLost, run_in_group, train_together
from failures.children import Child
from learners.kuhn_training import kuhn_experiment
from ray_nodes import two_nodes
from services import free_port

ARGUMENTS = [
    "game=thirty_one", "agent=td", "trainer=smoke", "trainer.decisions=50000", "trainer.checkpoint_seconds=0",
]  # fmt: skip
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "-m", "cardlab", "train"]


def weights(folder: Path) -> bytes:
    return (folder / "runs/thirty_one_td/latest/policy/weights.safetensors").read_bytes()


def project(folder: Path, database: Path) -> Path:
    (folder / ".dvc").mkdir(parents=True)
    shutil.copyfile(database, folder / "mlflow.db")
    return folder


@pytest.fixture(scope="module")
def of_two_processes(tmp_path_factory: pytest.TempPathFactory, fresh_database: Path) -> bytes:
    """The weights of `trainer.processes=2`, which starts its second process itself."""
    alone = project(tmp_path_factory.mktemp("alone"), fresh_database)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        patch.chdir(alone)
        assert main(["train", *ARGUMENTS, "trainer.processes=2"]) == 0
    return weights(alone)


@pytest.mark.slow
def test_torchrun_has_the_bytes_of_two_processes(
    of_two_processes: bytes, fresh_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.chdir(started := project(tmp_path / "started", fresh_database))
    done = subprocess.run([*TORCHRUN, *ARGUMENTS], cwd=started, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("policy: ") == 1
    assert weights(started) == of_two_processes
    assert [run.info.status for _, run in Store().search_runs("", "thirty_one", 9)] == ["FINISHED"]


def test_another_number_of_processes_is_refused_and_none_waits(tmp_path: Path) -> None:
    """With the variables that torchrun sets; the processes are forks."""
    meeting: dict[str, Any] = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": "2"}
    command = ["train", *ARGUMENTS, "trainer.processes=3"]
    first, second = (Child(tmp_path, command, log=tmp_path / f"log{rank}", RANK=str(rank), **meeting) for rank in "01")
    assert (first.wait(60), second.wait(60)) == (USAGE_ERROR, 0)
    assert "trainer.processes=3: must be 2, the number of processes that were started" in first.log.read_text()


def test_several_seeds_are_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name, value in (("MASTER_ADDR", "127.0.0.1"), ("MASTER_PORT", "0"), ("RANK", "0"), ("WORLD_SIZE", "2")):
        monkeypatch.setenv(name, value)
    assert main(["train", *ARGUMENTS, "seeds=2"]) == USAGE_ERROR
    assert "WORLD_SIZE=2: must be left out with seeds" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "kind"),
    [("CUDA out of memory", RuntimeError), ("[gloo/transport/tcp/pair.cc:547] Connection closed by peer", ProcessLost)],
)
def test_only_a_lost_connection_is_a_lost_process(
    monkeypatch: pytest.MonkeyPatch, text: str, kind: type[RuntimeError]
) -> None:
    for name, value in (("MASTER_ADDR", "127.0.0.1"), ("MASTER_PORT", "0"), ("RANK", "0"), ("WORLD_SIZE", "1")):
        monkeypatch.setenv(name, value)

    def command() -> int:
        with train_together(kuhn_experiment("td"), Path("checkpoint.ckpt"), None):
            raise RuntimeError(text)

    with pytest.raises(RuntimeError, match=re.escape(text)) as raised:
        run_in_group(ProcessGroup(0, 1), "cpu", command)
    assert type(raised.value) is kind


@pytest.mark.slow
def test_a_lost_node_changes_nothing(
    of_two_processes: bytes,
    fresh_database: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.chdir(nodes := project(tmp_path / "nodes", fresh_database))
    with two_nodes(head_cpus=2) as (_, cluster, node):

        def remove() -> None:
            while not list(nodes.glob("runs/*/*/checkpoint.ckpt")):
                time.sleep(0.05)
            cluster.remove_node(node)

        threading.Thread(target=remove, daemon=True).start()
        assert main(["train", *ARGUMENTS, "trainer.processes=2", "trainer.launcher=ray"]) == 0
    assert "resuming after iteration" in capfd.readouterr().out
    assert weights(nodes) == of_two_processes
    assert [run.info.status for _, run in Store().search_runs("", "thirty_one", 9)] == ["FINISHED"]
