"""A restarted server has all finished games and restores open tables."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import update
from sqlalchemy.orm import Session

from cardlab.core.messages import InvalidOption
from cardlab_play.database import DatabaseError, DealRow, GameRow, now, open_database
from cardlab_play.deals import load_secret
from cardlab_play.dispatcher import close_idle_table, close_idle_tables, find_idle_tables
from play_server import TABLE_REQUESTS, make_options, run_server


def run_twice(options):
    with run_server(options) as server:
        client = server.client()
        ended = client.finish(client.open(TABLE_REQUESTS["five_o"]))
        tables = [client.open(table_request) for table_request in TABLE_REQUESTS.values()]
        moved = [client.move(table, table["legal"][-1]["action"]) for table in tables]
        board = client.get("/api/leaderboard", game="five_o")
    with run_server(options) as server:
        client.base = server.base
        going = {table["id"] for table in client.get("/api/tables")["tables"]}
        assert going == {table["id"] for table in moved if table["status"] == "your_turn"}
        for table in moved:
            assert client.get(f"/api/tables/{table['id']}") == table
            client.finish(table)
        again = client.get(f"/api/tables/{ended['id']}")
        assert again == ended
        assert board["agents"][0]["games"] == 1
        assert client.get("/api/leaderboard", game="five_o")["agents"][0]["games"] == 2


def test_on_sqlite(tmp_path):
    run_twice(make_options(tmp_path))


@pytest.mark.slow
def test_on_postgresql(tmp_path, postgresql):
    run_twice(make_options(tmp_path, database=postgresql))


def test_tables_outside_the_memory_are_restored(start, monkeypatch):
    monkeypatch.setattr("cardlab_play.table_store.MAX_IN_MEMORY", 1)
    with start() as server:
        client = server.client()
        tables = [client.open(TABLE_REQUESTS["big2"]) for _ in range(3)]
        for table in tables:
            assert client.get(f"/api/tables/{table['id']}") == table


def test_idle_tables_are_resigned_and_count(start, tmp_path):
    limits = make_options(tmp_path).limits
    short = type(limits)(**{**vars(limits), "idle_hours": 1e-9})
    with start(limits=short) as server:
        client = server.client()
        table = client.open(TABLE_REQUESTS["big2"])
        assert asyncio.run(close_idle_tables(server.dispatcher)) == 1
        after = client.get(f"/api/tables/{table['id']}")
        assert (after["status"], after["result"]["resigned"]) == ("over", True)
        assert client.get("/api/leaderboard", game="big2")["agents"][0]["games"] == 1


def test_a_table_that_moves_again_is_not_idle(start):
    with start() as server:
        client, store = server.client(), server.dispatcher.store
        table = client.open(TABLE_REQUESTS["big2"])
        with Session(store.engine) as session:
            session.execute(update(GameRow).values(moved=now() - timedelta(days=30)))
            session.commit()
        (idle,) = find_idle_tables(store)
        client.move(table, table["legal"][-1]["action"])
        close_idle_table(store, *idle)
        assert client.get(f"/api/tables/{table['id']}")["status"] == "your_turn"


def test_an_idle_table_that_fails_to_load_is_closed(start, tmp_path, caplog):
    limits = make_options(tmp_path).limits
    short = type(limits)(**{**vars(limits), "idle_hours": 1e-9, "tables_per_session": 2})
    with start(limits=short) as server:
        client, store = server.client(), server.dispatcher.store
        torn, whole = (client.open(TABLE_REQUESTS[game]) for game in ("five_o", "big2"))
        for table in (torn, whole):
            store.evict(store.find(1, table["id"]))
        with Session(store.engine) as session:
            session.execute(update(DealRow).where(DealRow.game == "five_o").values(options={"payoff": "gold"}))
            session.commit()
        assert asyncio.run(close_idle_tables(server.dispatcher)) == 2
        assert client.get("/api/tables")["tables"] == []
        assert client.get(f"/api/tables/{whole['id']}")["result"]["resigned"]
        client.open(TABLE_REQUESTS["big2"])
    (reported,) = [record.getMessage() for record in caplog.records if torn["id"] in record.getMessage()]
    assert reported.startswith(f"table {torn['id']} is closed without a result: options.payoff=gold: no such key")


def test_the_secret_file_is_private(tmp_path):
    path = tmp_path / "deep" / "secret"
    secret = load_secret(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert load_secret(path) == secret
    path.write_bytes(b"short")
    with pytest.raises(InvalidOption, match="remove it"):
        load_secret(path)


@pytest.mark.parametrize("address", ["nonsense", "sqlite:////proc/none/play.db", "oracle9://x"])
def test_an_invalid_database_is_reported_by_its_key(address):
    with pytest.raises((DatabaseError, InvalidOption), match=r"^play\.database"):
        open_database(address)
