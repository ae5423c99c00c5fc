"""A pool that plays chunks of a match on a Ray cluster. Ray is an optional dependency, imported on use."""

import logging
import os
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from itertools import islice
from pathlib import Path
from shutil import copyfile, copytree, ignore_patterns
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from cardlab.core.messages import InvalidOption
from cardlab.core.parts import CONF, add_project_to_path, conf_folders, project_code, project_folder

NOT_IN_DIGEST = "decides where games are played, not how"

_ADDRESS = "RAY_ADDRESS"
_JOB = "RAY_JOB_CONFIG_JSON_ENV_VAR"  # set in a job of `ray job submit`, whose --working-dir the nodes get
Player = Callable[[Any], Any]  # plays a job and returns its result


@contextmanager
def connected(key: str) -> Generator[Any]:
    """The module ray, connected to the cluster of RAY_ADDRESS, to one on this machine, or to a new local one.

    The nodes of a cluster get a copy of the project's code and configuration. An existing connection is used and kept
    as it is. InvalidOption under `key` when Ray is not installed.
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
        with TemporaryDirectory() as copy:  # Ray uploads it in `init`
            ray.init(address=address or "auto", runtime_env=_project_copy(Path(copy)), logging_level=logging.ERROR)
    except ConnectionError as error:
        if address:
            raise InvalidOption(_ADDRESS, address, f"that of a Ray cluster ({error})") from error
        quiet = {"include_dashboard": False, "logging_config": ray.LoggingConfig(log_level="ERROR")}
        ray.init(address="local", logging_level=logging.ERROR, **quiet)
    try:
        yield ray
    finally:
        ray.shutdown()


def _project_copy(folder: Path) -> dict[str, str] | None:
    """Ray's environment for the project, copied to `folder`; None without one, and in a job of `ray job submit`."""
    project, code = project_folder(), project_code()
    if project is None or code is None or len(conf_folders()) == 1 or _JOB in os.environ:
        return None
    hidden = ignore_patterns(".*", "__pycache__")
    copytree(project / CONF, folder / CONF, ignore=hidden)
    (folder / "src").mkdir()  # also for code in the root, which would shadow Python's own modules there
    for entry in code.iterdir():
        if entry.suffix == ".py":
            copyfile(entry, folder / "src" / entry.name)
        elif entry.name[0] != "." and not (entry / "pyvenv.cfg").exists() and any(entry.rglob("*.py")):
            copytree(entry, folder / "src" / entry.name, ignore=hidden)
    return {"working_dir": str(folder)}


@contextmanager
def working_directory(path: str) -> Generator[None]:
    """Change to the folder `path`, if this node has it, so that relative paths keep their meaning.

    The code of the project there can be imported, else that of the copy which Ray has brought.
    """
    before = os.getcwd()
    with suppress(OSError):
        os.chdir(path)
    add_project_to_path()
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
        self._setting = uuid4().hex, os.getcwd(), ray.put(player)
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
        return job, self._task.remote(self._setting, job).future()

    def shutdown(self) -> None:
        """Disconnect, unless the connection existed before."""
        self._open.close()


_kept: dict[str, Player] = {}  # the player of the last match in this process, with its agents


def _play(setting: tuple[str, str, Any], job: Any) -> Any:
    token, folder, player = setting
    with working_directory(folder):
        if token not in _kept:
            _kept.clear()
            _kept[token] = import_module("ray").get(player)  # here, since it may need the code of the project
        return _kept[token](job)
