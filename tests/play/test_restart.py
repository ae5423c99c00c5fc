"""A server that is started again has every finished game and offers to go on with open ones."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import update
from sqlalchemy.orm import Session

from cardlab_play.database import DatabaseError, DealRow, GameRow, InvalidDatabase, now, open_database
from cardlab_play.deals import SecretError, load_secret
from cardlab_play.idle_tables import IdleTables, close_idle_tables
from play_server import ORDERS, options_in, running


def run_twice(options):
    with running(options) as server:
        visitor = server.visitor()
        ended = visitor.finish(visitor.open(ORDERS["five_o"]))
        tables = [visitor.open(order) for order in ORDERS.values()]
        moved = [visitor.move(table, table["legal"][-1]["action"]) for table in tables]
        board = visitor.get("/api/leaderboard", game="five_o")
    with running(options) as server:
        visitor.base = server.base
        going = {table["id"] for table in visitor.get("/api/tables")["tables"]}
        assert going == {table["id"] for table in moved if table["status"] == "your_turn"}
        for table in moved:
            assert visitor.get(f"/api/tables/{table['id']}") == table
            visitor.finish(table)
        again = visitor.get(f"/api/tables/{ended['id']}")
        assert again == ended
        assert board["agents"][0]["games"] == 1
        assert visitor.get("/api/leaderboard", game="five_o")["agents"][0]["games"] == 2


def test_on_sqlite(tmp_path):
    run_twice(options_in(tmp_path))


@pytest.mark.slow
def test_on_postgresql(tmp_path, postgresql):
    run_twice(options_in(tmp_path, database=postgresql))


def test_tables_beyond_memory_are_found_again(start, tmp_path):
    limits = options_in(tmp_path).limits
    small = type(limits)(**{**vars(limits), "kept_in_memory": 1})
    with start(limits=small) as server:
        visitor = server.visitor()
        tables = [visitor.open(ORDERS["big2"]) for _ in range(3)]
        for table in tables:
            assert visitor.get(f"/api/tables/{table['id']}") == table


def test_idle_tables_are_given_up_and_count(start, tmp_path):
    limits = options_in(tmp_path).limits
    short = type(limits)(**{**vars(limits), "idle_hours": 1e-9})
    with start(limits=short) as server:
        visitor = server.visitor()
        table = visitor.open(ORDERS["big2"])
        assert asyncio.run(close_idle_tables(server.desk)) == 1
        after = visitor.get(f"/api/tables/{table['id']}")
        assert (after["status"], after["result"]["given_up"]) == ("over", True)
        assert visitor.get("/api/leaderboard", game="big2")["agents"][0]["games"] == 1


def test_who_comes_back_to_an_idle_table_keeps_it(start):
    with start() as server:
        visitor, house = server.visitor(), server.desk.house
        table = visitor.open(ORDERS["big2"])
        with Session(house.engine) as session:
            session.execute(update(GameRow).values(moved=now() - timedelta(days=30)))
            session.commit()
        (idle,) = IdleTables(house).listed()
        visitor.move(table, table["legal"][-1]["action"])
        IdleTables(house).close(*idle)
        assert visitor.get(f"/api/tables/{table['id']}")["status"] == "your_turn"


def test_a_table_that_cannot_be_played_again_makes_room_for_others(start, tmp_path, caplog):
    limits = options_in(tmp_path).limits
    short = type(limits)(**{**vars(limits), "idle_hours": 1e-9, "tables_per_session": 2})
    with start(limits=short) as server:
        visitor, house = server.visitor(), server.desk.house
        torn, whole = (visitor.open(ORDERS[game]) for game in ("five_o", "big2"))
        for table in (torn, whole):
            house.forget(house.find(1, table["id"]))
        with Session(house.engine) as session:
            session.execute(update(DealRow).where(DealRow.game == "five_o").values(options={"payoff": "gold"}))
            session.commit()
        assert asyncio.run(close_idle_tables(server.desk)) == 2
        assert visitor.get("/api/tables")["tables"] == []
        assert visitor.get(f"/api/tables/{whole['id']}")["result"]["given_up"]
        visitor.open(ORDERS["big2"])
    (told,) = [record.getMessage() for record in caplog.records if torn["id"] in record.getMessage()]
    assert told.startswith(f"table {torn['id']} is closed without a result: options.payoff=gold: must be")


def test_the_secret_is_for_its_owner_only(tmp_path):
    path = tmp_path / "deep" / "secret"
    secret = load_secret(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert load_secret(path) == secret
    path.write_bytes(b"short")
    with pytest.raises(SecretError, match="remove it"):
        load_secret(path)


@pytest.mark.parametrize("address", ["nonsense", "sqlite:////proc/none/play.db", "oracle9://x"])
def test_a_database_that_cannot_be_is_named_by_its_key(address):
    with pytest.raises((DatabaseError, InvalidDatabase, OSError), match=r"play.database|/proc"):
        open_database(address)
