"""Servers of `cardlab play` and people who visit them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from play_server import Running, Visitor, options_in, running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One server for the tests of a file, without limits that get in their way."""
    with running(options_in(tmp_path_factory.mktemp("serving"))) as started:
        yield started


@pytest.fixture
def visitor(server: Running) -> Visitor:
    return server.visitor()


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., Any]:
    """Starts a server of the test's own: `with start(limits=…) as server`."""
    return lambda given=None, **options: running(options_in(tmp_path, **options), **(given or {}))
