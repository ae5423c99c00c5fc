"""`cardlab evaluate` and `cardlab tournament`, killed with -9 and run again, leave what they leave undisturbed."""

import json
import re
import signal
import time
from pathlib import Path

import pytest

from failures.children import Child

EVALUATE = [
    "evaluate", "game=thirty_one", "policy=greedy", "arena.references=[random,greedy_stock_only]", "arena.deals=400",
    "output={root}/results/evaluation.json", "record=false",
]  # fmt: skip
TOURNAMENT = [
    "tournament", "game=thirty_one", "agents=[random,greedy,greedy_stock_only]", "arena.deals=100",
    "output={root}/results", "arena.processes=1", "record=false",
]  # fmt: skip
SECONDS_TO_NOTICE = 30.0  # for a worker, that who gave it work is gone


def left(root: Path) -> dict[str, bytes]:
    """What the command has written, whole; half-written files of a killed process carry names of their own."""
    files = [path for path in (root / "results").rglob("*") if path.suffix in (".json", ".csv")]
    for path in files:
        assert path.suffix != ".json" or json.loads(path.read_text()), path
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


def run(root: Path, arguments: list[str], kill_at: float | None = None) -> int:
    """In a process of its own: how many operations on files there were; -1 when it was killed."""
    root.mkdir(exist_ok=True)
    arguments = [text.format(root=root) for text in arguments]  # only whole paths are counted
    child = Child(root, arguments, log=root.parent / f"{root.name}.log", kill_at=kill_at)
    code, said = child.wait(), child.log.read_text()
    if kill_at is not None and code in (-signal.SIGKILL, -signal.SIGPROF):
        return -1
    assert code == 0, said
    return int(re.findall(r"^file operations: (\d+)$", said, re.MULTILINE)[-1])


def workers(root: Path) -> list[Path]:
    """Processes that were started in `root` and live."""
    found: list[Path] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").resolve(strict=True) == root and (process / "cmdline").read_bytes():
                found.append(process)
        except OSError:  # it has ended, or is another user's
            continue
    return found


@pytest.mark.slow
@pytest.mark.parametrize("command", [EVALUATE, TOURNAMENT], ids=["evaluation", "tournament"])
def test_killed_before_each_operation_on_files(command: list[str], tmp_path: Path) -> None:
    """Each kill in the folder that the last one left, so that what was kept is gone on with."""
    operations = run(tmp_path / "whole", command)
    whole, root = left(tmp_path / "whole"), tmp_path / "cut"
    kills = 0
    for operation in range(operations):
        kills += run(root, command, operation) == -1
        assert left(root).items() <= whole.items(), "a file is there as it is to be, or not at all"
    assert kills > 1
    run(root, command)
    assert left(root) == whole


@pytest.mark.slow
def test_an_evaluation_by_two_processes_killed_in_the_middle(tmp_path: Path) -> None:
    both = [*EVALUATE, "arena.processes=2"]
    run(tmp_path / "whole", EVALUATE)
    root = tmp_path / "cut"
    root.mkdir()
    child = Child(root, [text.format(root=root) for text in (*both, "arena.deals=100000")], log=tmp_path / "log")
    while len(workers(root)) < 3:
        assert child.process.is_alive(), child.log.read_text()
        time.sleep(0.05)
    time.sleep(0.5)
    child.kill()
    assert left(root) == {}
    deadline = time.monotonic() + SECONDS_TO_NOTICE
    while still := workers(root):
        assert time.monotonic() < deadline, [process.joinpath("cmdline").read_bytes() for process in still]
        time.sleep(0.2)
    run(root, both)
    assert left(root) == left(tmp_path / "whole")
