"""Links of the pages outside the built site, such as those of studies and model cards, lead to files."""

import re

from documentation.texts import PAGES, ROOT


def test_links_to_files_lead_to_files() -> None:
    pages = {*PAGES, *ROOT.glob("*.md")}
    links = [(page, link) for page in pages for link in re.findall(r"\]\(([^)\s#]+)", page.read_text(encoding="utf-8"))]
    assert links
    assert not [f"{page}: {link}" for page, link in links if ":" not in link and not (page.parent / link).exists()]
