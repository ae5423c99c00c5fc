"""Browser users with several screen sizes, in Chromium with a real server."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from browser_user import SCREENS, BrowserUser
from chromium import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    with chromium() as started:
        yield started


@pytest.fixture
def new_user(browser: "Browser", server: Any) -> Iterator[Callable[..., BrowserUser]]:
    """`new_user("phone")` opens a browser context. The test fails on unexpected console errors."""
    users: list[BrowserUser] = []

    def create(screen: str = "desktop", **media: Any) -> BrowserUser:
        context = browser.new_context(**{"reduced_motion": "reduce", **SCREENS[screen], **media})
        users.append(BrowserUser(context.new_page(), server.base))
        return users[-1]

    yield create
    for user in users:
        user.page.context.close()
    assert [problem for user in users for problem in user.unexpected] == []
