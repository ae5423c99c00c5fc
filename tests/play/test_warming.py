"""The warm-up waits while requests come."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, cast

from cardlab_play.warmup import QUIET_SECONDS, Warming


class Counting(Warming):
    """Notes what it begins instead of compiling."""

    begun: list[str]

    def works(self) -> Iterator[tuple[str, Callable[[], None]]]:
        self.begun = []
        for name in ("moves", "advice"):
            yield name, lambda name=name: self.begun.append(name)


def warming(quiet_seconds: Callable[[], float]) -> Counting:
    return Counting(cast(Any, None), cast(Any, None), quiet_seconds)


def test_nothing_is_begun_while_requests_come_and_all_is_done_afterwards() -> None:
    quiet = [0.0]
    one = warming(lambda: quiet[0])
    thread = threading.Thread(target=one.run, daemon=True)
    thread.start()
    time.sleep(0.5)
    assert one.begun == []
    quiet[0] = QUIET_SECONDS
    thread.join(timeout=10)
    assert one.begun == ["moves", "advice"]


def test_it_ends_while_it_waits() -> None:
    one = warming(lambda: 0.0)
    thread = threading.Thread(target=one.run, daemon=True)
    thread.start()
    one.stop()
    thread.join(timeout=10)
    assert not thread.is_alive()
    assert one.begun == []
