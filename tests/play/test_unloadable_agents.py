"""Agents that fail to load or to move."""

import time

import pytest
import torch

from cardlab.agents.policy_files import describe, save_policy
from cardlab.games.make_game import make_game
from cardlab.networks.mlp_options import MLPOptions
from cardlab_play.agent_catalog import AgentCatalog, AgentChoice
from cardlab_play.errors import AgentUnloadable
from cardlab_play.warmup import WarmUp
from play_server import TABLE_REQUESTS, ApiClient, make_options, run_server
from plays import PLAYS


@pytest.fixture
def models(tmp_path):
    """A folder with a Five-O policy whose weights are corrupt."""
    folder = tmp_path / "models" / "torn"
    torch.manual_seed(0)
    game, network = make_game("five_o"), MLPOptions(widths=(8,))
    save_policy(folder, describe(game, network, PLAYS["afterstate"], {}), network.build(game.spec))
    (folder / "weights.safetensors").write_bytes(b"none")
    return tmp_path / "models"


@pytest.fixture
def torn(models, tmp_path):
    with run_server(make_options(tmp_path, models=str(models))) as server:
        yield server, str(models / "torn")


@pytest.mark.parametrize(
    ("table_request", "key"),
    [({"opponents": "torn"}, "opponents[0].agent"), ({"par": "torn", "opponents": "random"}, "par.agent")],
)
def test_an_unloadable_agent_is_rejected_and_removed_from_the_catalog(torn, table_request, key):
    server, agent = torn
    client = server.client()
    assert agent in _offered(client)
    agents = {key: {"agent": agent if name == "torn" else name} for key, name in table_request.items()}
    fields = {key: [agent] if key == "opponents" else agent for key, agent in agents.items()}
    problem = client.open({"game": "five_o", **fields}, 422)
    assert problem["key"] == key
    assert "fails to load" in problem["error"]
    assert agent not in _offered(client)
    assert client.open({"game": "five_o", **fields}, 422) == problem
    assert client.get("/api/tables")["tables"] == []


def test_an_unloadable_advisor_is_rejected(torn):
    server, agent = torn
    client = server.client()
    table = client.open(TABLE_REQUESTS["five_o"])
    problem = client.get(f"/api/tables/{table['id']}/advice", 422, agent=agent)
    assert problem["key"] == "query.agent"
    assert "fails to load" in problem["error"]


def _offered(client):
    games = client.get("/api/games")["games"]
    return [agent["agent"] for game in games if game["game"] == "five_o" for agent in game["agents"]]


@pytest.mark.parametrize("name", ["five_o", "poker_squares"])
def test_a_game_ends_without_par_when_the_par_agent_fails(start, monkeypatch, caplog, name):
    with start() as server:
        client = server.client()
        monkeypatch.setattr("cardlab_play.table_store.Table.finish", _fails)
        end = client.finish(client.open({**TABLE_REQUESTS[name], "par": {"agent": "random"}}))
        assert end["status"] == "over"
        assert end["result"]["par"] is None
        assert client.get(f"/api/tables/{end['id']}") == end
        board = client.get("/api/leaderboard", game=name)
        assert bool(board["players"]) == (name == "five_o")  # points above par need par
    assert [record.getMessage() for record in caplog.records] == [f"a game of {name} has no par: no room"]
    assert caplog.records[0].exc_info is None


def test_a_background_failure_logs_one_line(start, monkeypatch, caplog):
    monkeypatch.setattr("cardlab_play.table_store.TableStore.compute_par", _fails)
    with start() as server:
        table = server.client().open(TABLE_REQUESTS["five_o"])
        _wait(lambda: caplog.records)
    assert [record.getMessage() for record in caplog.records] == [f"par of table {table['id']}: no room"]


def test_par_of_a_slow_agent_is_computed_after_the_game(start):
    with start(searches={"monte_carlo": "monte_carlo:simulations:8"}) as server:
        client = server.client()
        rival = {"agent": "reflex_1", "search": "monte_carlo"}
        table = client.finish(client.open({**TABLE_REQUESTS["five_o"], "opponents": [rival]}))
        path = f"/api/tables/{table['id']}"
        assert table["result"]["par"]["title"]  # the title comes before the payoff
        _wait(lambda: client.get(path)["result"]["par"]["payoff"] is not None)
        _wait(lambda: client.get(f"/api/deals/{table['deal']['id']}")["par"] == client.get(path)["result"]["par"])


def test_a_table_with_missing_agents_can_be_resigned_without_a_result(tmp_path):
    client = ApiClient("")
    with run_server(make_options(tmp_path)) as server:
        client.base = server.base
        table = client.open(TABLE_REQUESTS["five_o"])
    path = f"/api/tables/{table['id']}"
    with run_server(make_options(tmp_path)) as server:
        client.base = server.base
        server.dispatcher.store.agents.exclude(make_game("five_o"), AgentChoice("reflex_1"), "gone")
        assert "fails to load (gone)" in client.get(path, 422)["error"]
        end = client.post(f"{path}/resignation", {"number": table["number"]})
        assert end["result"]["resigned"]
        assert not end["deal"]["counts"]
        again = client.get(path)
        assert (again["view"], again["result"]) == (end["view"], end["result"])
        assert client.get("/api/leaderboard", game="five_o")["players"] == []


def test_resigning_works_when_agents_fail(start, monkeypatch):
    with start() as server:
        client = server.client()
        table = client.open(TABLE_REQUESTS["big2"])
        for agent in {type(agent) for agent in server.dispatcher.store.find(1, table["id"]).table.agents}:
            monkeypatch.setattr(agent, "act", _fails)
        end = client.post(f"/api/tables/{table['id']}/resignation", {"number": table["number"]})
        assert end["status"] == "over"
        assert not end["deal"]["counts"]


def test_a_failing_agent_leaves_the_table_unchanged(client, server, monkeypatch, caplog):
    table = client.open(TABLE_REQUESTS["big2"])
    action = table["legal"][-1]["action"]
    with monkeypatch.context() as patch:
        patch.setattr("cardlab.games.big2.agents.Big2GreedyAgent.act", _fails)
        problem = client.move(table, action, 500)
    assert "an agent failed at its move (no room); the table is unchanged" in problem["error"]
    assert "an agent failed in a game of big2: no room" in [record.getMessage() for record in caplog.records]
    assert client.get(f"/api/tables/{table['id']}") == table
    assert client.move(table, action)["number"] > table["number"]


def test_warm_up_finds_unloadable_agents(models, tmp_path):
    agents = AgentCatalog(make_options(tmp_path, models=str(models)))
    tasks = dict(WarmUp(agents, lambda: 0.0).tasks())
    with pytest.raises(AgentUnloadable):
        tasks[f"{models / 'torn'} at five_o"]()
    assert str(models / "torn") not in [entry.agent for entry in agents.entries(make_game("five_o"))]


def _fails(*_):
    raise RuntimeError("no\nroom")


def _wait(holds):
    for _ in range(600):
        if holds():
            return
        time.sleep(0.1)
    raise AssertionError("it took too long")
