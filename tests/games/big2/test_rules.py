"""Every rule of the sheet by itself, and whole games against the plain reference."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardlab.agents.registry import make_agent
from cardlab.core.messages import InvalidOption
from cardlab.games.big2.actions import ACTION_POSITIONS, ACTION_SIZES, KINDS, PASS, action_number
from cardlab.games.big2.game import Big2
from cardlab.games.big2.rules import HIDDEN, PLAYED, UNRESOLVED
from cardlab.games.cards.deck import parse_card
from cardlab.games.loop import play
from cardlab.games.make_game import make_game
from games.big2.reference import Table, beats
from games.big2.tables import TEXTS, deck_with, hands_of

RNG = np.random.default_rng(0)


def start(*hands, **options):
    """A game in which player p holds the cards of the text hands[p], and its table [1]."""
    game = Big2(**options)
    return game, game.deal(1, RNG, decks=deck_with(*hands))


def do(game, states, cards):
    """Play the cards of a text (none: pass) for whoever is to move."""
    player = game.current_player(states)[0]
    hand = hands_of(states[0])[player]
    action = action_number(sorted(hand.index(card) for card in cards.split()))
    assert game.legal_actions(states)[0, action], cards
    game.apply(states, np.array([action], dtype=np.int16))


def may(game, states, cards):
    """Whether the player to move may play the cards of a text."""
    hand = hands_of(states[0])[game.current_player(states)[0]]
    return bool(game.legal_actions(states)[0, action_number(sorted(hand.index(card) for card in cards.split()))])


def test_thirteen_cards_each_in_order_of_the_deck():
    decks = RNG.permuted(np.tile(np.arange(52, dtype=np.int8), (5, 1)), axis=1)
    states = Big2(opening="choose").deal(5, RNG, decks=decks)
    holders = Big2().holders(states)
    for deck, who in zip(decks, holders, strict=True):
        assert who[deck].tolist() == [0] * 13 + [1] * 13 + [2] * 13 + [3] * 13


def test_forced_opening_plays_the_three_of_diamonds():
    game, states = start("3s", "3h", "3d 3c")
    assert game.current_player(states)[0] == 3
    assert states["counts"][0].tolist() == [13, 13, 12, 13]
    assert hands_of(states[0])[2][0] == "3c"
    assert game.legal_actions(states)[0, PASS]
    assert (states["kind"][0], states["key"][0]) == (0, 0)


def test_chosen_opening_contains_the_three_of_diamonds():
    game, states = start("4s", "3d 3c 3h 4c 5d 6h 7h", opening="choose")
    assert game.current_player(states)[0] == 1
    assert not game.legal_actions(states)[0, PASS]
    for legal in ("3d", "3d 3c", "3d 3c 3h", "3d 4c 5d 6h 7h"):
        assert may(game, states, legal)
    for illegal in ("3c", "3c 3h", "3c 4c 5d 6h 7h"):
        assert not may(game, states, illegal)
    do(game, states, "3d 3h")
    assert game.current_player(states)[0] == 2
    assert states["counts"][0].tolist() == [13, 11, 13, 13]


def test_information_keeps_who_opens():
    game, states = start("4s", "3d 3c", opening="choose")
    known = game.information(states, np.array([0], dtype=np.int8))
    assert known["place"][0, 0] == 1
    assert (known["place"][0] == HIDDEN).sum() == 38
    assert game.determinize(known, np.array([0], dtype=np.int8), RNG)["place"][0, 0] == 1


BETTER = [
    ("3d", "3c"),
    ("3c", "3h"),
    ("3s", "4d"),
    ("Ks", "Ad"),
    ("As", "2d"),
    ("Th 8h 6h 5h 3h", "Td 9d 4d 3d 6d", "not"),  # ten of diamonds below ten of hearts
    ("Kd Ks", "Kc Kh", "not"),
    ("Kc Kh", "Kd Ks"),
    ("9s 9h", "Td Tc"),
    ("4d 4c 4h", "5d 5c 5h"),
    ("Qd Qs Jh Js", "Kc Kh 4d 4c"),  # two pair by the higher pair
    ("Kd Kc Js Jh", "Kh Ks 3d 3c"),
    ("2h 2s Ac As", "3d 3c 3h 3s"),  # two pair < four
    ("3d 3c 3h 3s", "4d 4c 4h 4s"),
    ("3d 4c 5h 6s 7d", "3c 4d 5d 6d 7c"),  # 34567 is the lowest straight, by the suit of its 7
    ("Tc Jc Qd Kd As", "Jd Qs Ks Ad 2c"),  # JQKA2 is the highest
    ("Jd Qs Ks Ad 2c", "3h 4h 5h 6h 8h"),  # straight < flush
    ("3s 4s 5s 6s Ks", "3d 4d 5d 6d Ad"),  # flushes by rank first
    ("3d 4d 5d 6d Ad", "3c 4c 5c 6c Ac"),  # then suit
    ("9d Jd Qd Ad 2d", "3d 3c 3h 4d 4c"),  # flush < full house
    ("3d 3c 3h 2d 2c", "4d 4c 4h 5d 5c"),  # by its triple
    ("2d 2c 2h Ad Ac", "3d 4d 5d 6d 7d"),  # full house < straight flush
    ("3s 4s 5s 6s 7s", "4d 5d 6d 7d 8d"),
]


@pytest.mark.parametrize("case", BETTER, ids=lambda case: " < ".join(case[:2]))
def test_reference_orders_hands_as_the_sheet_does(case):
    worse, better = case[0].split(), case[1].split()
    assert beats(better, worse) == (len(case) == 2)
    assert beats(worse, better) == (len(case) == 3)


@pytest.mark.parametrize("cards", ["3d 4s 5d Ad 2c", "3d 4s 5d 6h 2c"])
def test_the_two_is_no_low_card_of_a_straight(cards):
    game, states = start(cards + " 8c 8h Tc Jh 4h 5s Ts Jd", opening="choose")
    assert not game.legal_actions(states)[0, 407:PASS].any()


def test_no_four_of_a_kind_with_a_kicker():
    game, states = start("3d 4d 4c 4h 4s 6d 8c Tc Qc Ah 2s 9h Kd", opening="choose")
    assert may(game, states, "3d")
    assert not game.legal_actions(states)[0, 407:PASS].any()


def test_a_pass_does_not_lock_out_and_three_give_control():
    game, states = start("3d 9d", "4d 8d", "5d 7d", "6d Td")
    do(game, states, "")
    do(game, states, "5d")
    do(game, states, "6d")
    do(game, states, "")
    do(game, states, "8d")  # player 1 had passed in this trick
    for _ in range(2):
        do(game, states, "")
    assert states["passes"][0] == 2
    do(game, states, "")
    assert (game.current_player(states)[0], states["kind"][0], states["passes"][0]) == (1, -1, 0)
    assert not game.legal_actions(states)[0, PASS]


def test_followers_play_as_many_cards():
    game, states = start("3d 4d 4c", "5c", "6d 6c 6h 7s 9s", opening="choose")
    do(game, states, "3d")
    do(game, states, "5c")
    assert may(game, states, "6d")
    assert not may(game, states, "6d 6c")
    assert not may(game, states, "6d 6c 6h")


STRAIGHT_FLUSHES = ("3d 4d 5d 6d 7d", "4c 5c 6c 7c 8c Kd Kc Kh Qd Qc")


@pytest.mark.parametrize(("option", "legal"), [("ranked", True), ("unbeatable", False)])
def test_higher_straight_flush(option, legal):
    game, states = start(*STRAIGHT_FLUSHES, opening="choose", straight_flush=option)
    do(game, states, "3d 4d 5d 6d 7d")
    assert may(game, states, "4c 5c 6c 7c 8c") == legal
    assert not may(game, states, "Kd Kc Kh Qd Qc")
    assert game.legal_actions(states)[0].sum() == 1 + legal


@pytest.mark.parametrize("penalty", ["plain", "doubled"])
@pytest.mark.parametrize(
    ("left", "plain", "doubled"),
    [
        ([0, 9, 1, 5], [15, -9, -1, -5], [15, -9, -1, -5]),
        ([10, 0, 1, 13], [-10, 24, -1, -13], [-20, 60, -1, -39]),
        ([12, 11, 13, 0], [-12, -11, -13, 36], [-24, -22, -39, 85]),
    ],
)
def test_payoffs(penalty, left, plain, doubled):
    game, states = start(penalty=penalty)
    states["counts"][0] = left
    assert game.payoffs(states).tolist() == [[0, 0, 0, 0]]
    states["phase"] = 1
    assert game.payoffs(states).tolist() == [plain if penalty == "plain" else doubled]
    assert game.payoffs(states).dtype == np.float32


def test_options_are_checked():
    for key, value in (
        ("opening", "free"),
        ("penalty", 2),
        ("straight_flush", ""),
        ("features", "rich"),
        ("rules", "x"),
    ):
        with pytest.raises(InvalidOption, match=f"game.{key}"):
            make_game("big2", **{key: value})


@pytest.mark.parametrize("agent", ["random", "greedy"])
@pytest.mark.parametrize("options", [{}, {"opening": "choose", "straight_flush": "unbeatable", "penalty": "doubled"}])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_whole_games_follow_the_reference(agent, options, seed):
    game, rng = Big2(**options), np.random.default_rng(seed)
    deck = rng.permutation(52).astype(np.int8)
    states = game.deal(1, rng, decks=deck[None])
    texts = {parse_card(text): text for text in TEXTS}
    hands = [[texts[int(card)] for card in deck[13 * p : 13 * p + 13]] for p in range(4)]
    table = Table(hands, choose=game.opening == "choose", unbeatable=game.straight_flush == "unbeatable")
    for moves in play(game, states, [make_agent(game, agent)], rng, ask_forced=True):
        assert moves.players[0] == table.player
        hand = table.hands[table.player]
        action = moves.actions[0]
        cards = [hand[position] for position in ACTION_POSITIONS[action, : ACTION_SIZES[action]]]
        assert table.allowed(cards) if cards else table.trick
        table.play(cards)
        assert hands_of(states[0]) == table.hands
        assert states["counts"][0].tolist() == [len(hand) for hand in table.hands]
        assert states["passes"][0] == table.passes
    assert table.over
    assert game.payoffs(states)[0].tolist() == table.payoffs(game.penalty == "doubled")
    check_log(states[0], table)


def check_log(state, table):
    """The history in the record is that of the reference: who played what at which move."""
    assert state["moves"] == len(table.log)
    for move, (player, cards) in enumerate(table.log):
        assert (state["opener"] + move) % 4 == player
        assert [TEXTS[card] for card in np.flatnonzero(state["place"] == PLAYED + move)] == sorted(
            cards, key=TEXTS.index
        )


def test_play_of_hidden_cards_is_unresolved():
    game, states = start("3d", "4d", "5d")
    known = game.information(states, np.array([2], dtype=np.int8))
    after = known.copy()
    game.apply(after, np.array([PASS], dtype=np.int16))
    assert game.current_player(after)[0] == 2
    assert (known["place"] == after["place"]).all()
    game.apply(known, np.array([4], dtype=np.int16))
    assert known["phase"][0] == UNRESOLVED
    assert game.current_player(known)[0] == -1
    assert not game.is_over(known)[0]
    assert game.payoffs(known).tolist() == [[0, 0, 0, 0]]
    before = known.copy()
    game.apply(known, np.array([PASS], dtype=np.int16))
    assert known.tobytes() == before.tobytes()


def test_texts():
    game, states = start("3d", "4c 4h 9s")
    hand = hands_of(states[0])[1]
    action = action_number([hand.index("4c"), hand.index("4h")])
    assert game.action_text(states[0], action) == f"{KINDS[1]} 4c 4h"
    assert game.action_text(states[0], PASS) == "pass"
    known = game.information(states, np.array([0], dtype=np.int8))
    assert game.action_text(known[0], 13) == "cards at 0 1"
    assert "to beat: single 3d by 0, 0 passes" in game.render(known[0])
    assert "?? ?? ??" in game.render(known[0])
    game.apply(known, np.array([0], dtype=np.int16))
    assert "not known" in game.render(known[0])
