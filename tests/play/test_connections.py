"""One address cannot use up connections, sessions or tables, and a slow request is closed."""

import json
import socket
import time
from urllib.parse import urlsplit

import pytest

from cardlab_play.dispatcher import close_unplayed_tables
from play_server import JSON, TABLE_REQUESTS, limits, raw

BODY = json.dumps(TABLE_REQUESTS["five_o"]).encode()
ELSEWHERE = "127.0.0.2"  # another address of this machine


def connect(server, source="127.0.0.1", data=b""):
    address = urlsplit(server.base)
    connection = socket.create_connection((address.hostname, address.port), timeout=10, source_address=(source, 0))
    connection.sendall(data)
    return connection


@pytest.mark.parametrize(
    "start_of_a_request",
    [
        b"",
        b"GET /api/games HTTP/1.1\r\nHost:",
        b"POST /api/tables HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{",
    ],
    ids=["nothing", "headers", "body"],
)
def test_an_unfinished_request_is_cut_off(start, monkeypatch, start_of_a_request):
    monkeypatch.setattr("cardlab_play.server.REQUEST_SECONDS", 0.5)
    whole = b"GET /api/session HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with start() as server, connect(server, data=whole) as kept, connect(server, data=whole) as slow:
        assert b"200 OK" in slow.recv(10_000)
        slow.sendall(start_of_a_request or b"G")
        with connect(server, data=start_of_a_request) as new:
            for connection in (new, slow):
                while connection.recv(10_000):
                    pass
        time.sleep(0.3)
        kept.sendall(whole)  # an idle connection is kept for longer
        assert kept.recv(10_000).count(b"200 OK") >= 1


def test_an_address_has_few_connections(start):
    with start(limits=limits(connections_per_address=3)) as server:
        held = [connect(server) for _ in range(3)]
        with connect(server) as refused:
            assert refused.recv(1) == b""
        assert raw(server, "GET", "/api/games", source=ELSEWHERE)[0].status == 200
        for connection in held:
            connection.close()
    with start(limits=limits(connections_per_address=3), proxies=("127.0.0.0/8",)) as server:
        held = [connect(server) for _ in range(9)]
        assert raw(server, "GET", "/api/games")[0].status == 200
        for connection in held:
            connection.close()


def test_one_client_without_cookies_locks_no_other_out(start):
    with start(limits=limits(sessions_per_address=4)) as server:
        statuses = [raw(server, "POST", "/api/tables", BODY, JSON)[0].status for _ in range(6)]
        assert statuses == [201] * 4 + [429] * 2
        assert [raw(server, "POST", "/api/tables", BODY, JSON, ELSEWHERE)[0].status for _ in range(2)] == [201] * 2


def test_open_tables_of_an_address_are_limited(start):
    with start(limits=limits(tables_per_address=2)) as server:
        statuses = [raw(server, "POST", "/api/tables", BODY, JSON)[0].status for _ in range(3)]
        assert statuses == [201, 201, 429]
        assert raw(server, "POST", "/api/tables", BODY, JSON, ELSEWHERE)[0].status == 201


@pytest.mark.parametrize("trusted", [False, True])
def test_only_a_proxy_names_the_address_of_a_client(start, trusted):
    with start(limits=limits(sessions_per_address=1), proxies=("127.0.0.1",) if trusted else ()) as server:
        headers = [
            {**JSON, "X-Forwarded-For": address} for address in ("192.0.2.1", "2001:db8::1", "2001:db8::2", "x:y")
        ]
        statuses = [raw(server, "POST", "/api/tables", BODY, each)[0].status for each in headers]
        assert statuses == ([201, 201, 429, 201] if trusted else [201, 429, 429, 429])


def test_unplayed_tables_are_closed_without_a_result(start, monkeypatch):
    monkeypatch.setattr("cardlab_play.dispatcher.UNPLAYED_MINUTES", 1e-9)
    with start() as server:
        client, player = server.client(), server.client()
        table, daily = client.open(TABLE_REQUESTS["five_o"]), client.open({"game": "big2", "deal": "daily"})
        first = player.open(TABLE_REQUESTS["five_o"])
        player.move(first, first["legal"][0]["action"])
        kept = player.open(TABLE_REQUESTS["five_o"])
        close_unplayed_tables(server.dispatcher.store)
        assert "closed" in client.get(f"/api/tables/{table['id']}", 404)["error"]
        assert client.get("/api/tables") == {"tables": []}
        assert [table["id"] for table in player.get("/api/tables")["tables"]] == [kept["id"], first["id"]]
        assert client.get(f"/api/deals/{daily['deal']['id']}")["results"] is None
        again = client.open({"game": "big2", "deal": "daily"})
        assert again["deal"]["counts"] is False  # the player has seen it
