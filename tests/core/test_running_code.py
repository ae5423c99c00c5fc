"""The digest of the code of a process: kept for its life, compared with the one that the process is given."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cardlab.core.running_code import CodeChanged, check_unchanged, code_digest

PROGRAM = """
import pathlib, sys
from cardlab.core.running_code import code_digest
config = {"agent": {"_target_": "mine.Options"}}
before = code_digest(["cardlab.games.loop"], config)
assert "mine" in sys.modules
pathlib.Path("src/mine.py").write_text("class Options: edited = 1")
assert code_digest(["cardlab.games.loop"], config) == before
print(before)
"""


def test_a_process_keeps_its_digest_and_the_next_has_another(tmp_path: Path) -> None:
    for folder in ("conf", "src"):
        (tmp_path / folder).mkdir()
    (tmp_path / "src" / "mine.py").write_text("class Options: ...")
    path = str(Path(__file__).parents[2] / "src")
    run = [sys.executable, "-c", PROGRAM]
    given, found = (
        subprocess.run(
            run, cwd=tmp_path, env=os.environ | {"PYTHONPATH": path}, check=True, capture_output=True, text=True
        ).stdout
        for _ in range(2)
    )
    with pytest.raises(CodeChanged, match=r"the code has changed since this was started \(.*\); run the command again"):
        check_unchanged(given.strip(), found.strip())


def test_a_file_that_is_edited_while_it_is_imported_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "conf").mkdir()
    file = tmp_path / "edits_itself.py"
    file.write_text("from pathlib import Path\nPath(__file__).write_text('EDITED = 1')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    with pytest.raises(CodeChanged, match=r"edits_itself\.py: was changed while this process started"):
        code_digest(["cardlab.games.loop"], {"agent": {"_target_": "edits_itself.Options"}})
