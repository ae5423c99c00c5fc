"""Where a server of this machine listens: an address taken, or told in one line why it cannot be."""

import errno
import socket

from cardlab.core.options import InvalidOption

_BACKLOG = 2048  # who comes before the server has started waits
_HERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def listener(host: str, port: int, prefix: str = "") -> socket.socket:
    """A socket that listens there. Raises InvalidOption for `prefix`host or `prefix`port, whichever is wrong."""
    if not host:
        raise InvalidOption(f"{prefix}host", host, "an address of this machine: 0.0.0.0 is all of them")
    try:
        return _open(host, port)
    except (OSError, UnicodeError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        elsewhere = getattr(error, "errno", None) in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)
        if elsewhere or isinstance(error, socket.gaierror | UnicodeError):
            raise InvalidOption(f"{prefix}host", host, f"an address of this machine ({reason})") from error
        with _open(host, 0) as free:
            example = f"{prefix}port={free.getsockname()[1]}"
        raise InvalidOption(f"{prefix}port", port, f"free on {host} ({reason}), e.g. {example}") from error


def reached_at(host: str) -> str:
    """What a program on this machine connects to where a server listens on `host`."""
    return _HERE.get(host, host)


def in_url(host: str) -> str:
    """`reached_at` as it stands in an address of the web."""
    here = reached_at(host)
    return f"[{here}]" if ":" in here else here


def _open(host: str, port: int) -> socket.socket:
    door = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port in TIME_WAIT is free
        door.bind((host, port))
        door.listen(_BACKLOG)
    except BaseException:
        door.close()
        raise
    return door
