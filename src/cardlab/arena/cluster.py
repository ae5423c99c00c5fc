"""A Ray cluster as a place where chunks of a match are played; Ray is an extra, imported when it is asked for."""

import logging
import os
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from cardlab.options import InvalidOption

_ADDRESS = "RAY_ADDRESS"


@contextmanager
def connected(key: str) -> Generator[Any]:
    """Ray itself, connected to the cluster that RAY_ADDRESS names or that runs on this machine, else to one of its own.

    A connection that was there before is used and kept. InvalidOption under `key` when Ray is not installed.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # a task without a GPU keeps what the user set
    try:
        ray: Any = import_module("ray")  # an extra, and a second to import
    except ImportError as error:
        raise InvalidOption(key, "ray", "processes, or pip install 'cardlab[cluster]' first") from error
    ours = not ray.is_initialized()
    if ours:
        try:
            ray.init(address=os.environ.get(_ADDRESS, "auto"), logging_level=logging.ERROR, log_to_driver=True)
        except ConnectionError as error:
            if os.environ.get(_ADDRESS):
                raise InvalidOption(_ADDRESS, os.environ[_ADDRESS], f"that of a Ray cluster ({error})") from error
            ray.init(address="local", logging_level=logging.ERROR, include_dashboard=False)
    try:
        yield ray
    finally:
        if ours:
            ray.shutdown()


class RayPool:
    """Runs functions as Ray tasks; has what the arena needs of concurrent.futures.Executor."""

    def __init__(self, ray: Any, setting: Any, play: Callable[[Any, Any], Any]) -> None:
        """`setting` goes to every node once; tasks are `play(setting, job)`."""
        self._ray = ray
        self._setting = ray.put(setting)
        self._task = ray.remote(play).options(num_cpus=1)

    def submit(self, job: Any) -> "Future[Any]":
        """The result of one job, begun wherever a core is free."""
        return self._task.remote(self._setting, job).future()
