"""The server process: uvicorn on one port, until it is told to stop."""

import contextlib
import logging
import signal
from collections.abc import Callable

import uvicorn

from cardlab.core.sockets import in_url, listener
from cardlab_play.application import make_application
from cardlab_play.dispatcher import make_desk
from cardlab_play.options import PlayOptions

_GRACE_SECONDS = 10
_KEEP_SECONDS = 75  # longer than most moves are thought about


def serve(options: PlayOptions, tell: Callable[[str], None] = print) -> int:
    """Serve until Ctrl-C or SIGTERM, with the address told; the exit status. InvalidOption for a port that is taken."""
    import torch  # noqa: PLC0415 - for policies only, and slow to import

    door = listener(options.host, options.port, "play.")  # taken before anything else is done
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
    tell(f"cardlab play on http://{in_url(options.host)}:{door.getsockname()[1]} (Ctrl-C ends it)")
    signal.signal(signal.SIGTERM, _ended)  # uvicorn raises the signal again when it has ended in good order
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[door])
    return 0


def _ended(_number: int, _frame: object) -> None:
    """What is left to do for SIGTERM: nothing."""
