"""Programs beside the tests that need more than pip installs: without one its tests are skipped, in CI never."""

import os
import socket
from typing import NoReturn

import pytest


def missing(program: str) -> NoReturn:
    """Skip the test; fail it where CARDLAB_NO_SKIPS says, as `.ci/run` does, that all is installed."""
    if os.environ.get("CARDLAB_NO_SKIPS"):
        pytest.fail(f"{program} is not installed, and CARDLAB_NO_SKIPS forbids to do without", pytrace=False)
    pytest.skip(f"{program} is not installed")


def free_port() -> int:
    """A port of this machine on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
