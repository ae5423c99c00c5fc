"""The tables API: whole games and invalid requests."""

import pytest

from cardlab_play.serializers import result_text
from play_server import TABLE_REQUESTS


@pytest.mark.parametrize("table_request", TABLE_REQUESTS.values(), ids=TABLE_REQUESTS)
def test_a_whole_game(client, table_request):
    table = client.open(table_request)
    assert table["seats"][table["seat"]]["title"] == "You"
    end = client.finish(table)
    result = end["result"]
    assert end["legal"] == []
    assert result["payoff"] == result["payoffs"][end["seat"]]
    assert len(result["payoffs"]) == len(end["seats"])
    assert client.get(f"/api/tables/{table['id']}") == end
    assert table["id"] not in {open_table["id"] for open_table in client.get("/api/tables")["tables"]}


def test_events_lead_to_the_next_state(client):
    table = client.open(TABLE_REQUESTS["big2"])
    before = table["number"]
    after = client.move(table, table["legal"][0]["action"])
    numbers = [event["number"] for event in after["events"]]
    assert numbers == list(range(before + 1, after["number"] + 1))
    assert after["events"][-1]["view"] == after["view"]
    assert [event["player"] for event in after["events"]] == [(2 + step) % 4 for step in range(len(numbers))]


def test_a_showdown_reveals_all_hands_and_lost_lives(client):
    table = client.open({**TABLE_REQUESTS["thirty_one"], "options": {"num_players": 3, "lives": 3}})
    while True:
        call = next((choice for choice in table["legal"] if choice["kind"] == "call"), table["legal"][-1])
        table = client.move(table, call["action"])
        shown = [event for event in table["events"] if event["kind"] == "showdown"]
        if shown:
            break
    showdown = shown[0]
    assert all(len(hand) == 3 and None not in hand for hand in showdown["hands"])
    assert [3 - lost for lost in showdown["lost"]] == showdown["lives"]
    assert showdown["caller"] is not None


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ({"game": "chess"}, "game"),
        ({"game": "thirty_one", "options": {"num_players": 10}}, "options.num_players"),
        ({"game": "thirty_one", "options": {"num_players": True}}, "options.num_players.int"),
        ({"game": "thirty_one", "options": {"features": "paper"}}, "options.features"),
        ({"game": "big2", "seat": 4}, "seat"),
        ({"game": "big2", "opponents": [{"agent": "greedy"}, {"agent": "random"}]}, "opponents"),
        ({"game": "big2", "opponents": [{"agent": "/etc"}]}, "opponents[0].agent"),
        ({"game": "big2", "opponents": [{"agent": "monte_carlo:simulations:1000000"}]}, "opponents[0].agent"),
        ({"game": "big2", "opponents": [{"agent": "greedy", "search": "puct"}]}, "opponents[0].search"),
        ({"game": "big2", "cheat": True}, "cheat"),
        ({"game": "big2", "deal": "daily", "seat": 1}, "seat"),
    ],
)
def test_an_invalid_table_request_is_rejected_by_its_key(client, body, key):
    assert client.open(body, 422)["key"] == key


def test_invalid_moves_are_rejected_and_change_nothing(client):
    table = client.open(TABLE_REQUESTS["big2"])
    path = f"/api/tables/{table['id']}"
    illegal = next(action for action in range(1695) if action not in {c["action"] for c in table["legal"]})
    assert "not legal" in client.move(table, illegal, 422)["error"]
    assert "reload" in client.post(f"{path}/moves", {"action": 0, "number": table["number"] + 1}, 409)["error"]
    client.post(f"{path}/moves", {"action": "0", "number": table["number"]}, 422)
    assert client.get(path) == table


def test_a_resigned_game_is_over(client):
    table = client.open(TABLE_REQUESTS["five_o"])
    end = client.post(f"/api/tables/{table['id']}/resignation", {"number": table["number"]})
    assert end["status"] == "over"
    assert end["result"]["resigned"]
    assert "over" in client.move(end, 0, 409)["error"]


def test_the_history_has_all_events(client):
    table = client.open(TABLE_REQUESTS["thirty_one of nine"])
    reported = list(table["events"])
    for _ in range(3):
        if table["status"] == "over":
            break
        table = client.move(table, table["legal"][0]["action"])
        reported += table["events"]
    history = client.get(f"/api/tables/{table['id']}/history")["events"]
    assert history == [{key: value for key, value in event.items() if key != "view"} for event in reported][-100:]


def test_searches_and_options_have_labels(client):
    games = {game["game"]: game for game in client.get("/api/games")["games"]}
    titles = [search["title"] for search in games["big2"]["searches"]]
    assert titles == ["Monte Carlo, 200 playouts a move", "Tree search, 200 descents a move"]
    for option in (option for game in games.values() for option in game["options"]):
        assert len(option["labels"]) == len(option["values"])
        assert all("_" not in words for words in option["labels"])


def test_each_game_offers_agents_and_defaults(client):
    for game in client.get("/api/games")["games"]:
        assert game["agents"][-1]["agent"] == "random"
        assert {"planner", "greedy", "lowest"} <= {a["agent"] for a in game["agents"]} or game["game"] != "big2"
        assert game["default_agent"] in {agent["agent"] for agent in game["agents"]}
        for option in game["options"]:
            assert option["default"] in option["values"]


@pytest.mark.parametrize("name", TABLE_REQUESTS)
def test_undo_takes_back_moves_of_a_practice_game(client, name):
    table = client.open({**TABLE_REQUESTS[name], "practice": True})
    path = f"/api/tables/{table['id']}/undo"
    assert "no move to take back" in client.post(path, {"number": table["number"]}, 409)["error"]
    second = client.move(table, table["legal"][0]["action"])
    assert client.post(path, {"number": second["number"]}) == table
    assert "number" in client.post(path, {"number": second["number"]}, 409)["error"]
    assert client.move(table, table["legal"][0]["action"]) == second  # the same moves get the same replies
    end = client.finish(second, 1)
    assert client.post(path, {"number": end["number"]}, 409)["error"] == "the game is over"
    assert end["deal"]["counts"] is False


def test_practice_is_for_fresh_deals(client):
    refused = client.open({"game": "big2", "deal": "daily", "practice": True}, 422)
    assert refused["key"] == "practice"
    table = client.open(TABLE_REQUESTS["big2"])
    second = client.move(table, table["legal"][0]["action"])
    refused = client.post(f"/api/tables/{table['id']}/undo", {"number": second["number"]}, 409)
    assert refused["error"] == "this game counts: undo is for practice games"
    end = client.finish(client.open({**TABLE_REQUESTS["poker_squares"], "practice": True}))
    board = client.get("/api/leaderboard", game="poker_squares")
    assert end["result"]["par"]["payoff"] is not None
    assert end["result"]["par"]["agent"] == "random", "so that the page can play against it again"
    assert not [row for row in board["players"] if row["you"]]


@pytest.mark.parametrize(
    ("game", "payoffs", "text"),
    [
        ("big2", [-12.0, 15.0, -2.0, -1.0], "You lost, −12 points"),
        ("big2", [1.0, -1.0, 0.0, 0.0], "You won, +1 point"),
        ("open_face", [0.0, 0.0], "You tied, 0 points"),
        ("thirty_one", [-0.5, 1.0, -0.5], "You lost the match"),
        ("five_o", [1.0, -1.0], "You won the game"),
        ("poker_squares", [96.0], "You scored 96 points"),
    ],
)
def test_results_are_said_in_words(game, payoffs, text):
    assert result_text(game, payoffs, 0) == text
