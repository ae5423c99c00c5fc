"""Fixtures: servers of `cardlab play` and clients."""

import hashlib
import secrets
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from play_server import ApiClient, RunningServer, make_options, run_server


@pytest.fixture(autouse=True)
def fixed_deals(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test is dealt the same cards each time that it runs."""
    numbers = count()

    def token_bytes(size: int) -> bytes:
        return hashlib.shake_256(f"{request.node.nodeid} {next(numbers)}".encode()).digest(size)

    chance = SimpleNamespace(token_bytes=token_bytes, token_urlsafe=secrets.token_urlsafe)
    monkeypatch.setattr("cardlab_play.deals.secrets", chance)


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
