"""The rules for players: their figures are those of the games and of docs/games."""

import re
from pathlib import Path

import numpy as np
import pytest

from cardlab.games.big2.rules import loser_payment
from cardlab.games.cards.deck import parse_card
from cardlab.games.cards.hands import CATEGORIES, front_codes
from cardlab.games.open_face.royalties import BACK_ROYALTIES, MIDDLE_ROYALTIES, royalty
from cardlab.games.open_face.rules import FOUL, NUM_ROWS
from cardlab.games.poker_squares.game import SCORING
from cardlab.games.thirty_one.game import ThirtyOne
from cardlab.games.thirty_one.record import BEST_SCORE, card_value
from cardlab_play.offered_games import OFFERED_GAMES


def front_royalty(rank, count):
    """Royalty of a front with `count` (2 or 3) cards of `rank` (`2` to `A`)."""
    cards = [rank + suit for suit in "cdh"[:count]] + ["3s" if rank == "2" else "2s"] * (3 - count)
    return int(royalty(int(front_codes(np.array([[parse_card(card) for card in cards]]))[0]), 0))


DOCS = Path(__file__).parents[2] / "docs" / "games"
EXAMPLES = {  # figures that the worked examples name, as the games have them
    "poker_squares": [(pairs := SCORING["american"][2]), (flush := SCORING["american"][5]), pairs + flush],
    "thirty_one": [sum(card_value(parse_card(card)) for card in cards) for cards in (["As", "Ks"], ["As", "Ks", "9s"])],
    "open_face": [front := front_royalty("Q", 2), back := BACK_ROYALTIES[5], 1 + front + back, FOUL],
    "big2": [2, 5, 11, sum(loser_payment(left, False) for left in (2, 5, 11)), loser_payment(11, True)],
}


def _document(game):
    return (DOCS / f"{game}.md").read_text("utf-8").split("## Actions")[0]


def _table(game, title):
    """[rows] of the section as in the response, its head first."""
    section = next(section for section in OFFERED_GAMES[game].sections if section.title == title)
    return [tuple(section.head), *map(tuple, section.rows)]


def _text(game):
    return " ".join(text for section in OFFERED_GAMES[game].sections for text in section.paragraphs)


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
    ranks = [rank.replace("10", "T") for rank, *_ in fronts]
    assert [(front_royalty(rank, 2) or "–", front_royalty(rank, 3)) for rank in ranks] == [row[1:] for row in fronts]
    assert f"all three rows are {FOUL - NUM_ROWS} more" in _text("open_face")
    assert f"It pays {FOUL} points" in _text("open_face")
    assert f"it pays {FOUL} and the other's royalties" in text


def test_penalties_of_big2():
    assert "cards left count twice from 10, three times at 13" in (DOCS / "big2.md").read_text("utf-8")
    for left, plain, doubled in _table("big2", "Penalties")[1:]:
        assert plain == left
        assert doubled == left * (3 if left == 13 else 2 if left >= 10 else 1)


def test_figures_of_thirty_one():
    values = [card_value(parse_card(card)) for card in ("As", "Ks", "Qs", "Js", "Ts", "9s", "2s")]
    assert values == [11, 10, 10, 10, 10, 9, 2]
    assert _table("thirty_one", "Scoring")[1:] == [("ace", 11), ("king, queen, jack, 10", 10), ("2 to 9", "its number")]
    text = _text("thirty_one")
    assert f"A hand of {BEST_SCORE} does not" in text
    assert f"After {ThirtyOne().max_turns} turns" in text
    assert f"After {ThirtyOne().max_rounds} rounds" in text


@pytest.mark.parametrize("game", ["five_o", "open_face"])
def test_hands_are_named_from_the_weakest(game):
    assert f"Hands from the weakest: {', '.join(CATEGORIES)}." in _text(game)


def test_the_table_shows_what_a_foul_and_cards_left_cost(client):
    duel = client.open({"game": "open_face", "opponents": [{"agent": "random"}], "par": {"agent": "random"}})
    assert duel["view"]["foul_costs"] == [FOUL, FOUL]
    options = {"penalty": "doubled"}
    shed = client.open({"game": "big2", "options": options, "opponents": [{"agent": "greedy"}]})
    assert shed["view"]["penalties"] == [loser_payment(left, True) for left in shed["view"]["counts"]]
