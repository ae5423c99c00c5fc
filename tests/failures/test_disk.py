"""A full disk, a folder that may not be written, locks that are left over, a clock that jumps."""

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cardlab.core.exit_status import FAILED, run_program
from cardlab.core.files import write_atomically
from cardlab.tracking import Store
from cardlab.training.checkpoint_files import CheckpointError
from cardlab.training.experiment import TRAINING_FILE, Experiment
from cardlab.training.run import lock_run_folder, train
from cardlab.training.start_point import write_continuation
from failures.children import Child
from services import missing
from training.test_resume import Interrupted, experiment_of, run

SIZE = 400  # KiB


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk with hardly any room."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE}k", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode:
        missing("the right to mount a disk")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


class Filler:
    """A log that fills the disk after one iteration and frees it after another."""

    def __init__(self, disk: Path, fill: int, free: int, cut: int = -1) -> None:
        self.file, self.fill, self.free, self.cut = disk / "filler", fill, free, cut

    def log_metrics(self, metrics: Mapping[str, float], step: int) -> None:
        if metrics["train/iteration"] == self.fill:
            with self.file.open("wb", buffering=0) as sink, suppress(OSError):
                while sink.write(bytes(1024)):
                    pass
        if metrics["train/iteration"] == self.free:
            self.file.unlink()
        if metrics["train/iteration"] == self.cut:
            raise Interrupted


def without_snapshots() -> Experiment:
    """Checkpoints only: a policy kept on the way is a result; a training that cannot write one ends, in one line."""
    experiment = experiment_of("td")
    return replace(experiment, trainer=replace(experiment.trainer, snapshots=0))


def train_there(experiment: Experiment, folder: Path, log: Filler, told: list[str]) -> str:
    return train(experiment, run_dir=folder / "run", model_dir=folder / "model", log=log, report=told.append).digest


def test_a_full_disk_costs_no_training_and_not_the_last_checkpoint(small_disk: Path, tmp_path: Path) -> None:
    experiment = without_snapshots()
    whole = run(experiment, tmp_path / "whole").digest
    told: list[str] = []
    with pytest.raises(Interrupted):
        train_there(experiment, small_disk, Filler(small_disk, fill=4, free=-1, cut=7), told)
    complaints = [line for line in told if "cannot be written" in line]
    assert len(complaints) == 1, told
    checkpoint = small_disk / "run" / "checkpoint.ckpt"
    assert complaints[0].startswith(f"{checkpoint}: cannot be written (No space left on device); the last good one")
    assert list((small_disk / "run").glob("*.part")) == []
    (small_disk / "filler").unlink()
    again: list[str] = []
    assert train_there(experiment, small_disk, Filler(small_disk, fill=-1, free=-1), again) == whole
    assert again[0].startswith("resuming after iteration 3 "), "the checkpoint before the disk was full"


