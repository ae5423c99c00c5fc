"""The server process: uvicorn on one port."""

import contextlib
import logging
import signal
import threading
from collections.abc import Callable, Generator

import uvicorn

from cardlab.core.sockets import open_listener, url_host
from cardlab_play.application import make_application
from cardlab_play.connections import make_protocol
from cardlab_play.dispatcher import Dispatcher, make_dispatcher
from cardlab_play.options import PlayOptions

_SHUTDOWN_SECONDS = 10
_KEEP_ALIVE_SECONDS = 20  # an idle connection takes one of its address's places


class _Server(uvicorn.Server):
    """Stops on SIGHUP as on SIGTERM, unless it is ignored, as under nohup."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        with super().capture_signals(), contextlib.ExitStack() as handlers:
            if threading.current_thread() is threading.main_thread() and hasattr(signal, "SIGHUP"):
                before = signal.getsignal(signal.SIGHUP)
                if before != signal.SIG_IGN:
                    signal.signal(signal.SIGHUP, self.handle_exit)
                    handlers.callback(signal.signal, signal.SIGHUP, before)
            yield


def serve(options: PlayOptions, report: Callable[[str], None] = print) -> int:
    """Report the address and serve until Ctrl-C, SIGTERM or SIGHUP. Raises InvalidOption for a used port."""
    import torch  # noqa: PLC0415 - slow import

    server_socket = open_listener(options.host, options.port, "play.")  # first, so that a used port fails at once
    torch.set_num_threads(1)  # requests run in parallel threads, and networks are small
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    config = make_config(make_dispatcher(options))
    report(
        f"cardlab play on http://{url_host(options.host)}:{server_socket.getsockname()[1]} (Ctrl-C stops the server)"
    )
    with contextlib.suppress(KeyboardInterrupt):
        _Server(config).run(sockets=[server_socket])
    return 0


def make_config(dispatcher: Dispatcher, port: int = 0) -> uvicorn.Config:
    """Uvicorn's settings for a dispatcher. `port` is unused by a server that is given a socket."""
    options = dispatcher.options
    return uvicorn.Config(
        make_application(dispatcher),
        port=port,
        http=make_protocol(options),
        ws="none",
        log_level="warning",
        access_log=False,
        proxy_headers=bool(options.proxies),
        forwarded_allow_ips=list(options.proxies),
        server_header=False,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        limit_concurrency=1000,
        h11_max_incomplete_event_size=16_384,
    )
