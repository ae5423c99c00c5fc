"""The warm-up waits while requests arrive."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, cast

from cardlab_play.warmup import IDLE_SECONDS, WarmUp


class Counting(WarmUp):
    """Records its tasks instead of compiling."""

    begun: list[str]

    def tasks(self) -> Iterator[tuple[str, Callable[[], None]]]:
        self.begun = []
        for name in ("moves", "advice"):
            yield name, lambda name=name: self.begun.append(name)


def warm_up(idle_seconds: Callable[[], float]) -> Counting:
    return Counting(cast(Any, None), cast(Any, None), idle_seconds)


def test_tasks_wait_while_requests_arrive() -> None:
    quiet = [0.0]
    one = warm_up(lambda: quiet[0])
    thread = threading.Thread(target=one.run, daemon=True)
    thread.start()
    time.sleep(0.5)
    assert one.begun == []
    quiet[0] = IDLE_SECONDS
    thread.join(timeout=10)
    assert one.begun == ["moves", "advice"]


def test_stop_ends_the_wait() -> None:
    one = warm_up(lambda: 0.0)
    thread = threading.Thread(target=one.run, daemon=True)
    thread.start()
    one.stop()
    thread.join(timeout=10)
    assert not thread.is_alive()
    assert one.begun == []
