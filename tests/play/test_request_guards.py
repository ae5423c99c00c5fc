"""Request guards: headers, sessions, origins, body sizes, names, rates and table limits."""

import http.client
import json
from urllib.parse import urlsplit

import pytest

from cardlab_play.dispatcher import COOKIE, clean_name
from play_server import JSON, TABLE_REQUESTS, limits, raw


@pytest.mark.parametrize("path", ["/", "/api/games", "/api/tables/none", "/nothing"])
def test_every_reply_has_the_headers(server, path):
    reply, _ = raw(server, "GET", path)
    policy = reply.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["referrer-policy"] == "no-referrer"
    assert reply.headers["cache-control"] == ("no-store" if path.startswith("/api") else "no-cache")


def test_a_session_is_a_cookie_that_pages_cannot_read(server):
    reply, _ = raw(server, "POST", "/api/tables", json.dumps(TABLE_REQUESTS["big2"]).encode(), JSON)
    cookie = reply.headers["set-cookie"]
    assert cookie.startswith(f"{COOKIE}=")
    assert len(cookie.partition("=")[2].partition(";")[0]) == 43  # 256 bits
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie


@pytest.mark.parametrize("secure", [False, True])
def test_the_cookie_can_be_restricted_to_https(start, secure):
    with start(secure=secure) as server:
        reply, _ = raw(server, "POST", "/api/tables", json.dumps(TABLE_REQUESTS["big2"]).encode(), JSON)
        assert ("Secure" in reply.headers["set-cookie"]) == secure


def test_host_names_ignore_case(start):
    with start(hosts=("Its.Name",)) as server:
        accepted = ("its.name", "ITS.NAME:80", "[::1]", "[::1]:80", "localhost:1")
        refused = ("other.name", "[::1].evil", "localhost:1:2", "[its.name]", "its.name:", "its.name:x", "")
        for host, status in (*((host, 200) for host in accepted), *((host, 403) for host in refused)):
            assert raw(server, "GET", "/api/games", headers={"Host": host})[0].status == status


@pytest.mark.parametrize("field", ["agent", "search"])
def test_half_of_a_character_is_refused(server, field):
    body = {**TABLE_REQUESTS["big2"], "opponents": [{"agent": "greedy", field: "\ud800"}]}
    reply, text = raw(server, "POST", "/api/tables", json.dumps(body).encode(), JSON)
    assert reply.status == 422
    assert "half of a character" in text.decode()
    assert raw(server, "PUT", "/api/session", b'{"name": "\\ud800"}', JSON)[0].status == 422


def test_tables_of_other_users_do_not_exist(server, client):
    table = client.open(TABLE_REQUESTS["big2"])
    path = f"/api/tables/{table['id']}"
    stranger = server.client()
    for _ in ("without a session", "with one"):
        assert stranger.get(path, 404) == stranger.get("/api/tables/aaaaaaaaaaaaaaaaaaaaaa", 404)
        stranger.move(table, table["legal"][0]["action"], 404)
        stranger.get(f"{path}/advice", 404)
        stranger.get(f"{path}/replay", 404)
        stranger.post(f"{path}/resignation", {"number": 0}, 404)
        assert table["id"] not in str(stranger.get("/api/tables"))
        stranger.open(TABLE_REQUESTS["five_o"])
    assert client.get(path) == table


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://["},
        {"Sec-Fetch-Site": "cross-site"},
        {"Host": "evil.example"},
        {"Host": ""},
    ],
)
def test_cross_site_requests_are_rejected(server, headers):
    reply, text = raw(server, "POST", "/api/tables", json.dumps(TABLE_REQUESTS["big2"]).encode(), {**JSON, **headers})
    assert reply.status == 403
    assert json.loads(text)["error"]
    assert reply.headers["set-cookie"] is None


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_form_bodies_are_rejected(server, kind):
    reply, _ = raw(server, "POST", "/api/tables", b'{"game":"big2"}', {"Content-Type": kind})
    assert reply.status == 415


def test_large_bodies_are_rejected_with_and_without_a_length(server):
    reply, text = raw(server, "POST", "/api/tables", b" " * 20_000, JSON)
    assert (reply.status, json.loads(text)["error"]) == (413, "the body is larger than 16384 bytes")
    reply, _ = raw(server, "POST", "/api/tables", b"", {**JSON, "Content-Length": "1000000000"})
    assert reply.status == 413
    chunks = (b" " * 5_000 for _ in range(8))
    address = urlsplit(server.base)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=30)
    connection.request("POST", "/api/tables", chunks, JSON, encode_chunked=True)
    reply = connection.getresponse()
    assert (reply.status, json.loads(reply.read())["error"]) == (413, "the body is larger than 16384 bytes")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b"[" * 5_000, b'{"game": 1e999}'])
def test_malformed_bodies_are_rejected(server, body):
    reply, text = raw(server, "POST", "/api/tables", body, JSON)
    assert reply.status in (400, 422)
    error = json.loads(text)["error"]
    assert error
    if body == b"{":
        assert error == "body: must be JSON"


@pytest.mark.parametrize(
    ("given", "clean"),
    [
        ("  Ann   Lee ", "Ann Lee"),
        ("\u202eevil\u0000\u200b", "evil"),
        ("Z\u0301\u0301\u0301\u0301\u0301algo", "\u0179\u0301\u0301algo"),  # one mark in the letter, two on it
        ("\uff21nn", "Ann"),
        ("\ud800x", "x"),
        ("<b>Ann</b>", "<b>Ann</b>"),  # the page renders names as text
        ("\u00a0\u2003", ""),
    ],
)
def test_names_are_cleaned(given, clean):
    assert clean_name(given) == clean


def test_a_name_has_a_limit(client):
    reply = client.http.put(client.base + "/api/session", json={"name": "x" * 25})
    assert (reply.status_code, reply.json()["key"]) == (422, "name")
    reply = client.http.put(client.base + "/api/session", json={"name": "\u200b"})
    assert reply.status_code == 422
    assert client.get("/api/session") == {"name": ""}


def test_an_address_has_a_rate_limit(start):
    with start(limits=limits(address_rate=3)) as server:
        replies = [server.client().http.get(server.base + "/api/session") for _ in range(12)]
        late = [reply for reply in replies if reply.status_code == 429]
        assert late
        assert int(late[0].headers["retry-after"]) >= 1
        assert server.client().http.get(server.base + "/").status_code == 200  # pages have no rate limit


def test_open_tables_are_limited_by_user_and_in_total(start):
    with start(limits=limits(tables_per_session=2, tables=3)) as server:
        ann, bob = server.client(), server.client()
        first = ann.open(TABLE_REQUESTS["open_face"])
        ann.open(TABLE_REQUESTS["big2"])
        assert "finish" in ann.open(TABLE_REQUESTS["big2"], 429)["error"]
        bob.open(TABLE_REQUESTS["big2"])
        assert "limit" in bob.open(TABLE_REQUESTS["big2"], 503)["error"]
        ann.post(f"/api/tables/{first['id']}/resignation", {"number": first["number"]})
        bob.open(TABLE_REQUESTS["big2"])


def test_an_unexpected_error_is_reported_without_a_traceback(client, server, monkeypatch):
    table = client.open(TABLE_REQUESTS["big2"])
    monkeypatch.setattr("cardlab_play.table_store.TableStore.play_move", lambda *_: 1 / 0)
    problem = client.move(table, table["legal"][-1]["action"], 500)
    assert problem["error"] == "internal server error; the table is unchanged"
    assert client.get(f"/api/tables/{table['id']}") == table
