"""Listening sockets of servers, and the addresses at which clients reach them."""

import errno
import socket
from ipaddress import ip_address

from cardlab.core.messages import InvalidOption

_BACKLOG = 2048  # connections that wait while the server starts
_LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  compared, not bound


def open_listener(host: str, port: int, prefix: str = "") -> socket.socket:
    """Open a listening socket. Raises InvalidOption for the key `prefix`host or `prefix`port."""
    if not host:
        raise InvalidOption(f"{prefix}host", host, "an address of this machine, or 0.0.0.0 for all of them")
    try:
        return _open_socket(host, port)
    except (OSError, UnicodeError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        not_here = getattr(error, "errno", None) in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)
        if not_here or isinstance(error, socket.gaierror | UnicodeError):
            raise InvalidOption(f"{prefix}host", host, f"an address of this machine ({reason})") from error
        with _open_socket(host, 0) as free:
            example = f"{prefix}port={free.getsockname()[1]}"
        raise InvalidOption(f"{prefix}port", port, f"free on {host} ({reason}), e.g. {example}") from error


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches `host`."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def url_host(host: str) -> str:
    """The host, in the form of URLs, at which a client on this machine reaches a server that listens on `host`."""
    name = _LOOPBACK.get(host, host)
    return f"[{name}]" if ":" in name else name


def _open_socket(host: str, port: int) -> socket.socket:
    server = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port in TIME_WAIT is free
        server.bind((host, port))
        server.listen(_BACKLOG)
    except BaseException:
        server.close()
        raise
    return server
