"""A `cardlab play` server in the test process, and an HTTP client for it."""

import http.client
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import requests
import torch
import uvicorn

from cardlab_play.dispatcher import Dispatcher, make_dispatcher
from cardlab_play.options import Limits, PlayOptions
from cardlab_play.server import make_config
from services import free_port

NO_LIMITS = Limits(
    address_rate=1_000_000,
    tables_per_session=1_000_000,
    tables_per_address=1_000_000,
    tables=1_000_000,
    sessions_per_address=10_000,
    connections_per_address=500,
)

JSON = {"Content-Type": "application/json"}


def local_session() -> requests.Session:
    """A session that looks for no proxy in the environment, which takes as long as a request."""
    session = requests.Session()
    session.trust_env = False
    return session


# each game against fast scripted agents; Thirty-One also with nine players
TABLE_REQUESTS: dict[str, dict[str, Any]] = {
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


class ApiClient:
    """An HTTP client with a session."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.http = local_session()

    def get(self, path: str, status: int = 200, **params: Any) -> Any:
        reply = self.http.get(self.base + path, params=params)
        assert reply.status_code == status, reply.text
        return reply.json()

    def post(self, path: str, body: Any, status: int = 200) -> Any:
        reply = self.http.post(self.base + path, json=body)
        assert reply.status_code == status, reply.text
        return reply.json()

    def open(self, request: dict[str, Any], status: int = 201) -> Any:
        return self.post("/api/tables", request, status)

    def move(self, table: Any, action: int, status: int = 200) -> Any:
        body = {"action": action, "number": table["number"]}
        return self.post(f"/api/tables/{table['id']}/moves", body, status)

    def finish(self, table: Any, seed: int = 0) -> Any:
        """Play random legal actions to the end."""
        rng = np.random.default_rng(seed)
        while table["status"] == "your_turn":
            table = self.move(table, int(rng.choice([choice["action"] for choice in table["legal"]])))
        return table


@dataclass
class RunningServer:
    base: str
    dispatcher: Dispatcher

    def client(self) -> ApiClient:
        return ApiClient(self.base)


@contextmanager
def run_server(options: PlayOptions, **given: Any) -> Iterator[RunningServer]:
    """A server on a free port."""
    torch.set_num_threads(1)  # as the command does
    dispatcher = make_dispatcher(options, **given)
    port = free_port()
    server = uvicorn.Server(make_config(dispatcher, port))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.02)
    try:
        yield RunningServer(f"http://127.0.0.1:{port}", dispatcher)
    finally:
        server.should_exit = True
        thread.join()
        dispatcher.store.engine.dispose()


def make_options(folder: Path, **given: Any) -> PlayOptions:
    """Options of a server that writes into `folder` only."""
    plain = {"folder": str(folder / "play"), "models": str(folder / "models"), "warm": False, "limits": NO_LIMITS}
    return PlayOptions(**{**plain, **given})


def raw(
    server: RunningServer,
    method: str,
    path: str,
    body: bytes = b"",
    headers: dict[str, str] | None = None,
    source: str = "127.0.0.1",
) -> tuple[http.client.HTTPResponse, bytes]:
    """A raw request from the address `source`."""
    address = urlsplit(server.base)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=30, source_address=(source, 0))
    connection.putrequest(method, path, skip_host=bool(headers and "Host" in headers))
    for key, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
        connection.putheader(key, value)
    connection.endheaders()
    if body:
        connection.send(body)
    reply = connection.getresponse()
    text = reply.read()
    connection.close()
    return reply, text


def limits(**given: Any) -> Limits:
    """NO_LIMITS but for those that are given."""
    return Limits(**{**vars(NO_LIMITS), **given})
