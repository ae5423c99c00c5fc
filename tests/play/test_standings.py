"""Results that are kept: leaderboards, the deal of the day, and deals that another person plays again."""

import re
from datetime import UTC, datetime

import numpy as np
import pytest

from cardlab.evaluation.intervals import estimate
from cardlab_play.deals import Deal, Secret
from play_server import ORDERS


def entry(visitor, game, agent):
    board = visitor.get("/api/leaderboard", game=game)
    return next((row for row in board["agents"] if row["agent"] == agent), None), board


def test_the_leaderboard_has_mean_and_interval_of_people_against_an_agent(start):
    with start() as server:
        ann, bob = server.visitor(), server.visitor()
        ann.http.put(ann.base + "/api/session", json={"name": "  Ann\u202e\u0000  Lee "})
        assert ann.get("/api/session") == {"name": "Ann Lee"}
        scores = []
        for seed, visitor in enumerate([ann, ann, bob]):
            end = visitor.finish(visitor.open({"game": "five_o", "opponents": [{"agent": "reflex_2"}]}), seed)
            scores.append(end["result"]["payoff"])
        row, board = entry(ann, "five_o", "reflex_2")
        expected = estimate(np.array(scores))
        assert (row["games"], row["people"]) == (3, 2)
        assert (row["mean"], row["low"], row["high"]) == pytest.approx((expected.mean, expected.low, expected.high))
        assert {(person["name"], person["games"], person["you"]) for person in board["people"]} == {
            ("Ann Lee", 2, True),
            ("", 1, False),
        }


def test_alone_the_score_is_what_is_more_than_par(visitor):
    end = visitor.finish(visitor.open(ORDERS["poker_squares"]))
    result = end["result"]
    row, _ = entry(visitor, "poker_squares", "random")
    assert row["mean"] == pytest.approx(result["payoff"] - result["par"]["payoff"])
    assert (row["low"], row["high"]) == (None, None)


def test_a_deal_is_shared_by_its_id_and_only_the_first_try_counts(visitor, server):
    first = visitor.open(ORDERS["big2"])
    deal = first["deal"]["id"]
    other = server.visitor()
    same = other.open({"game": "big2", "deal": deal})
    assert same["view"] == first["view"]
    assert (same["seats"], same["deal"]["kind"], same["deal"]["counts"]) == (first["seats"], "shared", True)
    for player in (visitor, other):  # before the end, nothing that would speak of hidden cards
        told = player.get(f"/api/deals/{deal}")
        assert (told["finished"], told["par"], told["standings"]) == (False, None, None)
    end, _ = visitor.finish(first, 1), other.finish(same, 1)
    told = other.get(f"/api/deals/{deal}")
    assert [standing["payoff"] for standing in told["standings"]] == [end["result"]["payoff"]] * 2
    assert told["par"] == end["result"]["par"]
    again = other.finish(other.open({"game": "big2", "deal": deal}), 2)
    assert again["deal"]["counts"] is False
    assert len(other.get(f"/api/deals/{deal}")["standings"]) == 2
    row, _ = entry(other, "big2", "greedy")
    assert row["games"] == 1  # a shared deal is not in the leaderboard


def test_the_same_moves_on_the_same_deal_get_the_same_answers(server):
    order = {"game": "thirty_one", "options": {"num_players": 3}, "opponents": [{"agent": "random"}]}
    one, other = server.visitor(), server.visitor()
    first = one.open(order)
    second = other.open({"game": "thirty_one", "deal": first["deal"]["id"]})
    ends = [visitor.finish(table, 5) for visitor, table in ((one, first), (other, second))]
    assert ends[0]["events"] == ends[1]["events"]
    assert ends[0]["result"] == ends[1]["result"]


def test_everybody_has_the_same_deal_of_the_day(visitor, server):
    today = visitor.get("/api/daily")
    assert today["date"] == datetime.now(UTC).date().isoformat()
    assert {deal["game"] for deal in today["deals"]} == {order["game"] for order in ORDERS.values()}
    mine = visitor.open({"game": "open_face", "deal": "daily"})
    theirs = server.visitor().open({"game": "open_face", "deal": "daily"})
    assert mine["view"] == theirs["view"]
    assert mine["deal"] == {"id": theirs["deal"]["id"], "kind": "daily", "counts": True}
    listed = next(deal for deal in visitor.get("/api/daily")["deals"] if deal["game"] == "open_face")
    assert (listed["table"], listed["finished"]) == (mine["id"], False)
    assert visitor.open({"game": "open_face", "deal": "daily"})["deal"]["counts"] is False


def test_ids_say_nothing_and_days_differ():
    secret, other = Secret(b"a" * 32), Secret(b"b" * 32)
    seeds = {secret.daily("big2", "2026-11-21").seed, secret.daily("big2", "2026-11-22").seed,
             secret.daily("five_o", "2026-11-21").seed, other.daily("big2", "2026-11-21").seed}  # fmt: skip
    assert len(seeds) == 4
    deal = Deal(b"c" * 32)
    ids = {secret.deal_id(deal, "x"), other.deal_id(deal, "x"), secret.deal_id(deal, "y")}
    assert len(ids) == 3
    assert all(re.fullmatch(r"[\w-]{22}", text) for text in ids)
