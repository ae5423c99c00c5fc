"""Strength through training: what is played, and that a training which walks in circles is seen to."""

import csv
import json

import pytest

from cardlab.evaluation.evaluate import evaluate
from cardlab.evaluation.match import play_match
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.snapshot_matches import Snapshot, play_snapshots, write_snapshot_scores
from small_games.high_card import HighCard
from small_games.roshambo import Roshambo

OPTIONS = ArenaOptions(deals=5000, pairing_deals=60, seed=1, until=0.5, references=("random",))


def history_of(game, names, options=OPTIONS):
    return play_snapshots(
        game, [Snapshot(100 * n, name, name) for n, name in enumerate(names, 1)], options, experiment="x"
    )


@pytest.mark.parametrize("num_players", [1, 2, 3])
def test_each_is_played_against_references_and_all_before_it(num_players, high_card_agents, tmp_path):
    game = HighCard(num_players)
    history = history_of(game, ["low", "random", "high"])
    assert history["decisions"] == [100, 200, 300]
    assert [(later, earlier) for later, earlier, *_ in history["margins"]] == [(1, 0), (2, 0), (2, 1)]
    assert all(low <= mean <= high for *_, mean, low, high in history["margins"])
    assert all(mean > 0 for *_, mean, _, _ in history["margins"])
    assert history["cycles"] == []
    alone = evaluate(game, "high", OPTIONS.for_pairings(), policy_digest="", experiment="")
    assert {name: rows[2] for name, rows in history["references"].items()} == alone["references"]
    write_snapshot_scores(history, tmp_path / "snapshot_scores.csv")
    with (tmp_path / "snapshot_scores.csv").open() as file:
        rows = list(csv.DictReader(file))
    own = "self" if num_players == 1 else "random"
    assert [float(row["score"]) for row in rows] == pytest.approx(
        [figures["mean"] for figures in history["references"][own]], rel=1e-5, abs=1e-9
    )
    assert [row["previous"] == "" for row in rows] == [True, False, False]


def test_margins_are_half_of_what_lies_between_the_players(high_card_agents):
    history = history_of(HighCard(2), ["low", "high"])
    match = play_match(HighCard(2), ["high", "low"], 60, 1)
    assert history["margins"][0][2:] == pytest.approx([match.mean, *match.interval])


def test_all_pairing_deals_are_played_whatever_until_says(high_card_agents):
    history = history_of(HighCard(2), ["low", "high"])
    assert history["deals"] == 60
    assert {row["deals"] for row in history["references"]["random"]} == {60}


def test_the_same_matches_give_the_same_figures(high_card_agents):
    one, two = (history_of(HighCard(2), ["low", "random", "high"]) for _ in range(2))
    assert json.dumps(one) == json.dumps(two)


def test_no_snapshots_no_rows(high_card_agents, tmp_path):
    history = history_of(HighCard(2), [])
    write_snapshot_scores(history, tmp_path / "snapshot_scores.csv")
    assert history["margins"] == []
    assert (tmp_path / "snapshot_scores.csv").read_text().startswith("decisions,score")


def test_a_training_in_circles_is_seen(roshambo_agents):
    """Each beats the one before it; only the matrix of past selves shows that nothing was gained."""
    history = history_of(Roshambo(), ["rock", "paper", "scissors"])
    margins = {(later, earlier): mean for later, earlier, mean, _, _ in history["margins"]}
    assert margins == {(1, 0): 1, (2, 1): 1, (2, 0): -1}
    assert history["cycles"] == [{"places": [0, 2, 1], "sure": True}]
