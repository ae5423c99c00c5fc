"""The rules for players: their figures are those of the games and of docs/games."""

import re
from pathlib import Path

import pytest

from cardlab.games.big2.rules import loser_payment
from cardlab.games.cards.hands import CATEGORIES
from cardlab.games.open_face.royalties import BACK_ROYALTIES, MIDDLE_ROYALTIES
from cardlab.games.open_face.rules import FOUL
from cardlab.games.poker_squares.game import SCORING
from cardlab_play.offered_games import OFFERED_GAMES, front_royalty, rules_message

DOCS = Path(__file__).parents[2] / "docs" / "games"
EXAMPLES = {  # figures that the worked examples name, as the games have them
    "poker_squares": [SCORING["american"][2], SCORING["american"][5]],
    "thirty_one": [21, 30],
    "open_face": [front_royalty("Q", 2), BACK_ROYALTIES[5], FOUL],
    "big2": [sum(loser_payment(left, False) for left in (2, 5, 11)), loser_payment(11, True)],
}


def _document(game):
    return (DOCS / f"{game}.md").read_text("utf-8").split("## Actions")[0]


def _table(game, title):
    """[rows] of the section as in the response, its head first."""
    section = next(section for section in rules_message(game)["sections"] if section["title"] == title)
    return [tuple(section["head"]), *map(tuple, section["rows"])]


@pytest.mark.parametrize("game", OFFERED_GAMES)
def test_every_game_has_goal_scoring_and_an_example(client, game):
    reply = client.get("/api/rules", game=game)
    sections = {section["title"]: " ".join(section["paragraphs"]) for section in reply["sections"]}
    assert reply["title"] == OFFERED_GAMES[game].title
    assert sections.keys() >= {"Goal", "Example"}
    assert sections.keys() & {"Scoring", "Penalties"}
    figures = set(map(int, re.findall(r"\d+", sections["Example"])))
    assert figures >= set(map(int, EXAMPLES.get(game, [])))


def test_an_unknown_game_has_no_rules(client):
    assert client.get("/api/rules", 422, game="whist")["key"] == "game"


@pytest.mark.parametrize("scoring", SCORING)
def test_points_of_poker_squares(scoring):
    row = next(line for line in _document("poker_squares").splitlines() if line.startswith(f"| `{scoring}`"))
    documented = [int(cell) for cell in row.split("|")[2:-1]]
    column = 1 + list(SCORING).index(scoring)
    assert [row[column] for row in _table("poker_squares", "Scoring")[1:]] == documented == list(SCORING[scoring])


def test_royalties_of_open_face():
    text = _document("open_face")
    for name, column, royalties in (("middle", 1, MIDDLE_ROYALTIES), ("back", 2, BACK_ROYALTIES)):
        row = re.search(rf"\| {name} \| (.*) \|", text)
        documented = dict(re.findall(r"([a-z ]+?) (\d+)", row[1]))
        shown = {row[0]: row[column] for row in _table("open_face", "Scoring")[1:] if row[column] != "–"}
        assert shown == {kind.strip(): int(points) for kind, points in documented.items()}
        assert shown == {kind: points for kind, points in zip(CATEGORIES, royalties, strict=True) if points}
    assert "66 1, 77 2, … AA 9; 222 10, 333 11, … AAA 22" in text
    fronts = _table("open_face", "Royalties of the front")[1:]
    assert [pair for _, pair, _ in fronts] == ["–"] * 4 + list(range(1, 10))
    assert [three for *_, three in fronts] == list(range(10, 23))
    assert f"it pays {FOUL} and the other's royalties" in text


def test_penalties_of_big2():
    assert "cards left count twice from 10, three times at 13" in (DOCS / "big2.md").read_text("utf-8")
    for left, plain, doubled in _table("big2", "Penalties")[1:]:
        assert plain == left
        assert doubled == left * (3 if left == 13 else 2 if left >= 10 else 1)


def test_the_table_shows_what_a_foul_and_cards_left_cost(client):
    duel = client.open({"game": "open_face", "opponents": [{"agent": "random"}], "par": {"agent": "random"}})
    assert duel["view"]["foul_costs"] == [FOUL, FOUL]
    options = {"penalty": "doubled"}
    shed = client.open({"game": "big2", "options": options, "opponents": [{"agent": "greedy"}]})
    assert shed["view"]["penalties"] == [loser_payment(left, True) for left in shed["view"]["counts"]]
