"""The warm-up waits while requests arrive."""

import multiprocessing
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, cast

import numba.core.config
import pytest

from cardlab_play.agent_catalog import AgentCatalog
from cardlab_play.options import PlayOptions
from cardlab_play.warmup import IDLE_SECONDS, WarmUp


class Counting(WarmUp):
    """Records its tasks instead of compiling."""

    def __init__(self, *fields: Any) -> None:
        super().__init__(*fields)
        self.begun: list[str] = []

    def tasks(self) -> Iterator[tuple[str, Callable[[], None]]]:
        for name in ("moves", "advice"):
            yield name, lambda name=name: self.begun.append(name)


def warm_up(idle_seconds: Callable[[], float]) -> Counting:
    return Counting(cast(Any, None), idle_seconds)


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


@pytest.mark.parametrize("compiled", [False, True])
def test_missing_kernels_are_compiled_in_a_process_that_the_stop_kills(tmp_path, monkeypatch, compiled):
    monkeypatch.setattr(numba.core.config, "CACHE_DIR", str(tmp_path))
    if compiled:
        (tmp_path / "compiled_by_play").touch()
    one = Counting(AgentCatalog(PlayOptions()), lambda: IDLE_SECONDS)
    one.start()
    compilers = [child for child in multiprocessing.active_children() if child.name == "compiler"]
    assert len(compilers) == (0 if compiled else 1)
    if not compiled:
        time.sleep(0.5)
        assert one.begun == []  # the server waits
    one.stop()
    for child in compilers:
        assert child.exitcode == -9
