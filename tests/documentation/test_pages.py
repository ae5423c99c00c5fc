"""The built pages: strict, from this machine alone, with tables that are what the code says; seen by Chromium."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import cardlab
from cardlab.agents.exploration import RandomAgent
from cardlab.core.parts import find_object, option_names, read_option
from cardlab.evaluation.options import ArenaOptions
from cardlab.experiments.sweep.options import SweepOptions
from cardlab.games.loop import play
from cardlab.training.options import TrainerOptions
from games.variants import VARIANTS

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).parents[2]
LOADED = {
    "script": "src",
    "img": "src",
    "link": "href",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "object": "data",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages, built as `make docs` builds them: a broken link or a missing page is a failure."""
    folder = tmp_path_factory.mktemp("site")
    path = os.pathsep.join([str(ROOT / "tools"), str(ROOT / "src")])
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT / "tools" / "website",
        env=os.environ | {"PYTHONPATH": path, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


class Loads(HTMLParser):
    """What a page makes the browser fetch; anchors are followed by people only."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        address = values.get(LOADED.get(tag, ""))
        if address and values.get("rel") not in ("canonical", "next", "prev"):
            self.found.append(address)


def test_no_page_fetches_anything_from_elsewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 25
    for page in pages:
        loads = Loads()
        loads.feed(page.read_text(encoding="utf-8"))
        assert loads.found
        for address in loads.found:
            assert not re.match(r"(\w+:)?//", address), f"{page.relative_to(site)}: {address}"
            if not address.startswith("data:") and page.name != "404.html":  # that one is for servers
                assert (page.parent / address.partition("?")[0]).resolve().is_file(), f"{page}: {address}"
    for style in site.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        assert not re.search(r"url\(\s*['\"]?(https?:)?//|@import\s+['\"]?(https?:)?//", text), style.name


@pytest.mark.parametrize("game", VARIANTS)
def test_a_page_of_a_game_has_its_columns_and_results(site: Path, game: str) -> None:
    text = (site / "games" / f"{game}.html").read_text(encoding="utf-8")
    cells = [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", text, re.DOTALL)]
    spec = cardlab.make_game(game).spec
    for block in (*spec.blocks, *spec.action_blocks, *spec.privileged_blocks):
        place = [at for at, cell in enumerate(cells) if cell == block.name]
        shown = {(cells[at + 1], cells[at + 2]) for at in place}
        assert (f"{block.start} to {block.stop - 1}", " × ".join(map(str, block.shape))) in shown, block.name
    for path in (ROOT / "results").glob("*/evaluation.json"):
        evaluation = json.loads(path.read_text(encoding="utf-8"))
        if evaluation["game"] == game:
            for figures in evaluation["references"].values():
                assert f"{figures['low']:.3f} to {figures['high']:.3f}" in cells


def test_the_page_of_the_configuration_has_every_option(site: Path) -> None:
    text = (site / "configuration.html").read_text(encoding="utf-8")
    cells = {re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", text, re.DOTALL)}
    single = {"trainer": {"": TrainerOptions}, "arena": {"": ArenaOptions}, "sweep": {"": SweepOptions}}
    for group in ("agent", "network", "opponents"):
        names = [name for name in option_names(group) if "/" not in name]
        single[group] = {name: find_object("_target_", read_option(group, name)["_target_"]) for name in names}
    for group, classes in single.items():
        for options in classes.values():
            missing = {f"{group}.{entry.name}" for entry in fields(options)} - cells
            assert not {name for name in missing if not any(cell.startswith(f"{name}.") for cell in cells)}


@pytest.mark.parametrize("game", VARIANTS)
def test_the_written_tables_name_every_block(game: str) -> None:
    """The page's own tables say what the columns mean: they must know the same blocks as the code."""
    from website.games import feature_choices  # noqa: PLC0415

    written = (ROOT / "docs" / "games" / f"{game}.md").read_text(encoding="utf-8")
    for features in feature_choices(game):
        spec = cardlab.make_game(game, **({} if features is None else {"features": features})).spec
        missing = [block.name for block in spec.blocks if f"`{block.name}`" not in written]
        assert not missing, f"{features}: {missing}"


@pytest.mark.parametrize("name", VARIANTS)
def test_the_record_table_is_that_of_the_state_dtype(name: str) -> None:
    written = (ROOT / "docs" / "games" / f"{name}.md").read_text(encoding="utf-8")
    game = cardlab.make_game(name)
    dtype = game.state_dtype
    section = written.partition(f"\n## Record ({dtype.itemsize} bytes)\n")[2].partition("\n## ")[0]
    table = re.findall(r"^\| (`.*?`) \| `(\w+)(?: \[(.*?)\])?` \| .+ \| (.+) \|$", section, re.MULTILINE)
    rows = [(field, *row) for names, *row in table for field in re.findall(r"\w+", names)]
    assert dtype.names is not None
    fields = [(field, dtype[field].base.name, ", ".join(map(str, dtype[field].shape))) for field in dtype.names]
    assert [row[:3] for row in rows] == fields
    known = [field for field, *_, hidden in rows if hidden == "known"]
    states = game.deal(64, rng := np.random.default_rng(0))
    for _ in play(game, states, [RandomAgent(game)] * game.spec.num_players, rng):
        for player in range(game.spec.num_players):
            info_states = game.information(states, np.full(64, player, dtype=np.int8))
            assert [field for field in known if not np.array_equal(info_states[field], states[field])] == []


def test_equations_are_drawn_without_a_script(site: Path) -> None:
    text = (site / "learners.html").read_text(encoding="utf-8")
    drawn = re.findall(r'<div class="math">(<math.*?</math>)</div>', text, re.DOTALL)
    assert len(drawn) == (ROOT / "docs" / "learners.md").read_text(encoding="utf-8").count("```math")
    assert all("&amp;" not in one and "\\" not in one and "<mtable" in one for one in drawn)


def test_every_document_has_its_place_in_the_navigation(site: Path) -> None:
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    first = (site / "index.html").read_text(encoding="utf-8")
    linked = set(re.findall(r'<a href="([^"#]+\.html)" class="md-nav__link', first))
    renamed = {str(page).replace("README.html", "index.html") for page in pages}
    assert renamed <= linked, sorted(renamed - linked)


@pytest.fixture
def watched(page: "Page") -> "Iterator[tuple[Page, list[str]]]":
    """A page of Chromium, and what goes wrong in it: errors, and requests that leave this disk."""
    wrong: list[str] = []
    page.on(
        "request", lambda request: None if request.url.startswith(("file:", "data:")) else wrong.append(request.url)
    )
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    yield page, wrong
    assert not wrong


@pytest.mark.slow
def test_pages_open_from_the_disk_and_fit_a_phone(site: Path, watched: "tuple[Page, list[str]]") -> None:
    page, _ = watched
    page.set_viewport_size({"width": 390, "height": 844})
    for path in sorted(set(site.rglob("*.html")) - {site / "404.html"}):  # that one is for servers
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path.name


@pytest.mark.slow
def test_search_finds_a_page_from_the_disk(site: Path, watched: "tuple[Page, list[str]]") -> None:
    page, _ = watched
    page.set_viewport_size({"width": 1280, "height": 844})
    page.goto((site / "index.html").as_uri())
    page.locator("[data-md-component=search-query]").click()
    page.keyboard.type("afterstates")
    result = page.locator(".md-search-result__link").first
    result.wait_for()
    assert result.get_attribute("href")
