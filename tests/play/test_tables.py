"""Tables over the wire: whole games of every kind, and what is refused on the way."""

import pytest

from play_server import ORDERS


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_a_whole_game(visitor, order):
    table = visitor.open(order)
    assert table["seats"][table["seat"]]["title"] == "You"
    end = visitor.finish(table)
    result = end["result"]
    assert end["legal"] == []
    assert result["payoff"] == result["payoffs"][end["seat"]]
    assert len(result["payoffs"]) == len(end["seats"])
    assert visitor.get(f"/api/tables/{table['id']}") == end
    assert table["id"] not in {open_table["id"] for open_table in visitor.get("/api/tables")["tables"]}


def test_events_lead_from_one_table_to_the_next(visitor):
    table = visitor.open(ORDERS["big2"])
    before = table["number"]
    after = visitor.move(table, table["legal"][0]["action"])
    numbers = [event["number"] for event in after["events"]]
    assert numbers == list(range(before + 1, after["number"] + 1))
    assert after["events"][-1]["view"] == after["view"]
    assert [event["player"] for event in after["events"]] == [(2 + step) % 4 for step in range(len(numbers))]


def test_a_showdown_tells_all_hands_and_what_it_cost(visitor):
    table = visitor.open({**ORDERS["thirty_one"], "options": {"num_players": 3, "lives": 3}})
    while True:
        call = next((choice for choice in table["legal"] if choice["kind"] == "call"), table["legal"][-1])
        table = visitor.move(table, call["action"])
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
        ({"game": "thirty_one", "options": {"features": "seed"}}, "options.features"),
        ({"game": "big2", "seat": 4}, "seat"),
        ({"game": "big2", "opponents": [{"agent": "greedy"}, {"agent": "random"}]}, "opponents"),
        ({"game": "big2", "opponents": [{"agent": "/etc"}]}, "opponents[0].agent"),
        ({"game": "big2", "opponents": [{"agent": "monte_carlo:simulations:1000000"}]}, "opponents[0].agent"),
        ({"game": "big2", "opponents": [{"agent": "greedy", "search": "puct"}]}, "opponents[0].search"),
        ({"game": "big2", "cheat": True}, "cheat"),
        ({"game": "big2", "deal": "daily", "seat": 1}, "seat"),
    ],
)
def test_a_wrong_order_is_refused_by_its_key(visitor, body, key):
    assert visitor.open(body, 422)["key"] == key


def test_wrong_moves_are_refused_and_change_nothing(visitor):
    table = visitor.open(ORDERS["big2"])
    path = f"/api/tables/{table['id']}"
    illegal = next(action for action in range(1695) if action not in {c["action"] for c in table["legal"]})
    assert "not legal" in visitor.move(table, illegal, 422)["error"]
    assert "gone on" in visitor.post(f"{path}/moves", {"action": 0, "number": table["number"] + 1}, 409)["error"]
    visitor.post(f"{path}/moves", {"action": "0", "number": table["number"]}, 422)
    assert visitor.get(path) == table


def test_a_game_that_is_given_up_is_over_and_counts(visitor):
    table = visitor.open(ORDERS["five_o"])
    end = visitor.post(f"/api/tables/{table['id']}/resignation", {"number": table["number"]})
    assert end["status"] == "over"
    assert end["result"]["given_up"]
    assert "over" in visitor.move(end, 0, 409)["error"]


def test_the_history_is_all_that_was_told(visitor):
    table = visitor.open(ORDERS["thirty_one of nine"])
    told = list(table["events"])
    for _ in range(3):
        if table["status"] == "over":
            break
        table = visitor.move(table, table["legal"][0]["action"])
        told += table["events"]
    history = visitor.get(f"/api/tables/{table['id']}/history")["events"]
    assert history == [{key: value for key, value in event.items() if key != "view"} for event in told][-100:]


def test_searches_and_options_are_called_what_they_are(visitor):
    games = {game["game"]: game for game in visitor.get("/api/choices")["games"]}
    titles = [search["title"] for search in games["big2"]["searches"]]
    assert titles == ["Monte Carlo, 200 playouts a move", "Tree search, 200 descents a move"]
    for option in (option for game in games.values() for option in game["options"]):
        assert len(option["words"]) == len(option["values"])
        assert all("_" not in words for words in option["words"])


def test_who_can_be_chosen_can_sit_down(visitor):
    for game in visitor.get("/api/choices")["games"]:
        assert game["agents"][-1]["agent"] == "random"
        assert {"planner", "greedy", "lowest"} <= {a["agent"] for a in game["agents"]} or game["game"] != "big2"
        assert game["default_agent"] in {agent["agent"] for agent in game["agents"]}
        for option in game["options"]:
            assert option["default"] in option["values"]
