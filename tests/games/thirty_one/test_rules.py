"""The course of a round, line by line of the sheet, in positions written out."""

import numpy as np
import pytest

from cardlab.core.messages import InvalidOption
from cardlab.games.cards.deck import cards_text, parse_card, parse_cards
from cardlab.games.protocol import NO_PLAYER
from cardlab.games.thirty_one.game import ThirtyOne
from cardlab.games.thirty_one.record import TURN, hand_score, sort_hand
from games.thirty_one.slow_match import CALL, DRAW, KEEP, TAKE, step, table

TWO = "2c 3d Kh  4c 5d Qh  7s 9s Td"  # player 0, player 1, first discard, stock


def hand(states, player):
    return cards_text(states[0]["hands"][player])


def legal(game, states):
    return np.flatnonzero(game.legal_actions(states)[0]).tolist()


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("As Ks Qs", 31),
        ("As Ks Js", 31),
        ("Ts Js Qs", 30),
        ("2c 2d 2h", 2),
        ("Ac Ad Ah", 11),
        ("9c 5c Kd", 14),
        ("2h 3h 4h", 9),
        ("Kd 3h 8h", 11),
    ],
)
def test_a_hand_scores_its_best_suit(text, score):
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0]):
        assert hand_score(*parse_cards(text)[order]) == score


def test_equal_hands_look_equal():
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0], [0, 2, 1], [1, 0, 2]):
        cards = parse_cards("Kc 2d Ad")[order].copy()
        sort_hand(cards)
        assert cards_text(cards) == "Kc 2d Ad"


@pytest.mark.parametrize("num_players", range(2, 10))
def test_the_deal_follows_the_deck(num_players):
    game = ThirtyOne(num_players=num_players)
    deck = np.random.default_rng(1).permutation(52)
    state = game.deal(1, np.random.default_rng(0), deck[None])[0]
    for player in range(num_players):
        assert set(state["hands"][player]) == set(deck[3 * player : 3 * player + 3])
        assert state["lives"][player] == 3
    assert state["top"] == deck[3 * num_players]
    rest = deck[3 * num_players + 1 :]
    assert state["stock"][: state["stock_left"]][::-1].tolist() == rest.tolist()
    assert state["player"] == 0


def test_draw_then_swap():
    game, states = table(TWO)
    assert legal(game, states) == [DRAW, TAKE, CALL]
    step(game, states, DRAW)
    assert cards_text([states[0]["drawn"]]) == "9s"
    assert legal(game, states) == [3, 4, 5, KEEP]
    assert game.decision_kind(states)[0] == 1
    step(game, states, 4)
    assert hand(states, 0) == "2c Kh 9s"
    assert cards_text([states[0]["top"]]) == "3d"
    assert game.current_player(states)[0] == 1
    assert game.decision_kind(states)[0] == 0


def test_draw_and_do_not_swap():
    game, states = table(TWO)
    step(game, states, DRAW, KEEP)
    assert hand(states, 0) == "2c 3d Kh"
    assert cards_text([states[0]["top"]]) == "9s"


def test_what_is_taken_must_be_swapped():
    game, states = table(TWO)
    step(game, states, TAKE)
    assert legal(game, states) == [3, 4, 5]
    step(game, states, 3)
    assert hand(states, 0) == "3d Kh 7s"
    assert cards_text([states[0]["top"]]) == "2c"


def test_a_call_gives_every_other_one_more_turn_without_the_right_to_call():
    game, states = table("2c 3d Kh  4c 5d Qh  6c 7d Jh  8c", num_players=3)
    step(game, states, DRAW, KEEP, CALL)
    for player in (2, 0):
        assert game.current_player(states)[0] == player
        assert legal(game, states) == [DRAW, TAKE]
        assert states[0]["round"] == 1
        step(game, states, DRAW, KEEP)
    assert states[0]["round"] == 2


def test_under_the_gun():
    game, states = table("2c 3d Kh  4c 5d Ah  6c 7d Ad  8c", num_players=3)
    step(game, states, CALL)
    assert states[0]["round"] == 2
    assert states[0]["lives"][:3].tolist() == [1, 3, 3]


def test_under_the_gun_is_for_the_first_player_of_every_round():
    game, states = table(TWO)
    step(game, states, CALL)
    assert (states[0]["round"], states[0]["player"]) == (2, 1)
    lives = states[0]["lives"][:2].sum()
    step(game, states, CALL)
    assert states[0]["lives"][:2].sum() < lives


def test_who_is_not_the_first_is_not_under_the_gun():
    game, states = table(TWO)
    step(game, states, DRAW, KEEP, CALL)
    assert states[0]["round"] == 1
    assert game.current_player(states)[0] == 0


def test_31_does_not_end_a_round():
    game, states = table("As Ks 2c  4c 5d Qh  Qs 9d")
    step(game, states, TAKE, 3)
    assert hand(states, 0) == "Qs Ks As"
    assert states[0]["round"] == 1
    assert states[0]["phase"] == TURN


