import json
from dataclasses import replace

import numpy as np
import pytest

from cardlab.core.messages import InvalidOption
from cardlab.evaluation.game_record import GameRecord, RecordError, dealt_state, load_record, save_record
from cardlab.evaluation.match import play_match
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.replay import record_game, replay, replay_lines, run_replay
from cardlab.games.cards.deck import cards_text
from cardlab.games.make_game import make_game
from small_games.high_card import HighCard, Shower
from small_games.kuhn import Kuhn

OPTIONS = ArenaOptions(deals=30, seed=4, chunk=8)


@pytest.mark.parametrize("num_players", [1, 2, 4])
def test_every_game_of_a_match_is_the_one_that_was_played(num_players):
    game = HighCard(num_players, first_wins_ties=True)
    agent = Shower(game)
    entries = [agent] + ["random"] * (num_players - 1)
    match = play_match(game, entries, 30, 4, chunk=8)
    for deal in (0, 7, 8, 29):
        paid = []
        for seating in range(num_players):
            record = record_game(game, entries, OPTIONS, deal=deal, seating=seating)
            state = dealt_state(game, record)
            for action in record.actions:
                game.apply(state, np.array([action], dtype=np.int16))
            assert game.is_over(state)[0]
            paid.append(game.payoffs(state)[0, record.agents.index("Shower")])
        assert np.mean(paid) == pytest.approx(match.per_deal()[deal], abs=1e-6)


def test_a_replay_reads_like_a_game(high_card_agents):
    deck = np.arange(52, dtype=np.int8)
    deck[:4] = [47, 3, 11, 20]
    deck[4:] = [card for card in range(52) if card not in deck[:4]]
    game = HighCard(2)
    record = GameRecord("high_card", {"num_players": 2}, ("high", "random"), cards_text(deck), (0, 1))
    assert "\n".join(replay_lines(game, record, ["high", "random"], ["hand"])) == GOLDEN


GOLDEN = """\
high_card: player 0 is high, player 1 is random

1. player 0 (high), value +0.917
    hands Ks 2s | ?? ??   shown ?? ??
  → show Ks   100.0 %
    show 2s     0.0 %
    input hand [2]
      0.917 0

2. player 1 (random)
    hands ?? ?? | 4s 7c   shown Ks ??
    show 4s
  → show 7c
    input hand [2]
      0.167 0.417

paid: player 0 +1.000, player 1 -1.000"""


def test_the_values_of_actions_are_shown_where_an_agent_has_them():
    class Pricing(Shower):
        def action_values(self, info_states, players):
            return np.array([[0.25, worst]], dtype=np.float32)

    game, worst = HighCard(2), -0.5
    record = record_game(game, ["random", "random"], OPTIONS)
    moves = list(replay(game, record, [Pricing(game), None]))
    assert [option.value for option in moves[0].options] == [0.25, -0.5]
    assert [option.value for option in moves[1].options] == [None, None]
    assert any("-0.500" in line for line in replay_lines(game, record, [Pricing(game)]))
    worst = -np.inf  # of an action that a search has not tried
    (first, *_) = replay(game, record, [Pricing(game), None])
    assert [option.value for option in first.options] == [0.25, None]


def test_a_record_survives_its_file(tmp_path):
    record = record_game(Kuhn(), ["random", "random"], OPTIONS, deal=3)
    save_record(record, tmp_path / "games" / "one.json")
    assert load_record(tmp_path / "games" / "one.json") == record
    assert list(replay_lines(Kuhn(), record))[-1].startswith("paid: player 0")


def test_a_replay_of_a_match_names_its_agents(high_card_agents):
    record, lines = run_replay(HighCard(2), ["high", "low"], OPTIONS, deal=1, seating=1, inputs=["all"])
    text = "\n".join(lines)
    assert record.agents == ("low", "high")
    assert "player 1 (high)" in text
    assert "input best_shown [1]" in text


def test_faults_of_a_record_are_named(tmp_path):
    game = HighCard(2)
    record = record_game(game, ["random", "random"], OPTIONS)
    for fault, words in (
        ({"actions": (0, 5)}, "action 2 is 5"),
        ({"actions": (0, 1, 1)}, "after the end of the game"),
        ({"deal": "00"}, "its deal"),
        ({"deal": "2c 3c"}, "its deal"),
        ({"game": "kuhn"}, "is of kuhn"),
    ):
        with pytest.raises(RecordError, match=words):
            list(replay_lines(game, replace(record, **fault)))
    squares = make_game("poker_squares")
    dealt = replace(record_game(squares, ["random"], OPTIONS), deal=cards_text(range(52)), seed=-1)
    with pytest.raises(RecordError, match="its deal"):
        list(replay_lines(squares, dealt))
    unfinished = replace(record, actions=record.actions[:1])
    assert list(replay_lines(game, unfinished))[-1].startswith("not over after 1")


@pytest.mark.parametrize(
    "content",
    ["", '{"format": 1', "[1]", 100_000 * "[", {"format": 1}, {"agents": [1]}, {"actions": ["a"]}, {"actions": 3},
     {"game": 3}, {"options": [1]}, {"deal": None}, {"deal": "00ff"}, {"efforts": [3]}, {"efforts": [[[-1]]]},
     {"extra": 1}],
)  # fmt: skip
def test_a_spoilt_record_is_named(content, tmp_path):
    path = tmp_path / "spoilt.json"
    save_record(record_game(HighCard(2), ["random", "random"], OPTIONS), path)
    path.write_text(content if isinstance(content, str) else json.dumps({**json.loads(path.read_text()), **content}))
    with pytest.raises(RecordError, match=r"spoilt\.json: ") as refusal:
        load_record(path)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("place", [{"deal": 30}, {"seating": 2}, {"deal": -1}])
def test_a_game_that_the_match_has_not_is_named(place):
    with pytest.raises(InvalidOption):
        record_game(HighCard(2), ["random", "random"], OPTIONS, **place)
    with pytest.raises(InvalidOption, match="inputs=hands"):
        list(run_replay(HighCard(2), ["random"] * 2, OPTIONS, inputs=["hands"])[1])


def test_a_record_that_lacks_an_entry_is_named(tmp_path):
    path = tmp_path / "short.json"
    path.write_text('{"format": 1}')
    with pytest.raises(RecordError, match=r"short\.json: is not a record of a game \(it has no 'agents'\)"):
        load_record(path)
