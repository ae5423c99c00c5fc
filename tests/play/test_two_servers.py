"""Two servers on one folder: no move is taken back, and a deal counts once."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from cardlab_play.database import open_database
from cardlab_play.errors import RequestError
from play_server import TABLE_REQUESTS, make_options, run_server


@pytest.fixture
def servers(tmp_path):
    options = make_options(tmp_path / "with ? and %")
    with run_server(options) as one, run_server(options) as other:
        yield one, other


def at(client, server):
    """The session of `client` at another server."""
    client.base = server.base
    return client


def test_each_server_sees_the_moves_at_the_other(servers):
    one, other = servers
    client = one.client()
    table = client.open(TABLE_REQUESTS["big2"])
    assert at(client, other).get(f"/api/tables/{table['id']}") == table
    moved = at(client, one).move(table, table["legal"][-1]["action"])
    assert "reload" in at(client, other).move(table, table["legal"][0]["action"], 409)["error"]
    assert client.get(f"/api/tables/{table['id']}") == moved
    over = client.post(f"/api/tables/{table['id']}/resignation", {"number": moved["number"]})
    assert at(client, one).get(f"/api/tables/{table['id']}")["result"] == over["result"]


def test_of_two_moves_at_once_one_is_refused(servers):
    one, other = servers
    client = one.client()
    table = client.open(TABLE_REQUESTS["big2"])
    stores = [server.dispatcher.store for server in servers]
    tables = [store.find(1, table["id"]) for store in stores]  # both have read the table
    action = table["legal"][-1]["action"]
    stores[0].play_move(tables[0], action, table["number"])
    with pytest.raises(RequestError, match="reload") as refused:
        stores[1].play_move(tables[1], table["legal"][0]["action"], table["number"])
    assert refused.value.status == 409
    moved = client.get(f"/api/tables/{table['id']}")
    assert moved["events"][0]["number"] == table["number"] + 1
    assert at(client, other).get(f"/api/tables/{table['id']}") == moved


def test_a_deal_opened_at_both_at_once_counts_once(servers):
    client = servers[0].client()
    client.open(TABLE_REQUESTS["five_o"])  # for the cookie
    cookies = dict(client.http.cookies)

    def open_daily(number):
        own = servers[number % 2].client()
        own.http.cookies.update(cookies)
        reply = own.http.post(f"{own.base}/api/tables", json={"game": "big2", "deal": "daily"})
        return reply.status_code

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(open_daily, range(8))) == [201] + [409] * 7


def test_files_are_private_from_their_creation_on(servers, tmp_path):
    servers[0].client().open(TABLE_REQUESTS["big2"])
    folder = tmp_path / "with ? and %" / "play"
    assert folder.stat().st_mode & 0o777 == 0o700
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert modes == {"play.db": 0o600, "play.db-wal": 0o600, "play.db-shm": 0o600, "secret": 0o600}


def test_a_database_that_others_can_read_is_made_private(tmp_path):
    path = tmp_path / "play.db"
    open_database(f"sqlite:///{path}").dispose()
    path.chmod(0o644)
    open_database(f"sqlite:///{path}").dispose()
    assert path.stat().st_mode & 0o777 == 0o600
