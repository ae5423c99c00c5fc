"""Compiled kernels: checkouts of the same code share them, and an edit of a game's file compiles them again."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHUFFLE = (
    "import numpy as np; from cardlab.games.cards.deck import shuffle; "
    "shuffle(np.zeros(2, np.int8), 2, np.uint64(1)); print(shuffle.stats.cache_hits.total())"
)


def cache_hits(source: Path, cache: Path) -> int:
    """How many kernels a new process finds compiled."""
    environment = {"PYTHONPATH": str(source), "XDG_CACHE_HOME": str(cache)}
    done = subprocess.run([sys.executable, "-c", SHUFFLE], env=environment, check=True, capture_output=True, text=True)
    return int(done.stdout)


@pytest.mark.slow
def test_a_copy_of_the_code_finds_what_another_has_compiled(tmp_path: Path) -> None:
    first, second = (tmp_path / name / "src" for name in ("first", "second"))
    for source in (first, second):
        shutil.copytree(ROOT / "src" / "cardlab", source / "cardlab", ignore=shutil.ignore_patterns("__pycache__"))
    assert [cache_hits(first, tmp_path), cache_hits(second, tmp_path)] == [0, 1]
    constants = second / "cardlab/games/thirty_one/record.py"  # has no kernels; numba compiles its values into others
    constants.write_text(constants.read_text() + "\nEDITED = 1\n")
    assert [cache_hits(second, tmp_path), cache_hits(first, tmp_path)] == [0, 1]


@pytest.mark.slow
def test_an_edit_of_any_file_of_a_project_compiles_its_kernels_again(tmp_path: Path) -> None:
    (package := tmp_path / "one" / "src" / "mine").mkdir(parents=True)
    kernel = "from cardlab.core.kernels import kernel\n{}\n@kernel\ndef {}(x):\n    return {}\n"
    (package / "inner.py").write_text(kernel.format("", "double", "2 * x"))
    (package / "outer.py").write_text(kernel.format("from .inner import double", "outer", "double(x) + 1"))

    def outer(checkout: str) -> str:
        code = "from mine.outer import outer; print(outer(5), outer.stats.cache_hits.total())"
        environment = {
            "PYTHONPATH": f"{ROOT / 'src'}:{tmp_path / checkout / 'src'}",
            "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        }
        command = [sys.executable, "-c", code]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.strip()

    assert outer("one") == "11 0"
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    assert outer("two") == "11 1"
    (package / "inner.py").write_text(kernel.format("", "double", "20 * x"))
    assert [outer("one"), outer("two")] == ["101 0", "11 1"]


def test_without_a_cache_folder_kernels_are_kept_in_a_private_one_or_in_memory(tmp_path: Path) -> None:
    environment = {"PYTHONPATH": str(ROOT / "src"), "XDG_CACHE_HOME": "/dev/null", "TMPDIR": str(tmp_path)}

    def warning(code: str) -> str:
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        return done.stderr.strip().rpartition("; ")[2]

    first = warning("import cardlab.core.kernels")
    (private,) = tmp_path.iterdir()
    assert first == f"compiled kernels are kept in {private}"
    private.chmod(0o777)  # numba would run what another user leaves there
    assert warning(SHUFFLE) == "kernels are compiled in memory, again in each process"