def test_the_first_turn_moves_on_and_the_neighbours_close_up():
    game, states = table("2c 3d 4h  Ks Qs 9s  Kh Qh 9h  Kd Qd 9d  8c", num_players=4)
    states["lives"][0, :4] = [3, 1, 1, 3]
    states["hands"][0, 1] = parse_cards("5c 6d 7h")  # 7 is the lowest but for player 0, who is lower
    states["lives"][0, 0] = 1
    step(game, states, CALL)
    assert states[0]["lives"][:4].tolist() == [0, 1, 1, 3]
    assert game.current_player(states)[0] == 1
    assert (states[0]["hands"][0] == -1).all()
    players = []
    for _ in range(4):
        players.append(int(game.current_player(states)[0]))
        step(game, states, DRAW, KEEP)
    assert players == [1, 2, 3, 1]


def test_the_first_turn_skips_who_is_out():
    game, states = table("9c 8c 7c  2s 3h 4d  Kh Qh 9h  8d", num_players=3)
    states["lives"][0, :3] = [3, 1, 3]
    step(game, states, CALL)
    assert states[0]["lives"][:3].tolist() == [3, 0, 3]
    assert game.current_player(states)[0] == 2


def test_later_rounds_deal_the_kth_triple_to_the_kth_living_player():
    game, states = table("9c 8c 7c  2s 3h 4d  Kh Qh 9h  8d", num_players=3)
    again = states.copy()
    step(game, states, CALL)  # all three live on
    again["lives"][0, 1] = 1
    step(game, again, CALL)  # the same order for players 0 and 2
    assert hand(again, 2) == hand(states, 1)
    assert again[0]["top"] in states[0]["hands"][2]


def test_an_empty_stock_is_made_again_from_the_pile_under_its_top():
    game, states = table(TWO)
    for _ in range(45):
        step(game, states, DRAW, KEEP)
    assert states[0]["stock_left"] == 0
    top, pile = states[0]["top"], states[0]["discards"]
    other = states.copy()
    other["seed"] += 1
    step(game, states, DRAW)
    step(game, other, DRAW)
    state = states[0]
    assert state["top"] == top
    assert state["discards"] == 1 << int(top)
    assert state["restocked"] == pile & ~(1 << int(top))
    assert state["stock_left"] == 44
    formed = [*state["stock"][:44], state["drawn"]]
    assert sum(1 << int(card) for card in formed) == state["restocked"]
    assert other[0]["stock"].tolist() != state["stock"].tolist()


def test_each_reshuffle_has_its_own_order():
    game, states = table(TWO, max_turns=1000)
    orders = []
    for _ in range(3):
        while states[0]["stock_left"]:
            step(game, states, DRAW, KEEP)
        step(game, states, DRAW)
        orders.append(tuple(states[0]["stock"][:44]))
        step(game, states, KEEP)
    assert len(set(orders)) == 3
    assert states[0]["reshuffles"] == 3


def test_max_turns_end_a_round_without_a_call():
    game, states = table("2c 3d 4h  Ks Qs 9s  8c", max_turns=3)
    step(game, states, DRAW, KEEP, DRAW, KEEP, DRAW)
    assert states[0]["round"] == 1
    step(game, states, KEEP)
    assert states[0]["round"] == 2
    assert states[0]["lives"][:2].tolist() == [2, 3]


def test_the_last_of_max_turns_may_call():
    game, states = table("2c 3d 4h  Ks Qs 9s  8c", max_turns=3)
    step(game, states, DRAW, KEEP, DRAW, KEEP, CALL)
    assert states[0]["round"] == 1
    assert game.current_player(states)[0] == 1
    step(game, states, DRAW, KEEP)
    assert states[0]["lives"][:2].tolist() == [1, 3]


def test_the_bound_on_decisions_is_reached():
    game, states = table("2c 3d 4h  Ks Qs 9s  Kh Qh 9h  8c", num_players=3, max_turns=4, max_rounds=1)
    decisions = [DRAW, KEEP] * 3 + [CALL] + [DRAW, KEEP] * 2
    step(game, states, *decisions)
    assert game.is_over(states)[0]
    assert len(decisions) == game.spec.max_decisions


def test_a_match_is_over_for_good():
    game, states = table(TWO, lives=1)
    step(game, states, CALL)
    assert game.is_over(states)[0]
    assert game.current_player(states)[0] == NO_PLAYER
    assert legal(game, states) == []


def test_actions_in_words():
    game, states = table(TWO)
    assert [game.action_text(states[0], action) for action in (DRAW, TAKE, CALL)] == ["draw", "take 7s", "call"]
    step(game, states, DRAW)
    assert game.action_text(states[0], 5) == "swap Kh for 9s"
    assert game.action_text(states[0], KEEP) == "don't swap, discard 9s"
    assert parse_card("9s") == states[0]["drawn"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("num_players", 1),
        ("num_players", 10),
        ("lives", 0),
        ("lives", 2.5),
        ("max_turns", 0),
        ("max_rounds", 0),
        ("play", "game"),
        ("reward", "none"),
        ("features", "all"),
    ],
)
def test_wrong_options(key, value):
    with pytest.raises(InvalidOption, match=rf"game\.{key}"):
        ThirtyOne(**{key: value})
