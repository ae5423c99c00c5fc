"""People with a screen of one size or another, in Debian's Chromium, before the page of a real server."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from browsing import SCREENS, Person
from chromium import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    with chromium() as started:
        yield started


@pytest.fixture
def person(browser: "Browser", server: Any) -> Iterator[Callable[..., Person]]:
    """`person("phone")` is a browser of one's own; when the test is over, none may have found a fault."""
    people: list[Person] = []

    def arrive(screen: str = "desktop", **media: Any) -> Person:
        context = browser.new_context(**{"reduced_motion": "reduce", **SCREENS[screen], **media})
        people.append(Person(context.new_page(), server.base))
        return people[-1]

    yield arrive
    for one in people:
        one.page.context.close()
    assert [fault for one in people for fault in one.unexpected] == []
