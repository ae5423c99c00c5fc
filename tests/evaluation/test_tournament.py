import csv
import json
import os
import shutil

import numpy as np
import pytest

from cardlab.core.messages import InvalidOption
from cardlab.evaluation import played_deals
from cardlab.evaluation.intervals import Estimate
from cardlab.evaluation.match import play_match
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.pairings import Cycle, cycles, rate
from cardlab.evaluation.played_deals import match_key
from cardlab.evaluation.seating import make_lineup
from cardlab.evaluation.tournament import run_tournament, tournament_table
from cardlab.games.make_game import make_game
from small_games.high_card import HighCard, Shower

AGENTS = ["low", "high", "random"]
OPTIONS = ArenaOptions(deals=60, seed=1)


def cell_of(tournament, agent, opponent):
    return next(cell for cell in tournament["cells"] if (cell["agent"], cell["opponent"]) == (agent, opponent))


@pytest.mark.parametrize("num_players", [1, 2, 3])
def test_every_agent_meets_every_other(num_players, high_card_agents, tmp_path, text_of):
    tournament = run_tournament(HighCard(num_players), AGENTS, OPTIONS, tmp_path)
    assert len(tournament["cells"]) == 6
    assert [standing["agent"] for standing in tournament["standings"]] == ["high", "random", "low"]
    assert tournament["cycles"] == []
    assert json.loads((tmp_path / "tournament.json").read_text()) == tournament
    with (tmp_path / "tournament.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["points"]) for row in rows] == [cell["points"] for cell in tournament["cells"]]
    shown = text_of(tournament_table(tournament))
    assert "…" not in text_of(tournament_table(tournament), width=40), "a figure is never cut"
    assert all(agent in shown for agent in AGENTS)


def test_cells_are_the_figures_of_duplicate_matches(high_card_agents, tmp_path):
    game = HighCard(3)
    cell = cell_of(run_tournament(game, AGENTS, OPTIONS, tmp_path), "high", "low")
    match = play_match(game, ["high", "low", "low"], 60, 1)
    assert (cell["points"], cell["low"], cell["high"]) == (match.mean, *match.interval)
    assert cell["win_rate"] == match.win_rate


def test_objects_enter_under_a_name_and_their_pairings_are_played_each_time(high_card_agents, tmp_path):
    game = HighCard(2)
    agents = {"mine": Shower(game), "low": "low", "random": "random"}
    tournament = run_tournament(game, agents, OPTIONS, tmp_path)
    assert [standing["agent"] for standing in tournament["standings"]] == ["mine", "random", "low"]
    match = play_match(game, [agents["mine"], "low"], 60, 1)
    assert cell_of(tournament, "mine", "low")["points"] == match.mean
    assert len(list((tmp_path / "pairings").iterdir())) == 1
    worse = run_tournament(game, agents | {"mine": Shower(game, best=False)}, OPTIONS, tmp_path)
    assert cell_of(worse, "mine", "random")["points"] < 0


def test_both_cells_of_two_players_are_one_match(high_card_agents, tmp_path):
    tournament = run_tournament(HighCard(2), AGENTS, OPTIONS, tmp_path)
    there, back = cell_of(tournament, "high", "low"), cell_of(tournament, "low", "high")
    assert there["points"] == pytest.approx(-back["points"])
    assert there["low"] == pytest.approx(-back["high"])
    assert there["win_rate"] + back["win_rate"] == pytest.approx(1)


def test_a_tournament_that_was_stopped_goes_on_and_ends_the_same(high_card_agents, tmp_path):
    options = ArenaOptions(deals=60, seed=1, chunk=20)
    whole = run_tournament(HighCard(2), AGENTS, options, tmp_path / "whole")
    seen = []

    def interrupt(label, done, most):
        seen.append(done)
        if len(seen) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_tournament(HighCard(2), AGENTS, options, tmp_path / "cut", progress=interrupt)
    assert not (tmp_path / "cut" / "tournament.json").exists()
    assert run_tournament(HighCard(2), AGENTS, options, tmp_path / "cut", progress=interrupt) == whole
    assert seen == [20, 40, 60, 80, 100, 120, 140, 160, 180]


def test_another_agent_deal_or_game_is_played_anew(high_card_agents, tmp_path):
    def files():
        return len(list((tmp_path / "pairings").glob("*.json")))

    run_tournament(HighCard(2), AGENTS, OPTIONS, tmp_path)
    assert files() == 3
    run_tournament(HighCard(2), AGENTS[:2], OPTIONS, tmp_path)
    assert files() == 3
    run_tournament(HighCard(2), AGENTS[:2], ArenaOptions(deals=61, seed=1), tmp_path)
    assert files() == 4
    run_tournament(HighCard(2, first_wins_ties=True), AGENTS[:2], OPTIONS, tmp_path)
    assert files() == 5


def test_the_figures_of_an_earlier_tournament_stand_until_the_new_ones_are_whole(high_card_agents, tmp_path):
    """Who still reads the old files reads them whole: they are replaced, never written over."""
    earlier = {}
    run_tournament(HighCard(2), AGENTS, OPTIONS, tmp_path)
    for name in ("tournament.json", "tournament.csv"):
        os.link(tmp_path / name, tmp_path / f"old_{name}")
        earlier[name] = (tmp_path / name).read_bytes()
    run_tournament(HighCard(2), AGENTS[:2], OPTIONS, tmp_path)
    for name, content in earlier.items():
        assert (tmp_path / f"old_{name}").read_bytes() == content
        assert (tmp_path / name).read_bytes() != content
    assert not list(tmp_path.glob("*.part"))


def test_a_torn_file_is_played_again(high_card_agents, tmp_path):
    whole = run_tournament(HighCard(2), AGENTS, OPTIONS, tmp_path)
    for path in (tmp_path / "pairings").glob("*.json"):
        path.write_text(path.read_text()[:50])
    assert run_tournament(HighCard(2), AGENTS, OPTIONS, tmp_path) == whole


@pytest.mark.parametrize("agents", [[], ["random"], ["random", "random"]])
def test_a_tournament_needs_two_different_agents(agents, tmp_path):
    with pytest.raises(InvalidOption, match="two or more"):
        run_tournament(HighCard(2), agents, OPTIONS, tmp_path)


def test_circles_are_named_from_either_side():
    above, below = Estimate(1.0, 0.5, 1.5, 100), Estimate(-1.0, -1.5, -0.5, 100)
    margins = {(0, 1): above, (1, 2): above, (0, 2): below}
    assert cycles(3, margins) == [Cycle((0, 1, 2), sure=True)]
    turned = {(0, 1): below, (1, 2): below, (0, 2): above}
    assert cycles(3, turned) == [Cycle((0, 2, 1), sure=True)]
    unsure = margins | {(1, 2): Estimate(0.1, -0.1, 0.3, 100)}
    assert cycles(3, unsure) == [Cycle((0, 1, 2), sure=False)]
    assert cycles(3, margins | {(0, 2): above}) == []


def test_ratings_follow_the_duels():
    rng = np.random.default_rng(0)
    duels = {pair: np.where(rng.random(200) < 0.7, 1, -1).astype(np.int8) for pair in ((0, 1), (0, 2), (1, 2))}
    ratings = rate(["a", "b", "c"], duels)
    assert [rating.name for rating in ratings] == ["a", "b", "c"]
    assert ratings[0].mu - ratings[2].mu > 3 * ratings[0].sigma
    even = rate(["a", "b"], {(0, 1): np.zeros(100, dtype=np.int8)})
    assert abs(even[0].mu - even[1].mu) < 1


def test_a_pairing_depends_on_the_beliefs_and_policies_that_its_agents_name(tmp_path):
    game = make_game("big2")

    def key():
        text = f"monte_carlo:rollout:planner:belief:{belief}"
        entries = [text, f"endgame:policy:{policy}", "greedy", "greedy"]
        return match_key(game, [make_lineup(game, entries)], OPTIONS)

    policy, belief = (shutil.copytree(f"champions/{name}", tmp_path / name) for name in ("big2", "beliefs/big2"))
    before = key()
    for folder in (policy, belief):
        weights = folder / "weights.safetensors"
        weights.write_bytes(weights.read_bytes() + b"more")
        assert key() != before
        before = key()


def test_a_match_of_other_versions_of_packages_is_another_match(monkeypatch):
    game, before = make_game("thirty_one"), played_deals.version
    lineup = make_lineup(game, ["random", "greedy"])
    kept = match_key(game, [lineup], OPTIONS)
    monkeypatch.setattr(played_deals, "version", lambda name: "0" if name == "torch" else before(name))
    assert match_key(game, [lineup], OPTIONS) != kept


def test_a_folder_that_holds_no_policy_does_not_hide_a_scripted_agent(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "greedy").mkdir()
    tournament = run_tournament(make_game("thirty_one"), ["greedy", "random"], OPTIONS, tmp_path / "results")
    assert tournament["standings"][0]["agent"] == "greedy"
