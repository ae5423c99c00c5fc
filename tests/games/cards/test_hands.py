"""Every five-card hand counted, a public evaluator, a plain reference, partial rows, fronts."""

import hashlib
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from phevaluator import evaluate_cards

from cardlab.games.cards import hands
from cardlab.games.cards.deck import parse_cards
from games.cards.slow_hands import compare_with_front, order_of

ALL_HANDS = 2_598_960
# how many hands and how many distinct strengths each category has; common knowledge, e.g. the seed's Table I
HANDS = (1_302_540, 1_098_240, 123_552, 54_912, 10_200, 5_108, 3_744, 624, 36, 4)
CLASSES = (1277, 2860, 858, 858, 10, 1277, 156, 156, 9, 1)
# sha256 of the strengths of all hands in lexicographic order of card numbers, little-endian uint16
DIGEST = "f726a3c1a70fe2965ba5d4a1fd254dc0de9de79c9beea030ffc21e09972370c1"


def cards_of(count: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, 51), min_size=count, max_size=count, unique=True)


def strength(text: str) -> int:
    return int(hands.strengths(parse_cards(text)[None, :])[0])


def front(text: str) -> int:
    return int(hands.front_codes(parse_cards(text)[None, :])[0])


@pytest.fixture(scope="module")
def every_strength() -> np.ndarray:
    flat = np.fromiter((card for hand in combinations(range(52), 5) for card in hand), np.int8, 5 * ALL_HANDS)
    return hands.strengths(flat.reshape(-1, 5))


def test_every_hand_counted_by_class(every_strength: np.ndarray) -> None:
    classes = np.unique(every_strength)
    assert classes.tolist() == list(range(1, 7463))
    assert np.bincount(hands.STRENGTH_CATEGORIES[every_strength]).tolist() == list(HANDS)
    assert np.bincount(hands.STRENGTH_CATEGORIES[classes]).tolist() == list(CLASSES)


def test_order_of_every_hand_has_not_changed(every_strength: np.ndarray) -> None:
    assert hashlib.sha256(every_strength.astype("<u2").tobytes()).hexdigest() == DIGEST


def test_same_order_as_a_public_evaluator_on_a_million_hands() -> None:
    cards = np.random.default_rng(0).random((1_000_000, 52), dtype=np.float32).argpartition(5, axis=1)[:, :5]
    theirs = np.fromiter((evaluate_cards(*hand) for hand in cards.tolist()), np.int64, len(cards))
    assert (hands.strengths(cards) == 7463 - theirs).all()  # theirs is 1 for the royal flush, 7462 for 75432


@settings(deadline=None)
@given(cards_of(5), cards_of(5))
def test_order_is_that_of_the_plain_evaluator(first: list[int], second: list[int]) -> None:
    ours = hands.strengths(np.array([first, second])).astype(int)
    assert np.sign(ours[0] - ours[1]) == (order_of(first) > order_of(second)) - (order_of(first) < order_of(second))
    assert hands.STRENGTH_CATEGORIES[ours[0]] == order_of(first)[0]


@settings(deadline=None)
@given(st.permutations(range(52)).map(lambda deck: deck[:5]), st.permutations(range(5)))
def test_order_of_cards_does_not_matter(cards: list[int], order: list[int]) -> None:
    shuffled = [cards[i] for i in order]
    assert hands.strengths(np.array([cards]))[0] == hands.strengths(np.array([shuffled]))[0]


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("Ah 2c 3d 4s 5h", hands.STRAIGHT),
        ("Ah Kc Qd Js Th", hands.STRAIGHT),
        ("Kh Ac 2d 3s 4h", hands.HIGH_CARD),  # no straight round the corner
        ("Ah 2h 3h 4h 5h", hands.STRAIGHT_FLUSH),
        ("Ah Kh Qh Jh Th", hands.ROYAL_FLUSH),
        ("9h Kh Qh Jh Th", hands.STRAIGHT_FLUSH),
        ("Ac Kc Qc Jc 9c", hands.FLUSH),
        ("Ac Ad Ah Ks Kd", hands.FULL_HOUSE),
    ],
)
def test_categories(text: str, category: int) -> None:
    assert hands.STRENGTH_CATEGORIES[strength(text)] == category


def test_ends_of_the_scale() -> None:
    assert strength("7c 5d 4h 3s 2c") == 1
    assert strength("As Ks Qs Js Ts") == hands.MAX_STRENGTH
    assert strength("5d 4h 3s 2c Ac") < strength("6d 5d 4h 3s 2c")


def test_category_starts_are_the_least_strength_of_each() -> None:
    assert [hands.STRENGTH_CATEGORIES[start] for start in hands.CATEGORY_STARTS] == list(range(10))
    assert [hands.STRENGTH_CATEGORIES[start - 1] for start in hands.CATEGORY_STARTS[1:]] == list(range(9))


