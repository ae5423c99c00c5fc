"""Agents that cannot be loaded: refused at the door, offered no longer, and no game that does not end for them."""

import time

import pytest
import torch
from cardlab_play.beliefs import Beliefs
from cardlab_play.players import Player, Players

from cardlab.agents.policies import describe, save_policy
from cardlab.games.catalogue import make_game
from cardlab.networks.options import MLPOptions
from cardlab_play.errors import Unloadable
from cardlab_play.warmup import Warming
from play_server import ORDERS, Visitor, options_in, running


@pytest.fixture
def models(tmp_path):
    """A folder of models with one of Five-O whose weights are none."""
    folder = tmp_path / "models" / "torn"
    torch.manual_seed(0)
    game, network = make_game("five_o"), MLPOptions(widths=(8,))
    save_policy(folder, describe(game, network, "afterstate", {}), network.build(game.spec))
    (folder / "weights.safetensors").write_bytes(b"none")
    return tmp_path / "models"


@pytest.fixture
def torn(models, tmp_path):
    with running(options_in(tmp_path, models=str(models))) as server:
        yield server, str(models / "torn")


@pytest.mark.parametrize(
    ("order", "key"),
    [({"opponents": "torn"}, "opponents[0].agent"), ({"par": "torn", "opponents": "random"}, "par.agent")],
)
def test_it_is_refused_when_the_table_is_opened_and_offered_no_longer(torn, order, key):
    server, agent = torn
    visitor = server.visitor()
    assert agent in _offered(visitor)
    players = {who: {"agent": agent if name == "torn" else name} for who, name in order.items()}
    wishes = {who: [player] if who == "opponents" else player for who, player in players.items()}
    problem = visitor.open({"game": "five_o", **wishes}, 422)
    assert problem["key"] == key
    assert "cannot be loaded" in problem["error"]
    assert agent not in _offered(visitor)
    assert visitor.open({"game": "five_o", **wishes}, 422) == problem
    assert visitor.get("/api/tables")["tables"] == []


def test_as_an_advisor_it_is_refused_in_words(torn):
    server, agent = torn
    visitor = server.visitor()
    table = visitor.open(ORDERS["five_o"])
    problem = visitor.get(f"/api/tables/{table['id']}/advice", 422, agent=agent)
    assert problem["key"] == "query.agent"
    assert "cannot be loaded" in problem["error"]


def _offered(visitor):
    games = visitor.get("/api/choices")["games"]
    return [agent["agent"] for game in games if game["game"] == "five_o" for agent in game["agents"]]


@pytest.mark.parametrize("name", ["five_o", "poker_squares"])
def test_a_game_whose_par_fails_ends_without_it_and_one_line_tells(start, monkeypatch, caplog, name):
    with start() as server:
        visitor = server.visitor()
        monkeypatch.setattr("cardlab_play.table_store.Table.finish", _fails)
        end = visitor.finish(visitor.open({**ORDERS[name], "par": {"agent": "random"}}))
        assert end["status"] == "over"
        assert end["result"]["par"] is None
        assert visitor.get(f"/api/tables/{end['id']}") == end
        board = visitor.get("/api/leaderboard", game=name)
        assert bool(board["people"]) == (name == "five_o")  # points more than par need a par
    assert [record.getMessage() for record in caplog.records] == [f"a game of {name} goes without par: no room"]
    assert caplog.records[0].exc_info is None


def test_what_fails_behind_a_reply_is_one_line_in_the_log(start, monkeypatch, caplog):
    monkeypatch.setattr("cardlab_play.table_store.House.prepare_par", _fails)
    with start() as server:
        table = server.visitor().open(ORDERS["five_o"])
        _wait(lambda: caplog.records)
    assert [record.getMessage() for record in caplog.records] == [f"par of table {table['id']}: no room"]


def test_par_of_a_table_with_a_search_comes_behind_the_game(start):
    with start(searches={"monte_carlo": "monte_carlo:simulations:8"}) as server:
        visitor = server.visitor()
        rival = {"agent": "reflex_1", "search": "monte_carlo"}
        table = visitor.finish(visitor.open({**ORDERS["five_o"], "opponents": [rival]}))
        path = f"/api/tables/{table['id']}"
        assert table["result"]["par"]["title"]  # announced, and told when it is there
        _wait(lambda: visitor.get(path)["result"]["par"]["payoff"] is not None)
        _wait(lambda: visitor.get(f"/api/deals/{table['deal']['id']}")["par"] == visitor.get(path)["result"]["par"])


def test_a_table_whose_agents_are_gone_can_be_given_up_and_counts_nowhere(tmp_path):
    visitor = Visitor("")
    with running(options_in(tmp_path)) as server:
        visitor.base = server.base
        table = visitor.open(ORDERS["five_o"])
    path = f"/api/tables/{table['id']}"
    with running(options_in(tmp_path)) as server:
        visitor.base = server.base
        server.desk.house.players.leave_out(make_game("five_o"), Player("reflex_1"), "gone")
        assert "cannot be loaded (gone)" in visitor.get(path, 422)["error"]
        end = visitor.post(f"{path}/resignation", {"number": table["number"]})
        assert end["result"]["given_up"]
        assert not end["deal"]["counts"]
        again = visitor.get(path)
        assert (again["view"], again["result"]) == (end["view"], end["result"])
        assert visitor.get("/api/leaderboard", game="five_o")["people"] == []


def test_a_game_is_given_up_even_if_its_agents_fail(start, monkeypatch):
    with start() as server:
        visitor = server.visitor()
        table = visitor.open(ORDERS["big2"])
        for agent in {type(agent) for agent in server.desk.house.find(1, table["id"]).table.agents}:
            monkeypatch.setattr(agent, "act", _fails)
        end = visitor.post(f"/api/tables/{table['id']}/resignation", {"number": table["number"]})
        assert end["status"] == "over"
        assert not end["deal"]["counts"]


def test_a_table_whose_agent_fails_at_its_move_stands_as_before_and_says_so(visitor, server, monkeypatch, caplog):
    table = visitor.open(ORDERS["big2"])
    action = table["legal"][-1]["action"]
    with monkeypatch.context() as patch:
        patch.setattr("cardlab.agents.heuristics.big2.Greedy.act", _fails)
        problem = visitor.move(table, action, 500)
    assert "an agent failed at its move (no room); the table is as it was before" in problem["error"]
    assert "a game of big2 cannot go on: no room" in [record.getMessage() for record in caplog.records]
    assert visitor.get(f"/api/tables/{table['id']}") == table
    assert visitor.move(table, action)["number"] > table["number"]


def test_warming_finds_what_cannot_be_loaded(models, tmp_path):
    players = Players(options_in(tmp_path, models=str(models)))
    works = dict(Warming(players, Beliefs({}), lambda: 0.0).works())
    with pytest.raises(Unloadable):
        works[f"{models / 'torn'} at five_o"]()
    assert str(models / "torn") not in [entry.agent for entry in players.listed(make_game("five_o"))]


def _fails(*_):
    raise RuntimeError("no\nroom")


def _wait(holds):
    for _ in range(600):
        if holds():
            return
        time.sleep(0.1)
    raise AssertionError("it took too long")
