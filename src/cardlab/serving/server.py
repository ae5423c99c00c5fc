"""The server process: uvicorn on one port, until it is told to stop."""

import contextlib
import logging
import signal
import socket
from collections.abc import Callable

import uvicorn

from cardlab.options import InvalidOption
from cardlab.serving.application import make_application
from cardlab.serving.desk import make_desk
from cardlab.serving.options import PlayOptions

_GRACE_SECONDS = 10
_KEEP_SECONDS = 75  # longer than most moves are thought about
_BACKLOG = 2048


def serve(options: PlayOptions, tell: Callable[[str], None] = print) -> int:
    """Serve until Ctrl-C or SIGTERM, with the address told; the exit status. InvalidOption for a port that is taken."""
    import torch  # noqa: PLC0415 - for policies only, and slow to import

    listener = _listen(options.host, options.port)
    torch.set_num_threads(1)  # requests are served side by side; a network's arithmetic is small
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    application = make_application(make_desk(options))
    config = uvicorn.Config(
        application,
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        timeout_keep_alive=_KEEP_SECONDS,
        limit_concurrency=1000,
        h11_max_incomplete_event_size=16_384,
    )
    tell(f"cardlab play on http://{_shown(options.host)}:{listener.getsockname()[1]} (Ctrl-C ends it)")
    signal.signal(signal.SIGTERM, _ended)  # uvicorn raises the signal again when it has ended in good order
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])
    return 0


def _ended(_number: int, _frame: object) -> None:
    """What is left to do for SIGTERM: nothing."""


def _listen(host: str, port: int) -> socket.socket:
    """A socket on that address, taken before anything else is done."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(_BACKLOG)  # who comes before the server has started waits
    except (OSError, UnicodeError) as error:
        listener.close()
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        if isinstance(error, socket.gaierror | UnicodeError):
            raise InvalidOption("play.host", host, f"an address of this machine ({reason})") from error
        raise InvalidOption("play.port", port, f"free on {host} ({reason}), e.g. play.port=0 for any") from error
    return listener


def _shown(host: str) -> str:
    """An address that a browser on this machine can open."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"[{shown}]" if ":" in shown else shown
