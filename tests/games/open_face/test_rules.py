"""The rules one by one, and random play against the plain reference."""

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardlab.core.messages import InvalidOption
from cardlab.games.cards.deck import UNKNOWN, card_text, parse_cards
from cardlab.games.make_game import make_game
from cardlab.games.open_face import rules
from cardlab.games.open_face.royalties import royalty
from cardlab.games.protocol import NO_PLAYER, States
from games.open_face.reference import MIDDLE_ROYALTIES
from games.open_face.reference import royalty as plain_royalty
from games.open_face.tables import GAME, known, points, replay, table_of

decks = st.permutations(range(52))
with_jit = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="thousands of games, one Python step at a time")
choices = st.lists(st.integers(0, 5), min_size=26, max_size=26)

# Valid boards without royalties, the first below the second in every row.
WEAK = "2c 3d 4h | 2d 4s 6c 7h 8h | 2h 3s 6d 7s 9c"
STRONG = "2s 5d Th | 4c 5s Tc Jd Qh | 5c 8c Jh Qs Kd"
FOUL = "Ac Ad 3c | 5h 9h Jc Qc Kc | 6h 8s 9d Ts Kh"


@given(deck=decks, choices=choices)
@settings(max_examples=200, deadline=None)
def test_games_go_as_in_the_plain_reference(deck, choices):
    for states, plain in replay(deck, choices):
        assert GAME.current_player(states)[0] == plain.mover()
        assert np.flatnonzero(GAME.legal_actions(states)[0]).tolist() == plain.legal()
        assert GAME.is_over(states)[0] == (plain.placed == 26)
        assert GAME.payoffs(states)[0].tolist() == plain.payoffs()
        deck_seen = [card_text(card) for card in known(states)["deck"][0] if card != UNKNOWN]
        assert deck_seen == plain.seen()


@with_jit
def test_random_boards_match_the_reference():
    rng = np.random.default_rng(1)
    states = GAME.deal(20_000, rng)
    while not GAME.is_over(states).all():
        legal = GAME.legal_actions(states)
        GAME.apply(states, np.where(legal, rng.random(legal.shape), -1).argmax(axis=1).astype(np.int16))
    ranks = states["ranks"]
    fouls = (ranks[..., 2] < ranks[..., 1]) | (ranks[..., 1] < ranks[..., 0])
    assert fouls.mean() == pytest.approx(0.69, abs=0.01)
    assert GAME.payoffs(states).std() == pytest.approx(4.2, abs=0.1)


def test_player_0_places_five_then_player_1_then_they_alternate():
    movers = []
    for states, _ in replay(range(52), [0] * 26):
        movers.append(int(GAME.current_player(states)[0]))
    assert movers == [0] * 5 + [1] * 5 + [0, 1] * 8 + [NO_PLAYER]


@pytest.mark.parametrize(("placed", "seen"), [(0, 5), (4, 5), (5, 10), (9, 10), (10, 11), (11, 12), (25, 26), (26, 26)])
@pytest.mark.parametrize("player", [0, 1])
def test_both_players_see_what_has_been_turned_up(placed, seen, player):
    states = [states.copy() for states, _ in replay(range(52), [2] * 26)][placed]
    deck = known(states, player)["deck"][0]
    assert deck[:seen].tolist() == list(range(seen))
    assert (deck[seen:] == UNKNOWN).all()


@pytest.mark.parametrize(
    ("board", "legal"),
    [
        ("2c 3c | 4c 5c | 6c", [True, True, True]),
        ("2c 3c 4c | 5c | 6c", [False, True, True]),
        ("| 2c 3c 4c 5c 6c |", [True, False, True]),
        ("| | 2c 3c 4c 5c 6c", [True, True, False]),
    ],
)
def test_rows_hold_three_and_five(board, legal):
    assert GAME.legal_actions(table_of(board, "Ac Ad Ah | | As Ks"))[0].tolist() == legal


def test_every_row_counts_one_and_all_three_a_scoop():
    assert points(STRONG, WEAK) == 6
    assert points(WEAK, STRONG) == -6


def test_two_rows_of_three_count_one():
    first = "2s 5d Th | 4c 5s Tc Jd Qh | 2h 3s 6d 7s Kd"
    assert points(first, "2c 3d 4h | 2d 4s 6c 7h 8h | 3c 5c 8c Ks Ad") == 2 - 1


