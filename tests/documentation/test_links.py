"""Links of the pages outside the built site, such as those of studies and model cards, lead to files."""

import re
import subprocess

from documentation.texts import ROOT


def test_links_to_files_lead_to_files() -> None:
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    pages = [ROOT / name for name in listed.stdout.split()]
    assert pages
    links = [(page, link) for page in pages for link in re.findall(r"\]\(([^)\s#]+)", page.read_text(encoding="utf-8"))]
    assert not [f"{page}: {link}" for page, link in links if ":" not in link and not (page.parent / link).exists()]
