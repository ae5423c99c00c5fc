"""The diagram of the README is what its command draws."""

from pathlib import Path

from tools import parts_diagram


def test_the_diagram_is_current(tmp_path: Path) -> None:
    parts_diagram.draw(tmp_path / "parts.svg")
    assert (tmp_path / "parts.svg").read_bytes() == parts_diagram.PATH.read_bytes()
