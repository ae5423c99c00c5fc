"""Names of processes. From a name, another process finds out whether the named process still runs."""

import os
import platform
from contextlib import suppress

import psutil

NOT_IN_DIGEST = "names processes"


def process_name(pid: int | None = None) -> str:
    """HOST:PID:START of a process of this machine, by default of the current one."""
    return f"{_host()}:{pid or os.getpid()}:{psutil.Process(pid).create_time():.0f}"


def is_alive(name: str) -> bool | None:
    """Whether a process of this machine runs; None for one of another machine."""
    host, pid, started = name.rsplit(":", 2)
    if host != _host():
        return None
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(int(pid))
        return process.status() != psutil.STATUS_ZOMBIE and abs(process.create_time() - float(started)) < 2
    return False


def _host() -> str:
    """Where process ids mean the same: this machine, and the container if there is one."""
    with suppress(OSError):
        return f"{platform.node()}/{os.stat('/proc/self/ns/pid').st_ino}"
    return platform.node()
