"""Debian's Chromium, driven by playwright: a headless browser, or a page of one for each test that asks."""

import shutil
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from services import missing

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

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


@contextmanager
def chromium() -> "Iterator[Browser]":
    """A headless browser without pages."""
    program = shutil.which("chromium")
    if program is None:
        missing("Chromium")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  only who uses it needs it

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(_FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def page() -> "Generator[Page]":
    """A wide empty page; it waits `SECONDS` for whatever it is asked to show."""
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1600, "height": 1000})
        page.set_default_timeout(1000 * SECONDS)
        yield page
