"""The pictures of docs/images: each has its entry, and a terminal shows what stays on the screen."""

import re
import shutil
import sys
from pathlib import Path

import pytest
from PIL import Image

from tools import play_screenshots, screenshots

ROOT = Path(__file__).parents[2]


def test_every_picture_of_a_page_is_taken_by_a_tool() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    shown = {name for page in pages for name in re.findall(r"images/(\w+)\.png", page.read_text(encoding="utf-8"))}
    assert shown
    assert shown <= {*screenshots.PICTURES, *play_screenshots.PICTURES}
    assert {*screenshots.PICTURES} <= shown, "pictures that no page shows"
    assert {path.stem for path in (ROOT / "docs/images").iterdir()} >= shown


def test_a_terminal_shows_what_stays_on_the_screen(tmp_path: Path) -> None:
    (tmp_path / "steps.py").write_text(
        "import sys\nprint('first')\nprint('\\x1b[32mgone\\x1b[0m')\nprint('\\x1b[1A\\x1b[2Kkept', sys.stdout.isatty())"
        "\nprint('10 %\\r20 %')"
    )
    html = screenshots.terminal_html(f"{sys.executable} steps.py", tmp_path)
    text = re.sub(r"<[^>]+>", "", html)
    assert "first\nkept True\n20 %" in text
    assert "gone" not in text


@pytest.mark.slow
def test_pictures_have_their_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("chromium") is None:
        pytest.skip("needs Chromium")
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "index.html").write_text("<table><tr><td>0</td></tr></table>")
    words = ["report", "report_phone", "dashboard", "--folder", str(tmp_path), "--output", str(tmp_path / "images")]
    monkeypatch.setattr(sys, "argv", ["screenshots.py", *words])
    screenshots.main()
    sizes = {path.name: Image.open(path).size for path in (tmp_path / "images").iterdir()}
    assert sizes == {"report.png": (1440, 900), "report_phone.png": (390, 844)}