@settings(deadline=None)
@given(cards_of(5), st.integers(0, 5))
def test_running_key_knows_size_and_suits(cards: list[int], size: int) -> None:
    key = 0
    for card in cards[:size]:
        key += int(hands.CARD_KEYS[card])
    assert key == hands.keys_of(np.array(cards[:size], dtype=np.int8))
    assert hands.hand_size(key) == size
    for suit in range(4):
        assert hands.suit_count(key, suit) == sum(card % 4 == suit for card in cards[:size])


@settings(max_examples=25, deadline=None)
@given(st.integers(3, 4).flatmap(cards_of))
def test_guaranteed_strength_is_the_least_over_all_completions(cards: list[int]) -> None:
    others = [card for card in range(52) if card not in cards]
    filled = np.array([cards + list(more) for more in combinations(others, 5 - len(cards))])
    key = int(hands.keys_of(np.array(cards)))
    assert hands.guaranteed_strength(hands.strength_table(), key, len(cards)) == _least_apart_from_suits(filled)


def _least_apart_from_suits(filled: np.ndarray) -> int:
    """Strengths with every hand that is a flush left out: other cards of the same ranks are no flush."""
    ours = hands.strengths(filled)
    return int(
        ours[~np.isin(hands.STRENGTH_CATEGORIES[ours], (hands.FLUSH, hands.STRAIGHT_FLUSH, hands.ROYAL_FLUSH))].min()
    )


@settings(deadline=None)
@given(st.integers(1, 4).flatmap(cards_of))
def test_category_of_a_partial_hand(cards: list[int]) -> None:
    key = int(hands.keys_of(np.array(cards)))
    assert hands.hand_category(hands.strength_table(), key, len(cards)) == order_of(cards)[0]


def test_no_cards_guarantee_nothing() -> None:
    assert hands.guaranteed_strength(hands.strength_table(), 0, 0) == 1


@settings(max_examples=300, deadline=None)
@given(st.permutations(range(52)))
def test_front_against_five_cards(deck: list[int]) -> None:
    five, three = deck[:5], deck[5:8]
    code = int(hands.front_codes(np.array([three]))[0])
    holds = int(hands.strengths(np.array([five]))[0]) >= code >> hands.FRONT_SHIFT
    assert holds == (compare_with_front(five, three) >= 0)


def test_every_front_against_every_class_of_five_cards() -> None:
    """All 455 fronts, each against the hands on both sides of its floor."""
    fives = np.random.default_rng(1).random((40_000, 52)).argpartition(5, axis=1)[:, :5]
    _, firsts = np.unique(hands.strengths(fives), return_index=True)
    examples = fives[firsts].tolist()  # one hand of each strength, weakest first
    ours = hands.strengths(fives[firsts])
    for ranks in combinations(range(39), 3):
        three = [4 * (rank % 13) + rank // 13 for rank in ranks]
        floor = int(hands.front_codes(np.array([three]))[0]) >> hands.FRONT_SHIFT
        at = int(np.searchsorted(ours, floor))
        assert at == len(ours) or compare_with_front(examples[at], three) >= 0
        assert at == 0 or compare_with_front(examples[at - 1], three) < 0


@settings(deadline=None)
@given(cards_of(3), cards_of(3))
def test_front_against_front(first: list[int], second: list[int]) -> None:
    ours = hands.front_codes(np.array([first, second])).astype(int)
    assert np.sign(ours[0] - ours[1]) == (order_of(first) > order_of(second)) - (order_of(first) < order_of(second))
    assert hands.STRENGTH_CATEGORIES[ours[0] >> hands.FRONT_SHIFT] == order_of(first)[0]


def test_the_sheet_s_rules_for_fronts() -> None:
    aces = front("Ac Ad Kc") >> hands.FRONT_SHIFT
    assert strength("Ah As Kd 5c 2c") >= aces  # equal, so a middle of it is no foul
    assert strength("Ah As Qd Jc Tc") < aces
    assert strength("Ah As Kd Kh 2c") >= aces
    assert strength("Ah As Kd Kh Qc") < front("2c 2d 2h") >> hands.FRONT_SHIFT  # three of a kind beats two pair
    assert front("2c 2d 2h") > front("Ac Ad Kh")


@pytest.mark.parametrize("cards", [[[0, 1, 2, 3]], [[0, 1, 2, 3, 52]], [[0, 1, 2, 3, -1]], [[0, 1, 2, 3, 256]]])
def test_what_is_no_hand_is_refused(cards: list[list[int]]) -> None:
    with pytest.raises(ValueError, match="cards"):
        hands.strengths(np.array(cards))


def test_no_hands_give_no_strengths() -> None:
    assert hands.strengths(np.empty((0, 5), dtype=np.int8)).shape == (0,)
