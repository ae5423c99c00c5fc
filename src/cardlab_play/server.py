"""The server process: uvicorn on one port."""

import contextlib
import logging
from collections.abc import Callable

import uvicorn

from cardlab.core.sockets import open_listener, url_host
from cardlab_play.application import make_application
from cardlab_play.dispatcher import make_dispatcher
from cardlab_play.options import PlayOptions

_SHUTDOWN_SECONDS = 10
_KEEP_ALIVE_SECONDS = 75  # longer than most pauses between moves


def serve(options: PlayOptions, report: Callable[[str], None] = print) -> int:
    """Report the address and serve until Ctrl-C or SIGTERM. Raises InvalidOption for a used port."""
    import torch  # noqa: PLC0415 - slow import

    server_socket = open_listener(options.host, options.port, "play.")  # first, so that a used port fails at once
    torch.set_num_threads(1)  # requests run in parallel threads, and networks are small
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    application = make_application(make_dispatcher(options))
    config = uvicorn.Config(
        application,
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        limit_concurrency=1000,
        h11_max_incomplete_event_size=16_384,
    )
    report(
        f"cardlab play on http://{url_host(options.host)}:{server_socket.getsockname()[1]} (Ctrl-C stops the server)"
    )
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[server_socket])
    return 0
