"""Observations: bounds and flags against enumeration, row features against the rows."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardlab.games.cards.deck import card_text, parse_card
from cardlab.games.cards.hands import FRONT_SHIFT, front_codes, strengths
from cardlab.games.open_face import row_features
from cardlab.games.open_face.game import OpenFace
from cardlab.games.open_face.royalties import FIVE_BITS, nodes
from cardlab.games.protocol import InfoStates, find_block
from games.open_face.reference import CATEGORIES, hand_value
from games.open_face.tables import GAME, complete, known, replay, table_of

decks = st.permutations(range(52))
choices = st.lists(st.integers(0, 5), min_size=26, max_size=26)
places = st.integers(0, 26)
STRAIGHTS = [{"A23456789TJQKA"[low + i] for i in range(5)} for low in range(10)]


def position(deck, picks, place):
    return [(states.copy(), plain) for states, plain in replay(deck, picks[:place])][-1]


def seen_by(states, viewer):
    """The observation of `viewer` as a function of block and row block."""
    info_states = known(states, viewer)
    row = GAME.observe(info_states, np.array([viewer], dtype=np.int8))[0]

    def part(name, column=None):
        block = GAME.spec.block(name)
        cut = row[block.start : block.stop].reshape(block.shape)
        if column is None:
            return cut
        inner = find_block(row_features.BLOCKS, column)
        return cut[:, inner.start : inner.stop]

    return part


def ranks_of_rows(cards, size):
    if size == 3:
        return front_codes(cards)
    return strengths(cards).astype(np.int64) << FRONT_SHIFT | FIVE_BITS


@given(row=st.sets(st.integers(0, 51), min_size=1, max_size=4), front=st.booleans())
@settings(max_examples=60, deadline=None)
def test_bounds_are_those_of_the_best_and_the_worst_completion(row, front):
    """Up to two missing cards: all completions are enumerated; more: bounds of nodes with one more card."""
    cards, size = sorted(row), 3 if front else 5
    if not size - 2 <= len(cards) < size:
        return
    node = 0
    for card in cards:
        node = nodes()[node]["next"][card // 4]
    others = [card for card in range(52) if card not in row]
    full = np.array([[*cards, *more] for more in combinations(others, size - len(cards))])
    reached = ranks_of_rows(full, size)
    suited = not front and len({card % 4 for card in cards}) == 1
    low, high = ("low_front", "high_front") if front else ("low", "high")
    assert nodes()[node][low] == reached.min()
    best = max(nodes()[node][high], nodes()[node]["suited"]) if suited else nodes()[node][high]
    assert best == reached.max()


def test_bounds_of_a_node_are_those_of_the_nodes_that_follow():
    table = nodes()
    assert len(table) == 2_380
    for node in range(560):  # up to three ranks
        following = table["next"][node]
        assert table[node]["low"] == table["low"][following].min()
        assert table[node]["high"] == table["high"][following].max()


@given(deck=decks, picks=choices, place=places, viewer=st.integers(0, 1), seed=st.integers(0, 999))
@settings(max_examples=30, deadline=None)
def test_what_is_certain_happens(deck, picks, place, viewer, seed):
    states, _ = position(deck, picks, place)
    part = seen_by(states, viewer)
    info_states = InfoStates(np.repeat(known(states, viewer), 40))
    ends = complete(info_states, np.random.default_rng(seed))
    for side, player in enumerate((viewer, 1 - viewer)):
        ranks = ends["ranks"][:, player]
        foul = (ranks[:, 2] < ranks[:, 1]) | (ranks[:, 1] < ranks[:, 0])
        status = part("status")
        assert foul.all() or not status[7 + side]
        assert not foul.any() or not status[9 + side]
        for row in range(3):
            line = 3 * side + row
            order, duel = part("lines", "order")[line], part("lines", "duel")[line]
            bounds = np.round(part("lines", "bounds")[line].astype(np.float64) * 7463 * 32, 0)
            assert (ranks[:, row] >= bounds[0] - 1).all()
            assert (ranks[:, row] <= bounds[1] + 1).all()
            if row > 0:
                assert not order[0] or (ranks[:, row] >= ranks[:, row - 1]).all()
                assert not order[1] or (ranks[:, row] < ranks[:, row - 1]).all()
            if row < 2:
                assert not order[3] or (ranks[:, row + 1] >= ranks[:, row]).all()
                assert not order[4] or (ranks[:, row + 1] < ranks[:, row]).all()
            theirs = ends["ranks"][:, 1 - player, row]
            assert not duel[0] or (ranks[:, row] > theirs).all()
            assert not duel[1] or (ranks[:, row] < theirs).all()


def test_equal_rows_are_safe():
    states = table_of("2s 5d Th | 5c 8c Jh Qs Kd | 5s 8d Jd Qh Kc", "2c 3d 4h | 2d 4s 6c 7h 8h | 2h 3s 6d 7s 9c")
    part = seen_by(states, 0)
    assert part("status")[[7, 9]].tolist() == [0, 1]
    assert part("lines", "order")[:3].tolist() == [[0, 0, 0, 1, 0, 0], [1, 0, 0, 1, 0, 0], [1, 0, 0, 0, 0, 0]]


@given(deck=decks, picks=choices, viewer=st.integers(0, 1))
@settings(max_examples=30, deadline=None)
def test_a_finished_board_is_fouled_or_safe(deck, picks, viewer):
    states, plain = position(deck, picks, 26)
    status = seen_by(states, viewer)("status")
    for side in range(2):
        assert status[7 + side] + status[9 + side] == 1
    assert status[2] == 1
    assert status[16] == pytest.approx(plain.payoffs()[viewer] / 10)


@given(deck=decks, picks=choices, place=places, viewer=st.integers(0, 1))
@settings(max_examples=100, deadline=None)
def test_row_features_match_the_rows(deck, picks, place, viewer):
    states, plain = position(deck, picks, place)
    part = seen_by(states, viewer)
    on_boards = [card for board in plain.boards for row in board for card in row]
    free = [text for text in map(card_text, range(52)) if text not in on_boards]
    for side, player in enumerate((viewer, 1 - viewer)):
        for row, cards in enumerate(plain.boards[player]):
            line = 3 * side + row
            assert part("lines", "owner")[line].argmax() == side
            assert part("lines", "row")[line].argmax() == row
            assert part("lines", "size")[line].argmax() == len(cards)
            held = [sum(card[0] == rank for card in cards) for rank in "23456789TJQKA"]
            assert (part("lines", "ranks")[line] * 2).tolist() == held
            suits = [sum(card[1] == suit for card in cards) for suit in "cdhs"]
            np.testing.assert_allclose(part("lines", "suits")[line] * 5, suits, rtol=1e-6)
            check_draws(part("lines", "draws")[line], row, cards, free)
            made = part("lines", "made")[line]
            if not cards:
                assert not made.any()
            elif len(cards) == (3 if row == 0 else 5):
                assert CATEGORIES[made.argmax()] == hand_value(cards)[0]
            else:
                counts = sorted(held)[::-1]
                name = {(1, 1): "high card", (1, 0): "high card", (2, 1): "pair", (2, 0): "pair", (2, 2): "two pair"}
                name |= {(3, 1): "three of a kind", (3, 0): "three of a kind", (4, 0): "four of a kind"}
                assert CATEGORIES[made.argmax()] == name[tuple(counts[:2])]


def check_draws(draws, row, cards, free):
    """Possible flush and straight, and free cards for flush, straight, pair and more, counted plainly."""
    missing = (3 if row == 0 else 5) - len(cards)
    if missing == 0:
        assert not draws.any()
        return
    suits = {card[1] for card in cards}
    of_suit = sum(card[1] in suits for card in free)
    flush = row > 0 and len(suits) == 1 and of_suit >= missing
    ranks = [card[0] for card in cards]
    free_ranks = {card[0] for card in free}
    live = [
        straight - set(ranks)
        for straight in STRAIGHTS
        if row > 0 and len(set(ranks)) == len(ranks) and set(ranks) <= straight and straight - set(ranks) <= free_ranks
    ]
    wanted = set().union(*live)
    helps = sum(card[0] in wanted for card in free)
    pair = sum(ranks.count(card[0]) == 1 for card in free)
    more = sum(ranks.count(card[0]) >= 2 for card in free)
    expected = [flush, flush * of_suit / 13, bool(live), helps / 20, pair / 12, more / 4]
    np.testing.assert_allclose(draws, expected, rtol=1e-6)


@given(deck=decks, picks=choices, place=places, viewer=st.integers(0, 1))
@settings(max_examples=60, deadline=None)
def test_cards_in_sight_and_unseen(deck, picks, place, viewer):
    states, plain = position(deck, picks, place)
    part = seen_by(states, viewer)
    seen = {parse_card(text) for text in plain.seen()}
    assert set(np.flatnonzero(part("unseen") == 0)) == seen
    unseen = [card for card in range(52) if card not in seen]
    np.testing.assert_allclose(part("unseen_ranks") * 4, np.bincount([card // 4 for card in unseen], minlength=13))
    suits = np.bincount([card % 4 for card in unseen], minlength=4)
    np.testing.assert_allclose(part("unseen_suits") * 13, suits, atol=1e-5)
    to_place = plain.seen()[plain.placed :]
    assert set(np.flatnonzero(part("to_place"))) == {parse_card(text) for text in to_place}
    status = part("status")
    assert status[15] == pytest.approx(len(to_place) / 5)
    assert status[:2].tolist() == [plain.mover() == viewer, plain.mover() == 1 - viewer]
    assert status[4] == (viewer == 0)
    assert (status[13:15] * 13).round().tolist() == [
        13 - sum(map(len, plain.boards[player])) for player in (viewer, 1 - viewer)
    ]
    if to_place:
        card = parse_card(to_place[0])
        assert np.flatnonzero(part("card")).tolist() == [card // 4, 13 + card % 4]


@pytest.mark.parametrize(("last", "alive"), [("Qc", 0), ("Qd", 1)])
def test_a_flush_is_dead_when_its_suit_runs_out(last, alive):
    """Two clubs in the back need three more; one of them may be the card to place."""
    states = table_of("4c 5c 6c | 2d | 2c 3c", f"7c 8c 9c | Tc Jc | {last}", rest=["Kc"])
    draws = seen_by(states, 0)("lines", "draws")[2]
    assert draws[0] == alive
    assert draws[1] == pytest.approx(alive * 3 / 13)


def test_the_card_to_place_is_matched_with_the_rows():
    fit = seen_by(table_of("2c 3c | 4c | 5c 6c", "2d 3d | 4d | 5d 6d", rest=["7c"]), 0)("lines", "fit")
    assert fit.tolist() == [[1, 0, 0, 0], [1, 0, 1, 1], [1, 0, 1, 1], [0] * 4, [0] * 4, [0] * 4]
    fit = seen_by(table_of("2c 3c | 4c | 5c 6c", "2d 3d | 4d | 5d 6d", rest=["4h"]), 1)("lines", "fit")
    np.testing.assert_allclose(fit[3:], [[1, 0, 0, 0], [1, 1 / 3, 0, 0], [1, 0, 0, 1]], rtol=1e-6)
    assert not fit[:3].any()


def test_an_afterstate_marks_the_next_card_as_unknown():
    info_states = known(table_of("2c 3c | 4c | 5c 6c", "2d 3d | 4d | 5d 6d"))
    assert GAME.observe(info_states, np.zeros(1, np.int8))[0, 3] == 0
    GAME.apply(info_states, np.array([1], dtype=np.int16))
    observed = GAME.observe(info_states, np.zeros(1, np.int8))[0]
    assert observed[3] == 1
    assert observed[:2].tolist() == [0, 1]  # the opponent is next
    assert not observed[GAME.spec.block("to_place").start : GAME.spec.block("to_place").stop].any()


@given(deck=decks, picks=choices, place=places, viewer=st.integers(0, 1))
@settings(max_examples=40, deadline=None)
def test_paper_slots_encode_the_boards(deck, picks, place, viewer):
    states, plain = position(deck, picks, place)
    game = OpenFace(features="paper")
    encoded = game.observe(known(states, viewer), np.array([viewer], dtype=np.int8))[0].reshape(27, 53)
    assert (encoded.sum(axis=1) == 1).all()
    slots = [card_text(int(card)) if card < 52 else "" for card in encoded.argmax(axis=1)]
    expected = []
    for player in (viewer, 1 - viewer):
        for row, cards in enumerate(plain.boards[player]):
            expected += cards + [""] * ((3 if row == 0 else 5) - len(cards))
    assert slots[:26] == expected
    assert slots[26] == (plain.deck[plain.placed] if plain.placed < 26 else "")
