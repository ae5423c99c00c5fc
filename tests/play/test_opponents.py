"""Levels of opponents, and how strong the page says they are."""

import json
from pathlib import Path

import pytest

from cardlab.agents.specs import champion_folder
from cardlab.games.make_game import make_game
from cardlab_play.serializers import strength_text


@pytest.mark.parametrize("name", ["big2", "thirty_one", "five_o", "open_face", "poker_squares"])
def test_levels_go_from_beginner_to_champion_with_search(client, name):
    game = next(entry for entry in client.get("/api/games")["games"] if entry["game"] == name)
    levels = game["levels"]
    assert [level["title"] for level in levels] == [
        "Beginner", "Easy", "Medium", "Champion", "Champion with search"
    ]  # fmt: skip
    for level in levels:
        choice = {"agent": level["agent"], "search": level["search"]}
        other = {"par": choice} if name == "poker_squares" else {"opponents": [choice], "par": {"agent": "random"}}
        assert client.open({"game": name, "practice": True, **other})["status"] in ("your_turn", "over")


def test_the_strength_is_that_of_the_evaluation():
    folder = champion_folder("big2")
    assert folder is not None
    references = json.loads((folder / "evaluation.json").read_text())["references"]
    game, models = make_game("big2"), Path("models")
    strongest = min(references, key=lambda name: references[name]["mean"])
    assert strongest == "planner"
    rate = f"{references[strongest]['win_rate']:.0%} against three".replace("%", " %")
    assert strength_text(game, "champion", models) == (
        f"Wins {rate} opponents of the level Medium, +{references[strongest]['mean']:.1f} ± 0.1 points a game "
        "(equal players: 25 % each)"
    )
    assert rate in str(strength_text(game, strongest, models))
    assert strength_text(game, "lowest", models) is None


def test_a_reference_that_is_no_level_is_said_in_words():
    text = str(strength_text(make_game("thirty_one"), "champion", Path("models")))
    assert text.endswith("against an opponent calling from 27 points on (2 players)")


def test_a_trained_policy_has_the_figures_of_its_own_seed(tmp_path):
    figures = {"mean": 0.2, "low": 0.1, "high": 0.3, "win_rate": 0.6}
    evaluation = {
        "references": {"greedy_2": figures},
        "by_seed": {"7": {"references": {"greedy_2": {**figures, "win_rate": 0.7}}}},
    }
    results = tmp_path / "results" / "mine"
    results.mkdir(parents=True)
    (results / "evaluation.json").write_text(json.dumps(evaluation))
    game, models = make_game("five_o"), tmp_path / "models"
    for folder, rate in (models / "mine" / "seed_7", 70), (models / "mine", 60):
        assert strength_text(game, str(folder), models) == f"Wins {rate} % against an opponent named greedy 2"
    assert strength_text(game, str(models / "other"), models) is None
    (results / "evaluation.json").write_text("{")
    assert strength_text(game, str(models / "mine"), models) is None
