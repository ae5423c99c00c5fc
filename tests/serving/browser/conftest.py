"""People with a screen of one size or another, in Debian's Chromium, before the page of a real server."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from browsing import SCREENS, Person

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture
def person(page: "Page", server: Any) -> Iterator[Callable[..., Person]]:
    """`person("phone")` opens the start page; when the test is over, no browser may have found a fault."""
    people: list[Person] = []

    def arrive(screen: str = "desktop", **media: Any) -> Person:
        browser = page.context.browser
        assert browser is not None
        context = browser.new_context(**{"reduced_motion": "reduce", **SCREENS[screen], **media})
        people.append(Person(context.new_page(), server.base))
        return people[-1]

    yield arrive
    assert [fault for one in people for fault in one.faults] == []