def test_a_tied_row_is_nothing_and_no_scoop():
    tied = "2s 3h 4c | 4d 5s Tc Jd Qh | 5c 8c Jh Qs Kd"
    assert points(tied, WEAK) == 2


@pytest.mark.parametrize(
    ("board", "fouled"),
    [
        (FOUL, True),
        ("2s 5d Th | 5c 8c Jh Qs Kd | 4c 5s Tc Jd Qh", True),  # the middle above the back
        ("2s 5d Th | 5c 8c Jh Qs Kd | 5s 8d Jd Qh Kc", False),  # equal rows
        ("Ac Ad Kc | Ah As Kd 5c 2c | 3c 3d 3h 6c 7c", False),  # AAK equals AAK52
        ("Ac Ad Kc | Ah As Qd Jc Tc | 3c 3d 3h 6c 7c", True),  # AAK is above AAQJT
        ("2s 2d 2h | 3c 3d 4c 4d Ah | 5c 6c 7c 8c Tc", True),  # three of a kind beats two pair
        ("2s 2d 2h | 3c 3d 3h 4d 5h | 5c 6c 7c 8c Tc", False),
        ("Qs Td 9h | Qc Tc 9d 4c 2c | Qd Th 9c 4h 3s", False),  # three ranks each, then the back by the fifth
        ("5s 4d 3h | 7c 5c 4h 3d 2c | 8c 7d 5h 4s 3s", False),
    ],
)
def test_equality_is_no_foul(board, fouled):
    taken = parse_cards(board.replace("|", ""))
    other = [card_text(card) for card in range(52) if card not in taken][:13]
    states = table_of(board, " ".join(other[:3]) + "|" + " ".join(other[3:8]) + "|" + " ".join(other[8:]))
    assert rules.is_foul(*(int(rank) for rank in states["ranks"][0, 0])) == fouled


def test_a_foul_pays_six_and_the_others_royalties():
    flush_back = "2s 5d Th | 4c 5s Tc Jd Qh | 2h 3h 4h 6h 7h"
    assert points(FOUL.replace("6h", "6s"), flush_back) == -6 - 4
    assert points(flush_back, FOUL.replace("6h", "6s")) == 6 + 4


def test_a_fouled_board_earns_no_royalties():
    royal_middle = "2s 5d 7h | Tc Jc Qc Kc Ac | 2h 3h 4d 6h 8s"
    assert points(royal_middle, "2c 3d 4h | 2d 4s 6c 8h 9h | 3s 6d 7s 9c Js") == -6


def test_both_foul_for_nothing():
    assert points(FOUL, "Ah As 3d | 5d 9c Jd Qd Kd | 6c 8c 9s Th 2s") == 0


def test_royalties_are_netted():
    # kings in front and a straight behind against three fives in the middle and a flush behind; one row to one
    first = "Kc Kd 2h | As Ad 3c 6s 8d | 9c Td Jh Qs Kh"
    second = "Qc Jd 4s | 5c 5d 5h 7s 9d | 2d 4d 6d 8d Td".replace("8d", "7d").replace("Td", "Qd")
    assert points(first, second) == (1 - 1 - 1) + (8 + 2) - (2 + 4)


def rank_of(row, text):
    board = table_of_row(row, text)
    return int(board["ranks"][0, 0, row])


def table_of_row(row, text):
    """Finished game in which player 0 has this row and arbitrary other rows."""
    taken = list(parse_cards(text))
    others = [card_text(card) for card in range(52) if card not in taken]
    rows = [others[:3], others[3:8], others[8:13]]
    rows[row] = text.split()
    rest = others[13:26]
    return table_of("|".join(map(" ".join, rows)), "|".join(map(" ".join, (rest[:3], rest[3:8], rest[8:]))))


FIVES = {
    "8c 7d 5h 4s 2s": "high card",
    "Ac Ad 5h 4s 2s": "pair",
    "Ac Ad Kh Ks 2s": "two pair",
    "2c 2d 2h 3s 4s": "three of a kind",
    "Ac 2d 3h 4s 5s": "straight",
    "2c 4c 5c 6c 7c": "flush",
    "2c 2d 2h 3s 3d": "full house",
    "2c 2d 2h 2s 3d": "four of a kind",
    "9c Tc Jc Qc Kc": "straight flush",
    "Ac 2c 3c 4c 5c": "straight flush",
    "Tc Jc Qc Kc Ac": "royal flush",
}


