"""Leaderboards, daily deals and shared deals."""

import re
from datetime import UTC, datetime

import numpy as np
import pytest

from cardlab.evaluation.intervals import share_interval
from cardlab_play.deals import Deal, Secret
from play_server import TABLE_REQUESTS


def entry(client, game, agent):
    board = client.get("/api/leaderboard", game=game)
    return next((row for row in board["agents"] if row["agent"] == agent), None), board


def test_the_leaderboard_has_mean_and_interval_by_agent(start):
    with start() as server:
        ann, bob = server.client(), server.client()
        ann.http.put(ann.base + "/api/session", json={"name": "  Ann\u202e\u0000  Lee "})
        assert ann.get("/api/session") == {"name": "Ann Lee"}
        scores = []
        for seed, client in enumerate([ann, ann, bob]):
            end = client.finish(client.open({"game": "five_o", "opponents": [{"agent": "reflex_2"}]}), seed)
            scores.append((end["result"]["payoff"] + 1) / 2)  # 1 for a win, a half for a tie
        row, board = entry(ann, "five_o", "reflex_2")
        low, high = share_interval(sum(scores), len(scores))
        assert (row["games"], row["players"]) == (3, 2)
        assert (row["mean"], row["low"], row["high"]) == pytest.approx((np.mean(scores), low, high))
        assert {(row["name"], row["games"], row["you"]) for row in board["players"]} == {
            ("Ann Lee", 2, True),
            ("", 1, False),
        }


def test_one_player_games_are_scored_by_points_above_par(client):
    end = client.finish(client.open(TABLE_REQUESTS["poker_squares"]))
    result = end["result"]
    row, _ = entry(client, "poker_squares", "random")
    assert row["mean"] == pytest.approx(result["payoff"] - result["par"]["payoff"])
    assert (row["low"], row["high"]) == (None, None)


def test_only_the_first_game_with_a_shared_deal_counts(client, server):
    first = client.open(TABLE_REQUESTS["big2"])
    deal = first["deal"]["id"]
    shared = {"game": "big2", "deal": deal}
    other = server.client()
    other.get(f"/api/deals/{deal}", 404)  # a fresh deal is not shared before its end
    other.open(shared, 404)
    end = client.finish(first, 1)
    same = other.open(shared)
    assert same["view"] == first["view"]
    assert (same["seats"], same["deal"]["kind"], same["deal"]["counts"]) == (first["seats"], "shared", True)
    reported = other.get(f"/api/deals/{deal}")  # before the end, no results: they would reveal hidden cards
    assert (reported["finished"], reported["par"], reported["results"]) == (False, None, None)
    other.finish(same, 1)
    reported = other.get(f"/api/deals/{deal}")
    assert [standing["payoff"] for standing in reported["results"]] == [end["result"]["payoff"]] * 2
    assert reported["par"] == end["result"]["par"]
    again = other.finish(other.open(shared), 2)
    assert again["deal"]["counts"] is False
    assert len(other.get(f"/api/deals/{deal}")["results"]) == 2
    row, _ = entry(other, "big2", "greedy")
    assert row["games"] == 1  # shared deals are not in the leaderboard


def test_the_same_moves_get_the_same_replies(server):
    table_request = {"game": "thirty_one", "options": {"num_players": 3}, "opponents": [{"agent": "random"}]}
    one, other = server.client(), server.client()
    first = one.finish(one.open(table_request), 5)
    second = other.open({"game": "thirty_one", "deal": first["deal"]["id"]})
    ends = [first, other.finish(second, 5)]
    assert ends[0]["events"] == ends[1]["events"]
    assert ends[0]["result"] == ends[1]["result"]


def test_all_users_have_the_same_daily_deal(client, server):
    today = client.get("/api/daily")
    assert today["date"] == datetime.now(UTC).date().isoformat()
    assert {deal["game"] for deal in today["deals"]} == {
        table_request["game"] for table_request in TABLE_REQUESTS.values()
    }
    mine = client.open({"game": "open_face", "deal": "daily"})
    theirs = server.client().open({"game": "open_face", "deal": "daily"})
    assert mine["view"] == theirs["view"]
    assert mine["deal"] == {"id": theirs["deal"]["id"], "kind": "daily", "counts": True}
    listed = next(deal for deal in client.get("/api/daily")["deals"] if deal["game"] == "open_face")
    assert (listed["table"], listed["finished"]) == (mine["id"], False)
    client.open({"game": "open_face", "deal": "daily"}, 409)
    client.finish(mine)
    assert client.open({"game": "open_face", "deal": "daily"})["deal"]["counts"] is False


def test_deal_ids_depend_on_the_secret_and_days_differ():
    secret, other = Secret(b"a" * 32), Secret(b"b" * 32)
    seeds = {secret.daily("big2", "2026-11-21").seed, secret.daily("big2", "2026-11-22").seed,
             secret.daily("five_o", "2026-11-21").seed, other.daily("big2", "2026-11-21").seed}  # fmt: skip
    assert len(seeds) == 4
    deal = Deal(b"c" * 32)
    ids = {secret.deal_id(deal, "x"), other.deal_id(deal, "x"), secret.deal_id(deal, "y")}
    assert len(ids) == 3
    assert all(re.fullmatch(r"[\w-]{22}", text) for text in ids)
