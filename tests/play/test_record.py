"""The record of a player on the page and by `cardlab play record`."""

import json

import numpy as np
import pytest
from scipy.stats import binomtest

from cardlab.cli import main
from cardlab.evaluation.intervals import estimate, share_interval
from cardlab_play.leaderboards import win_share
from play_server import TABLE_REQUESTS


@pytest.mark.parametrize(("wins", "games"), [(0, 15), (9, 15), (15, 15), (31, 40), (1, 1)])
def test_intervals_of_shares_are_exact(wins, games):
    known = binomtest(wins, games).proportion_ci(method="exact")
    assert share_interval(wins, games) == pytest.approx((known.low, known.high))


@pytest.mark.parametrize(
    ("payoffs", "seat", "score", "share"),
    [
        ([3, -1, -1, -1], 0, 3, 1),
        ([3, -1, -1, -1], 2, -1, 0),
        ([0, 0], 1, 0, 0.5),
        ([90], 0, 5, 1),
        ([90], 0, 0, 0.5),
        ([90], 0, -2, 0),
    ],
)
def test_ties_are_split(payoffs, seat, score, share):
    assert win_share(payoffs, seat, score) == share


def test_the_record_has_each_agent_with_intervals(tmp_path, monkeypatch, capsys, start):
    with start() as server:
        ann, bob = server.client(), server.client()
        ann.http.put(ann.base + "/api/session", json={"name": "Ann"})
        assert ann.get("/api/record") == {"rows": []}
        payoffs = []
        for seed in range(3):
            end = ann.finish(ann.open({"game": "five_o", "opponents": [{"agent": "reflex_2"}]}), seed)
            payoffs.append(end["result"]["payoff"])
        squares = ann.finish(ann.open(TABLE_REQUESTS["poker_squares"]))["result"]
        bob.finish(bob.open(TABLE_REQUESTS["big2"]))
        rows = ann.get("/api/record")["rows"]
        assert [(row["game"], row["against"], row["games"]) for row in rows] == [
            ("five_o", "Reflex 2", 3),
            ("poker_squares", "Random", 1),
        ]
        duel, alone = rows
        assert (duel["won"], duel["tied"], duel["lost"]) == tuple(payoffs.count(result) for result in (1, 0, -1))
        mean = estimate(np.array(payoffs))
        assert (duel["mean"], duel["mean_low"], duel["mean_high"]) == pytest.approx((mean.mean, mean.low, mean.high))
        assert alone["mean"] == squares["payoff"] - squares["par"]["payoff"]
        assert (alone["mean_low"], alone["mean_high"]) == (None, None)

    def printed(*words):
        assert main(["play", "record", f"play.folder={tmp_path / 'play'}", *words]) == 0
        return capsys.readouterr()

    monkeypatch.chdir(tmp_path)
    everyone = json.loads(printed("--json").out)
    assert [row for row in everyone if row["player"] == "Ann"] == rows
    assert [row["game"] for row in everyone if row["player"] == "player 2"] == ["big2"]
    lines = printed("player=ann", "game=five_o").out.splitlines()
    assert lines[0].split("  ")[0] == "player"
    assert [line.split()[:5] for line in lines[1:]] == [["Ann", "five_o", "Reflex", "2", "3"]]
    assert "no finished games" in printed("player=nobody").err


def test_the_record_creates_no_database(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["play", "record"]) == 0
    assert "cardlab play" in capsys.readouterr().err
    assert main(["play", "record", "play.database=sqlite:///none.db"]) == 0
    assert list(tmp_path.iterdir()) == []
