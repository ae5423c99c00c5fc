"""A game of the user's project at the table: its `render` and `action_text`, and no more than a player may see."""

import shutil
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2] / "examples" / "project"


@pytest.fixture
def client(tmp_path, monkeypatch, start):
    shutil.copytree(PROJECT / "conf", tmp_path / "conf")
    shutil.copytree(PROJECT / "src", tmp_path / "src")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    with start() as server:
        yield server.client()
    for name in [name for name in sys.modules if name.partition(".")[0] == "my_cards"]:
        del sys.modules[name]


def test_it_is_played_by_its_texts(client):
    (game,) = (game for game in client.get("/api/games")["games"] if game["game"] == "kuhn")
    assert (game["title"], game["players"], game["options"]) == ("Kuhn", {"min": 2, "max": 2}, [])
    assert [agent["agent"] for agent in game["agents"]] == ["cautious", "random"]
    rules = client.get("/api/rules", game="kuhn")
    assert rules["sections"][0]["paragraphs"][0].startswith("Each antes 1 and gets a card.")
    for number in range(6):
        request = {"game": "kuhn", "seat": number % 2, "opponents": [{"agent": "random"}], "practice": True}
        table = client.open(request)
        own = None
        while table["status"] == "your_turn":
            assert [move["text"] for move in table["legal"]] == ["pass", "bet"]
            cards = table["view"]["text"].split()[:2]
            assert cards[1 - number % 2] == "?", "the other card is hidden"
            own = cards[number % 2]
            advice = client.get(f"/api/tables/{table['id']}/advice", agent="cautious")
            assert advice["text"] == ("bet" if own == "K" else "pass")
            table = client.move(table, 1)
        assert {event["text"] for event in table["events"]} <= {"deal", "pass", "bet"}
        hands = [text.split()[player] for player, text in enumerate(table["view"]["revealed"])]
        assert own in (None, hands[number % 2])
        assert "?" not in hands, "after the game each hand is shown"
        assert table["result"]["text"].startswith(("You won, +", "You lost, −"))
        assert client.get(f"/api/tables/{table['id']}/replay")["frames"]
