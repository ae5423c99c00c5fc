"""A server of `cardlab play` inside the test's process, asked over the wire."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import requests
import torch
import uvicorn

from cardlab_play.application import make_application
from cardlab_play.dispatcher import Desk, make_desk
from cardlab_play.options import Limits, PlayOptions
from services import free_port

FREE = Limits(session_rate=1_000_000, address_rate=1_000_000, tables_per_session=1000)

# every game with scripted agents that need no time; Thirty-One at the largest table too
ORDERS: dict[str, dict[str, Any]] = {
    "poker_squares": {"game": "poker_squares", "par": {"agent": "random"}},
    "five_o": {"game": "five_o", "opponents": [{"agent": "reflex_1"}]},
    "open_face": {"game": "open_face", "seat": 1, "opponents": [{"agent": "random"}], "par": {"agent": "random"}},
    "big2": {"game": "big2", "seat": 2, "opponents": [{"agent": "greedy"}]},
    "thirty_one": {"game": "thirty_one", "options": {"num_players": 2, "lives": 1}, "opponents": [{"agent": "greedy"}]},
    "thirty_one of nine": {
        "game": "thirty_one",
        "options": {"num_players": 9, "lives": 1},
        "seat": 4,
        "opponents": [{"agent": "threshold"}],
    },
}


class Visitor:
    """One person's browser, without the page."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.http = requests.Session()

    def get(self, path: str, status: int = 200, **params: Any) -> Any:
        reply = self.http.get(self.base + path, params=params)
        assert reply.status_code == status, reply.text
        return reply.json()

    def post(self, path: str, body: Any, status: int = 200) -> Any:
        reply = self.http.post(self.base + path, json=body)
        assert reply.status_code == status, reply.text
        return reply.json()

    def open(self, order: dict[str, Any], status: int = 201) -> Any:
        return self.post("/api/tables", order, status)

    def move(self, table: Any, action: int, status: int = 200) -> Any:
        body = {"action": action, "number": table["number"]}
        return self.post(f"/api/tables/{table['id']}/moves", body, status)

    def finish(self, table: Any, seed: int = 0) -> Any:
        """Play legal actions at random to the end."""
        rng = np.random.default_rng(seed)
        while table["status"] == "your_turn":
            table = self.move(table, int(rng.choice([choice["action"] for choice in table["legal"]])))
        return table


@dataclass
class Running:
    base: str
    desk: Desk

    def visitor(self) -> Visitor:
        return Visitor(self.base)


@contextmanager
def running(options: PlayOptions, **given: Any) -> Iterator[Running]:
    """A server with these options on a free port."""
    torch.set_num_threads(1)  # as the command does
    desk = make_desk(options, **given)
    port = free_port()
    config = uvicorn.Config(make_application(desk), port=port, log_level="warning", proxy_headers=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.02)
    try:
        yield Running(f"http://127.0.0.1:{port}", desk)
    finally:
        server.should_exit = True
        thread.join()
        desk.house.engine.dispose()


def options_in(folder: Path, **given: Any) -> PlayOptions:
    """Options of a server that keeps everything in `folder`."""
    plain = {"folder": str(folder / "play"), "models": str(folder / "models"), "warm": False, "limits": FREE}
    return PlayOptions(**{**plain, **given})