def test_a_disk_that_is_full_at_the_end_is_one_line(small_disk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    experiment = experiment_of("td")
    log = Filler(small_disk, fill=4, free=-1)

    def body() -> None:
        train_there(experiment, small_disk, log, [])

    assert run_program(body) == FAILED
    printed = capsys.readouterr().err
    assert len(printed.splitlines()) == 1, printed
    assert str(small_disk) in printed
    assert "No space left on device" in printed or "no space left on device" in printed
    assert (small_disk / "run" / "checkpoint.ckpt").exists()


def lock_as_nobody(arguments: Sequence[str]) -> int:
    """Body of a child: lock a run folder, as another user where the tests are root's, whom no mode stops."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)

    def body() -> None:
        with lock_run_folder(Path(arguments[0]) / "squares" / "one"):
            pass

    return run_program(body)


def test_a_folder_that_may_not_be_written_is_one_line(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory() as parent:  # pytest's own folders are closed to others
        Path(parent).chmod(0o755)
        folder = Path(parent) / "runs"
        folder.mkdir(mode=0o555)
        child = Child(Path(parent), [str(folder)], log=tmp_path / "log", body=lock_as_nobody)
        assert child.wait() == FAILED, child.log.read_text()
        error, count = child.log.read_text().splitlines()
        assert error == f"cardlab: error: {folder}/squares: permission denied"
        assert count.startswith("file operations: "), "the line of every child"
        assert list(folder.iterdir()) == []


def test_a_checkpoint_folder_that_may_no_longer_be_written_costs_no_training(tmp_path: Path) -> None:
    class Taken(Filler):
        def log_metrics(self, metrics: Mapping[str, float], step: int) -> None:
            if metrics["train/iteration"] == 3:
                (tmp_path / "run").rename(tmp_path / "elsewhere")
                (tmp_path / "run").write_text("a file where the folder was")
            if metrics["train/iteration"] == 6:
                (tmp_path / "run").unlink()
                (tmp_path / "elsewhere").rename(tmp_path / "run")

    told: list[str] = []
    digest = train_there(without_snapshots(), tmp_path, Taken(tmp_path, -1, -1), told)
    assert digest == run(experiment_of("td"), tmp_path / "whole").digest
    assert sum("cannot be written" in line for line in told) == 1


def test_locks_of_processes_that_are_gone_stop_nobody(store: Store, tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    run_dir.mkdir()
    (run_dir / "lock").write_text("12345\n")
    (run_dir / "checkpoint.part").write_bytes(b"torn")
    Path(f"{store.root}/mlflow.db.lock").touch()
    began = time.monotonic()
    run(experiment_of("td"), tmp_path)
    first = store.start_run("thirty_one", "ppo")
    first.finish()
    store.start_run("thirty_one", "ppo", resume=first.id).finish()
    assert time.monotonic() - began < 60


def test_a_clock_that_is_set_back_changes_no_result(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, jumps = time.time, iter([0.0, 3600.0, -86400.0, 7.0, -3600.0] * 1000)
    monkeypatch.setattr(time, "time", lambda: real() + next(jumps))
    with store.start_run("kuhn", "td") as tracked:
        trained = train(
            experiment_of("td"),
            run_dir=tmp_path / "run",
            model_dir=tmp_path / "model",
            log=tracked,
            report=lambda _: None,
        )
    monkeypatch.undo()
    assert trained.digest == run(experiment_of("td"), tmp_path / "whole").digest
    metrics = sorted(store.client.get_metric_history(tracked.id, "train/iteration"), key=lambda metric: metric.step)
    assert [metric.value for metric in metrics] == list(range(1, 13))
    stored = store.client.get_run(tracked.id)
    assert stored.data.metrics["train/iteration"] == metrics[-1].value, (
        "the last is that of the last step, not of the clock"
    )
    assert stored.info.end_time >= 0
    assert stored.info.status == "FINISHED"


def test_a_checkpoint_error_is_no_bug(capsys: pytest.CaptureFixture[str]) -> None:
    def body() -> None:
        raise CheckpointError("x.ckpt: cannot be written (No space left on device); the last good one stays")

    assert run_program(body) == FAILED
    assert capsys.readouterr().err.startswith("cardlab: error: x.ckpt: cannot be written")


@pytest.mark.parametrize("name", ["file/below", "", "file", 300 * "x", "loop"])
def test_a_path_that_cannot_be_is_one_line(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    path = tmp_path / name

    def body() -> None:
        path.mkdir() if name == "file" else path.write_text("")

    assert run_program(body) == FAILED
    printed = capsys.readouterr().err
    assert printed.startswith(f"cardlab: error: {path}: ")
    assert len(printed.splitlines()) == 1


def test_too_little_memory_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(lambda: len(np.zeros(2**50))) == FAILED
    assert capsys.readouterr().err.startswith("cardlab: error: too little memory: Unable to allocate")


def test_a_bug_in_the_use_of_files_keeps_its_trace() -> None:
    def body() -> None:
        (Path(os.sep) / "nowhere" / "at all").read_text()

    with pytest.raises(FileNotFoundError):
        run_program(body)


def test_a_stretch_that_finds_no_room_is_told_in_one_line(small_disk: Path, tmp_path: Path) -> None:
    experiment = without_snapshots()
    finished = run(experiment, tmp_path / "whole").checkpoint
    write_continuation(finished, experiment, small_disk / "training")
    kept = (small_disk / "training" / TRAINING_FILE).read_bytes()
    with (small_disk / "filler").open("wb", buffering=0) as sink, suppress(OSError):
        while sink.write(bytes(1024)):
            pass
    line = rf"^{small_disk}/training/{TRAINING_FILE}: cannot be written \(No space left on device\)$"
    with pytest.raises(CheckpointError, match=line):
        write_continuation(finished, experiment, small_disk / "training")
    assert [file.name for file in (small_disk / "training").iterdir()] == [TRAINING_FILE]
    assert (small_disk / "training" / TRAINING_FILE).read_bytes() == kept


def test_a_file_is_written_whole_or_not_at_all(small_disk: Path) -> None:
    """What stood there stays, and nothing lies beside it."""
    path = small_disk / "new" / "figures.json"
    write_atomically(path, "old")
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, "x" * 2 * 1024 * SIZE)
    assert path.read_text() == "old"
    assert list(path.parent.iterdir()) == [path]


def test_a_device_is_written_to_as_it_is() -> None:
    read, write = os.pipe()
    path = Path(f"/dev/fd/{write}")
    write_atomically(path, "figures")
    os.close(write)
    with os.fdopen(read) as pipe:
        assert pipe.read() == "figures"
