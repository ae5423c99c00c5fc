"""One training in processes that torchrun or Ray Train starts: the bytes of `trainer.processes=2`."""

import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from cardlab.cli import main
from cardlab.core.exit_status import USAGE_ERROR
from cardlab.learners.distributed import ProcessGroup
from cardlab.tracking import Store
from cardlab.training.joined_group import ProcessLost, run_in_group, train_together
from learners.kuhn_training import kuhn_experiment

ARGUMENTS = ["game=thirty_one", "agent=td", "trainer=smoke", "trainer.checkpoint_seconds=0"]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "-m", "cardlab", "train"]


def weights(folder: Path) -> bytes:
    return (folder / "runs/thirty_one_td/latest/policy/weights.safetensors").read_bytes()


def project(folder: Path) -> Path:
    (folder / ".dvc").mkdir(parents=True)
    return folder


def torchrun(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {name: value for name, value in os.environ.items() if name != "MLFLOW_TRACKING_URI"}
    return subprocess.run(
        [*TORCHRUN, *ARGUMENTS, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_torchrun_has_the_bytes_of_two_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    alone, started = project(tmp_path / "alone"), project(tmp_path / "started")
    monkeypatch.chdir(alone)
    assert main(["train", *ARGUMENTS, "trainer.processes=2"]) == 0
    done = torchrun(started)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("policy: ") == 1
    assert weights(started) == weights(alone)
    monkeypatch.chdir(started)
    assert [run.info.status for _, run in Store().search_runs("", "thirty_one", 9)] == ["FINISHED"]
    wrong = torchrun(started, "trainer.processes=3", "seed=2")
    assert wrong.returncode == 1
    assert "trainer.processes=3: must be 2, the number of processes that were started" in wrong.stderr


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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster  # noqa: PLC0415  of an extra

    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    longer = [*ARGUMENTS, "trainer.processes=2", "trainer.decisions=50000"]
    monkeypatch.chdir(project(tmp_path / "alone"))
    assert main(["train", *longer]) == 0
    nodes = project(tmp_path / "nodes")
    monkeypatch.chdir(nodes)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    node = cluster.add_node(num_cpus=1)

    def remove() -> None:
        while not list(nodes.glob("runs/*/*/checkpoint.ckpt")):
            time.sleep(0.05)
        cluster.remove_node(node)

    ray.init(address=cluster.address)
    threading.Thread(target=remove, daemon=True).start()
    try:
        assert main(["train", *longer, "trainer.launcher=ray"]) == 0
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert "resuming after iteration" in capfd.readouterr().out
    assert weights(nodes) == weights(tmp_path / "alone")
    assert [run.info.status for _, run in Store().search_runs("", "thirty_one", 9)] == ["FINISHED"]
