"""The panel and the replay, asked over the wire of scripted agents and of small policies."""

from pathlib import Path

import numpy as np
import pytest
import torch

from cardlab.agents.beliefs import BeliefError
from cardlab.agents.policies import describe, save_policy
from cardlab.core.options import InvalidOption
from cardlab.games.catalogue import make_game
from cardlab.networks.mlp import MLPOptions
from play_server import ORDERS, options_in, running

POLICY_KINDS = {"big2": "softmax", "thirty_one": "action_value", "five_o": "afterstate", "open_face": "softmax"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server with a small untrained policy for most games."""
    folder: Path = tmp_path_factory.mktemp("thoughts")
    for name, plays in POLICY_KINDS.items():
        torch.manual_seed(0)
        game, network = make_game(name), MLPOptions(widths=(8,))
        save_policy(folder / "models" / name, describe(game, network, plays, {}), network.build(game.spec))
    with running(options_in(folder, advice_deals=16)) as started:
        yield started


@pytest.mark.parametrize("name", [*POLICY_KINDS, "poker_squares"])
def test_advice_speaks_of_every_legal_action(server, name):
    visitor = server.visitor()
    game = next(entry for entry in visitor.get("/api/choices")["games"] if entry["game"] == name)
    table = visitor.open({"game": name, "opponents": ORDERS[name].get("opponents")})
    offered = [entry["agent"] for entry in game["agents"]]
    advisor = next((agent for agent in offered if agent.endswith(f"models/{name}")), game["advisor"])
    advice = visitor.get(f"/api/tables/{table['id']}/advice", agent=advisor)
    legal = [choice["action"] for choice in table["legal"]]
    assert [option["action"] for option in advice["options"]] == legal
    assert [option["text"] for option in advice["options"]] == [choice["text"] for choice in table["legal"]]
    assert advice["action"] in legal
    low, high = make_game(name).spec.payoff_range
    assert low <= advice["value"] <= high
    assert advice["win"] is None if name == "poker_squares" else 0 <= advice["win"] <= 1
    if name in POLICY_KINDS:
        assert sum(option["probability"] for option in advice["options"]) == pytest.approx(1, abs=1e-2)
        blocks = {block.name: list(block.shape) for block in make_game(name).spec.blocks}
        assert {block["name"]: block["shape"] for block in advice["input"]} == blocks
        assert all(len(block["values"]) == np.prod(block["shape"], dtype=int) for block in advice["input"])
    assert visitor.get(f"/api/tables/{table['id']}/advice", agent=advisor) == advice


def test_the_belief_is_about_cards_that_others_may_hold(server):
    visitor = server.visitor()
    table = visitor.open(ORDERS["big2"])
    belief = visitor.get(f"/api/tables/{table['id']}/advice", agent="greedy")["belief"]
    gone = {*table["view"]["hand"], *table["view"]["played"]}
    assert {card["card"] for card in belief["cards"]} == {r + s for r in "23456789TJQKA" for s in "cdhs"} - gone
    for player, count in enumerate(table["view"]["counts"]):
        held = sum(card["chances"][player] for card in belief["cards"])
        assert held == pytest.approx(0 if player == table["seat"] else count, abs=1e-2)


def test_the_champion_s_belief_is_asked_where_its_rules_are_played(server):
    visitor = server.visitor()
    for options, source in ({}, "network"), ({"penalty": "doubled"}, "uniform"):
        table = visitor.open({**ORDERS["big2"], "options": options})
        belief = visitor.get(f"/api/tables/{table['id']}/advice", agent="greedy")["belief"]
        assert belief["from"] == source


def test_a_wrong_belief_is_refused_before_anything_is_served(start, tmp_path):
    with pytest.raises(BeliefError, match=r"no belief\.json in it"), start(belief={"big2": str(tmp_path)}):
        pass
    with pytest.raises(InvalidOption, match="whist"), start(belief={"whist": str(tmp_path)}):
        pass


@pytest.mark.parametrize("name", ["big2", "thirty_one", "poker_squares"])
def test_a_replay_judges_every_move_of_the_person_and_shows_all(server, name):
    visitor = server.visitor()
    table = visitor.open(ORDERS[name])
    path = f"/api/tables/{table['id']}/replay"
    assert "over" in visitor.get(path, 409)["error"]
    end = visitor.finish(table, seed=3)
    replay = visitor.get(path)
    judged = [frame for frame in replay["frames"] if frame["judged"]]
    assert {frame["player"] for frame in judged} == {table["seat"]}
    assert len(judged) == sum(frame["player"] == table["seat"] for frame in replay["frames"])
    assert all(sum(option["chosen"] for option in frame["judged"]["options"]) == 1 for frame in judged)
    drops = sum(frame["judged"]["dropped"] for frame in judged)
    assert judged[0]["judged"]["value"] - drops == pytest.approx(end["result"]["payoff"], abs=0.02)
    fallen = {frame["number"]: frame["judged"]["dropped"] for frame in judged}
    assert replay["worst"] == sorted(fallen, key=lambda n: -fallen[n])[: len(replay["worst"])]
    hands = replay["frames"][0]["hands"]
    if name == "big2":
        assert sorted(len(hand) for hand in hands) == [12, 13, 13, 13]
    assert (hands is None) == (name == "poker_squares")


def test_a_judge_without_values_passes_over_moves_without_a_choice(server):
    visitor = server.visitor()
    table = visitor.open(ORDERS["big2"])
    end = visitor.finish(table, seed=5)
    replay = visitor.get(f"/api/tables/{table['id']}/replay", agent="greedy")
    judged = [frame["judged"] for frame in replay["frames"] if frame["judged"]]
    assert any(len(move["options"]) == 1 for move in judged), "no move of this game had a single option"
    assert judged[0]["value"] - sum(move["dropped"] for move in judged) == pytest.approx(
        end["result"]["payoff"], abs=0.02
    )


def test_an_advisor_who_is_not_in_the_list_is_refused(server):
    visitor = server.visitor()
    table = visitor.open(ORDERS["big2"])
    for agent in ("nobody", "../../etc", "monte_carlo:simulations:99999999"):
        assert visitor.get(f"/api/tables/{table['id']}/advice", 422, agent=agent)["key"] == "query.agent"
