"""A pool that plays chunks of a match on a Ray cluster. Ray is an optional dependency, imported on use."""

import logging
import os
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from itertools import islice
from typing import Any
from uuid import uuid4

from cardlab.core.messages import InvalidOption

NOT_IN_DIGEST = "decides where games are played, not how"

_ADDRESS = "RAY_ADDRESS"
Player = Callable[[Any], Any]  # plays a job and returns its result


@contextmanager
def connected(key: str) -> Generator[Any]:
    """The module ray, connected to the cluster of RAY_ADDRESS, to one on this machine, or to a new local one.

    An existing connection is used and kept. InvalidOption under `key` when Ray is not installed.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        ray: Any = import_module("ray")
    except ImportError as error:
        raise InvalidOption(key, "ray", "processes, or pip install 'cardlab[cluster]' first") from error
    if ray.is_initialized():
        yield ray
        return
    address = os.environ.get(_ADDRESS)
    try:
        ray.init(address=address or "auto", logging_level=logging.ERROR)
    except ConnectionError as error:
        if address:
            raise InvalidOption(_ADDRESS, address, f"that of a Ray cluster ({error})") from error
        quiet = {"include_dashboard": False, "logging_config": ray.LoggingConfig(log_level="ERROR")}
        ray.init(address="local", logging_level=logging.ERROR, **quiet)
    try:
        yield ray
    finally:
        ray.shutdown()


@contextmanager
def working_directory(path: str) -> Generator[None]:
    """Change to the folder `path`, if this node has it, so that relative paths keep their meaning."""
    before = os.getcwd()
    with suppress(OSError):
        os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)


class RayPool:
    """Plays jobs as Ray tasks of one core each."""

    def __init__(self, player: Player, key: str) -> None:
        """Send `player` to every node once. InvalidOption under `key` when Ray is not installed."""
        self._open = ExitStack()
        ray = self._open.enter_context(connected(key))
        self.cores = max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._player = ray.put((uuid4().hex, os.getcwd(), player))
        self._task = ray.remote(_play).options(num_cpus=1)

    def play(self, jobs: Iterable[Any]) -> Generator[tuple[Any, Any]]:
        """Each job with its result, in order; a job of a lost node is played again."""
        left = iter(jobs)
        ahead = deque(self._submit(job) for job in islice(left, 2 * self.cores))
        while ahead:
            job, future = ahead.popleft()
            yield job, future.result()
            ahead.extend(self._submit(job) for job in islice(left, 1))

    def _submit(self, job: Any) -> "tuple[Any, Future[Any]]":
        return job, self._task.remote(self._player, job).future()

    def shutdown(self) -> None:
        """Disconnect, unless the connection existed before."""
        self._open.close()


_kept: dict[str, Player] = {}  # the player of the last match in this process, with its agents


def _play(setting: tuple[str, str, Player], job: Any) -> Any:
    token, folder, player = setting
    if token not in _kept:
        _kept.clear()
        _kept[token] = player
    with working_directory(folder):
        return _kept[token](job)