@pytest.mark.parametrize("text", FIVES)
@pytest.mark.parametrize("row", [1, 2])
def test_royalties_of_rows_of_five(row, text):
    points_paid = royalty(rank_of(row, text), row)
    assert points_paid == plain_royalty(row, text.split())
    if row == 1:
        assert points_paid == MIDDLE_ROYALTIES.get(FIVES[text], 0)


def test_royalties_of_all_fronts():
    ranks = "23456789TJQKA"
    for place, rank in enumerate(ranks):
        other = ranks[place - 1]
        assert royalty(rank_of(0, f"{rank}c {rank}d {rank}h"), 0) == 10 + place
        assert royalty(rank_of(0, f"{rank}c {rank}d {other}h"), 0) == max(place - 3, 0)
    assert royalty(rank_of(0, "Ac Kd Qh"), 0) == 0
    assert royalty(rank_of(0, "6c 6d Ah"), 0) == 1
    assert royalty(rank_of(0, "5c 5d Ah"), 0) == 0


def test_afterstates_wait_for_the_card_that_nobody_knows():
    states = table_of("2c 3c | 4c | 5c 6c", "2d 3d | 4d | 5d 6d")
    info_states = known(states)
    GAME.apply(info_states, np.array([1], dtype=np.int16))
    assert GAME.current_player(info_states)[0] == NO_PLAYER
    assert not GAME.is_over(info_states)[0]
    assert not GAME.legal_actions(info_states).any()
    kept = info_states.tobytes()
    GAME.apply(info_states, np.array([1], dtype=np.int16))
    assert info_states.tobytes() == kept
    turned = GAME.determinize(info_states, np.zeros(1, dtype=np.int8), np.random.default_rng(0))
    assert GAME.current_player(turned)[0] == 1


@with_jit
def test_determinizations_draw_every_unseen_card_alike():
    info_states = known(table_of("2c 3c | 4c | 5c 6c", "2d 3d | 4d | 5d 6d"))
    many = np.repeat(info_states, 8_200)
    drawn = GAME.determinize(many, np.zeros(len(many), dtype=np.int8), np.random.default_rng(0))["deck"]
    assert np.array_equal(drawn[:, :11], many["deck"][:, :11])
    assert (np.sort(drawn, axis=1)[:, 1:] > np.sort(drawn, axis=1)[:, :-1]).all()
    for place in (11, 25):
        counts = np.bincount(drawn[:, place], minlength=52)
        assert (counts > 0).sum() == 41
        assert counts[counts > 0].max() < 280  # 200 each, give or take 5 SD


def test_texts_name_card_and_row():
    states = table_of("2c 3c | 4c | 5c 6c", "2d 3d | 4d | 5d 6d", rest=["As"])
    assert [GAME.action_text(known(states)[0], row) for row in range(3)] == [
        "As to the front",
        "As to the middle",
        "As to the back",
    ]
    assert GAME.render(known(states)[0]).splitlines() == [
        "player 0 front   2c 3c --",
        "player 0 middle  4c -- -- -- --",
        "player 0 back    5c 6c -- -- --",
        "player 1 front   2d 3d --",
        "player 1 middle  4d -- -- -- --",
        "player 1 back    5d 6d -- -- --",
        "player 0 to place As",
    ]


def test_records_have_no_hidden_bytes():
    assert sum(rules.STATE[name].itemsize for name in rules.STATE.names) == rules.STATE.itemsize


def test_options_are_checked():
    with pytest.raises(InvalidOption, match=r"game\.features=all: must be one of rows, paper"):
        make_game("open_face", features="all")


def test_holders_have_what_lies_before_them():
    states = table_of("2c 3c | 4c | 5c 6c", "", rest=["2d", "3d", "4d", "5d", "6d", "7d"])
    holders = GAME.holders(States(states))[0]
    assert [card_text(card) for card in np.flatnonzero(holders == 0)] == ["2c", "3c", "4c", "5c", "6c"]
    assert [card_text(card) for card in np.flatnonzero(holders == 1)] == ["2d", "3d", "4d", "5d", "6d"]
