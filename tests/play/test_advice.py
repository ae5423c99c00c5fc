"""The advice and replay API with scripted agents and small policies."""

from pathlib import Path

import numpy as np
import pytest
import torch

from cardlab.agents.policy_descriptions import PolicyError
from cardlab.agents.policy_files import describe, save_policy
from cardlab.core.messages import InvalidOption
from cardlab.games.make_game import make_game
from cardlab.networks.mlp_options import MLPOptions
from cardlab_play.playouts import OptionPlayouts
from play_server import TABLE_REQUESTS, make_options, run_server
from plays import PLAYS

POLICY_KINDS = {"big2": "softmax", "thirty_one": "action_value", "five_o": "afterstate", "open_face": "softmax"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server with a small untrained policy for most games."""
    folder: Path = tmp_path_factory.mktemp("advice")
    for name, plays in POLICY_KINDS.items():
        torch.manual_seed(0)
        game, network = make_game(name), MLPOptions(widths=(8,))
        save_policy(folder / "models" / name, describe(game, network, PLAYS[plays], {}), network.build(game.spec))
    with run_server(make_options(folder, advice_deals=16)) as started:
        yield started


@pytest.mark.parametrize("name", [*POLICY_KINDS, "poker_squares"])
def test_advice_covers_all_legal_actions(server, name):
    client = server.client()
    game = next(entry for entry in client.get("/api/games")["games"] if entry["game"] == name)
    table = client.open({"game": name, "opponents": TABLE_REQUESTS[name].get("opponents"), "practice": True})
    offered = [entry["agent"] for entry in game["agents"]]
    advisor = next((agent for agent in offered if agent.endswith(f"models/{name}")), game["advisor"])
    advice = client.get(f"/api/tables/{table['id']}/advice", agent=advisor)
    legal = [choice["action"] for choice in table["legal"]]
    assert [option["action"] for option in advice["options"]] == legal
    assert [option["text"] for option in advice["options"]] == [choice["text"] for choice in table["legal"]]
    assert advice["action"] in legal
    low, high = make_game(name).spec.payoff_range
    assert low <= advice["value"] <= high
    values = {option["action"]: option["value"] for option in advice["options"]}
    recommended = advice["verdict"]["recommended"]
    assert values[recommended["action"]] == advice["value"]
    source = advice["verdict"] if advice["verdict"]["agrees"] is False else advice
    assert (recommended["action"], recommended["text"]) == (source["action"], source["text"])
    assert all(option["margin"] >= 0 for option in advice["options"])
    assert advice["deals"] == 16
    best = max(advice["options"], key=lambda option: option["value"])
    assert advice["verdict"]["difference"] == pytest.approx(best["value"] - values[advice["action"]], abs=1e-3)
    assert (advice["verdict"]["agrees"] is True) == (advice["verdict"]["action"] == advice["action"])
    assert advice["win_probability"] is None if name == "poker_squares" else 0 <= advice["win_probability"] <= 1
    if name in POLICY_KINDS:
        assert sum(option["probability"] for option in advice["options"]) == pytest.approx(1, abs=1e-2)
        blocks = {block.name: list(block.shape) for block in make_game(name).spec.blocks}
        assert {block["name"]: block["shape"] for block in advice["observation"]} == blocks
        assert all(len(block["values"]) == np.prod(block["shape"], dtype=int) for block in advice["observation"])
    assert client.get(f"/api/tables/{table['id']}/advice", agent=advisor) == advice


def test_the_belief_covers_the_hidden_cards(server):
    client = server.client()
    table = client.open({**TABLE_REQUESTS["big2"], "practice": True})
    belief = client.get(f"/api/tables/{table['id']}/advice", agent="greedy")["belief"]
    gone = {*table["view"]["hand"], *table["view"]["played"]}
    assert {card["card"] for card in belief["cards"]} == {r + s for r in "23456789TJQKA" for s in "cdhs"} - gone
    for player, count in enumerate(table["view"]["counts"]):
        held = sum(card["probabilities"][player] for card in belief["cards"])
        assert held == pytest.approx(0 if player == table["seat"] else count, abs=1e-2)


def test_the_champion_s_belief_network_is_used_for_its_options_only(server):
    client = server.client()
    for options, source in ({}, "network"), ({"penalty": "doubled"}, "uniform"):
        table = client.open({**TABLE_REQUESTS["big2"], "options": options, "practice": True})
        belief = client.get(f"/api/tables/{table['id']}/advice", agent="greedy")["belief"]
        assert belief["source"] == source


def test_an_invalid_belief_network_is_rejected_at_the_start(start, tmp_path):
    with pytest.raises(PolicyError, match=r"no belief\.json in it"), start(belief={"big2": str(tmp_path)}):
        pass
    with pytest.raises(InvalidOption, match="whist"), start(belief={"whist": str(tmp_path)}):
        pass


@pytest.mark.parametrize("name", ["big2", "thirty_one", "poker_squares"])
def test_a_replay_reviews_every_move_of_the_player(server, name):
    client = server.client()
    table = client.open(TABLE_REQUESTS[name])
    path = f"/api/tables/{table['id']}/replay"
    assert "after the end" in client.get(path, 409)["error"]
    end = client.finish(table, seed=3)
    replay = client.get(path)
    reviewed = [frame for frame in replay["frames"] if frame["review"]]
    assert {frame["player"] for frame in reviewed} == {table["seat"]}
    assert len(reviewed) == sum(frame["player"] == table["seat"] for frame in replay["frames"])
    assert all(sum(option["chosen"] for option in frame["review"]["options"]) == 1 for frame in reviewed)
    drops = sum(frame["review"]["drop"] for frame in reviewed)
    assert reviewed[0]["review"]["value"] - drops == pytest.approx(end["result"]["payoff"], abs=0.02)
    costs = {frame["number"]: frame["review"]["cost"] for frame in reviewed if frame["review"]["costly"]}
    assert replay["costly_moves"] == sorted(costs, key=lambda n: -costs[n])[:5]
    assert all(cost > 0 for cost in costs.values())
    for frame in replay["frames"]:
        assert (frame["move"] is None) == (frame["player"] != table["seat"])
    assert all(
        frame["move"]["action"] == option["action"]
        for frame in reviewed
        for option in frame["review"]["options"]
        if option["chosen"]
    )
    hands = replay["frames"][0]["hands"]
    if name == "big2":
        assert sorted(len(hand) for hand in hands) == [12, 13, 13, 13]
    assert (hands is None) == (name == "poker_squares")


def test_a_review_skips_forced_moves(server):
    client = server.client()
    table = client.open(TABLE_REQUESTS["big2"])
    end = client.finish(table, seed=5)
    replay = client.get(f"/api/tables/{table['id']}/replay", agent="greedy")
    reviewed = [frame["review"] for frame in replay["frames"] if frame["review"]]
    assert any(len(move["options"]) == 1 for move in reviewed), "no move of this game had a single option"
    assert reviewed[0]["value"] - sum(move["drop"] for move in reviewed) == pytest.approx(
        end["result"]["payoff"], abs=0.02
    )


def test_fewer_deals_are_a_quick_first_answer(server):
    client = server.client()
    table = client.open({**TABLE_REQUESTS["big2"], "practice": True})
    path = f"/api/tables/{table['id']}/advice"
    first, whole = client.get(path, agent="greedy", deals=8), client.get(path, agent="greedy")
    assert first["deals"] == 8 < whole["deals"]
    assert first["verdict"]["recommended"]["action"] in {option["action"] for option in whole["options"]}


def test_a_search_shows_values_and_visits(server):
    client = server.client()
    table = client.open({"game": "five_o", "opponents": [{"agent": "reflex_1"}], "practice": True})
    path = f"/api/tables/{table['id']}/advice"
    for search, simulations in ("monte_carlo", 200), ("tree", 200):
        advice = client.get(path, agent="reflex_1", search=search)
        assert sum(option["visits"] for option in advice["options"]) == advice["simulations"] <= simulations
        assert all((option["search_value"] is None) == (option["visits"] == 0) for option in advice["options"])
        assert all(option["probability"] is None for option in advice["options"])
        assert advice["played_by"] == "Reflex 1"


def test_a_game_that_counts_has_no_advice(server):
    client = server.client()
    table = client.open(TABLE_REQUESTS["big2"])
    for agent in (None, "greedy"):
        error = client.get(f"/api/tables/{table['id']}/advice", 409, agent=agent)["error"]
        assert error == "this game counts: advice is for practice games"


@pytest.mark.parametrize(("gap", "clearly"), [(1.0, True), (0.05, False)])
def test_options_are_compared_on_the_same_deals(gap, clearly):
    luck, own = np.random.default_rng(0).normal(size=(64, 1)), np.random.default_rng(1).normal(size=(64, 2))
    found = OptionPlayouts([3, 7], luck + own / 2 + np.array([[0.0, gap]]), np.zeros((64, 2)))
    assert found.best() == 7
    assert found.is_clearly_better(7, 3) is clearly
    assert not found.is_clearly_better(3, 7)
    assert found.difference(7, 3)[1] < found.value(3)[1] + found.value(7)[1]


def test_an_unknown_advisor_is_rejected(server):
    client = server.client()
    table = client.open({**TABLE_REQUESTS["big2"], "practice": True})
    for agent in ("nobody", "../../etc", "monte_carlo:simulations:99999999"):
        assert client.get(f"/api/tables/{table['id']}/advice", 422, agent=agent)["key"] == "query.agent"
