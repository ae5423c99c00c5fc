"""Fixtures: servers of `cardlab play` and clients."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from play_server import ApiClient, RunningServer, make_options, run_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """One server for all tests of a file, without limits."""
    with run_server(make_options(tmp_path_factory.mktemp("serving"))) as started:
        yield started


@pytest.fixture
def client(server: RunningServer) -> ApiClient:
    return server.client()


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., Any]:
    """Starts a server for one test: `with start(limits=…) as server`."""
    return lambda given=None, **options: run_server(make_options(tmp_path, **options), **(given or {}))
