"""Debian's Chromium, driven by playwright: a page of a fresh headless browser for each test that asks for one."""

import shutil
from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

from services import missing

if TYPE_CHECKING:
    from playwright.sync_api import Page

_FLAGS = (
    "--headless",
    "--no-sandbox",  # as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SECONDS = 40.0  # that a page may take, on a machine that does much else


@pytest.fixture
def page() -> "Generator[Page]":
    """A wide empty page; it waits `SECONDS` for whatever it is asked to show."""
    program = shutil.which("chromium")
    if program is None:
        missing("Chromium")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  only who uses the fixture needs it

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(_FLAGS))
        page = browser.new_page(viewport={"width": 1600, "height": 1000})
        page.set_default_timeout(1000 * SECONDS)
        yield page
        browser.close()
