"""Values of hands as the paper's program computes them: worked by hand, and against a plain account."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardlab.games.cards.deck import parse_cards
from cardlab.games.cards.hands import strength_table
from cardlab.games.five_o import paper_values
from cardlab.games.five_o.paper_values import EVAL, FAST_EVAL, PACK_DESCRIBED, PACK_EXPECT
from games.five_o import paper_reference
from games.five_o.tables import counts_of, key_mask

REFERENCES = {
    EVAL: paper_reference.eval_hand,
    FAST_EVAL: paper_reference.fast_eval,
    PACK_EXPECT: paper_reference.pack_expect,
}
CLOSE = [list(range(2, 52, 4)), list(range(24, 44)), [*range(16), 48, 49]]
"""One suit, five ranks, and aces with low cards."""


def value(kind: int, hand: list[int], unseen: list[int], turn: int = 0) -> float:
    draws = paper_values.draws_after(turn)
    return paper_values.hand_value(kind, strength_table(), *key_mask(hand), len(hand), counts_of(unseen), draws)


def cards(text: str) -> list[int]:
    return parse_cards(text).tolist()


@pytest.mark.parametrize(
    ("hand", "expected"),
    [
        ("As Ad", 4 / 5 + 1),  # no suit, span 0, ace: the pair adds nothing
        ("As Kd", 4 / 5 + 1),  # the same as the pair
        ("As Ks", 4 / 5 + 4 / 5 + 1),
        ("As", 2 / 5 + 2 / 5 + 1),
        ("As 2d", 1),  # an ace is high only: span 12
        ("2c 7d", 5 / 12),
        ("7d 7c 7h 9c", 8 / 5 + 7 / 12),
        ("Th Jh Qh Kh Ah", 2 + 2 + 1 + 4),
        ("9h Th Jh Qh Kh", 2 + 2 + 11 / 12),
    ],
)
def test_pack_expect_worked_by_hand(hand: str, expected: float) -> None:
    assert value(PACK_EXPECT, cards(hand), []) == pytest.approx(expected)


def test_pack_expect_as_described_sees_pairs_and_is_1_to_17() -> None:
    # 1 + 2 for the pair + 3 for the ace; 1 + 3 for the ace + 1.5 for two cards of one straight
    assert value(PACK_DESCRIBED, cards("As Ad"), []) == 6
    assert value(PACK_DESCRIBED, cards("As Kd"), []) == 5.5
    assert value(PACK_DESCRIBED, cards("2c"), []) == 1
    assert value(PACK_DESCRIBED, cards("Th Jh Qh Kh Ah"), []) == 17


@pytest.mark.parametrize(
    ("hand", "expected"),
    [
        ("2c 3d 4h 5s", 1),  # + 7: 7-5-4-3-2, the worst hand of all; 6 and A would make a straight
        ("2c 3d 4h 6s", 2),  # + 7: 7-6-4-3-2, the second worst
        ("2c", 1),
        ("Ac 2d 3h 4s", 5854),  # + 5, the lowest rank: taken for 5-4-3-2-A, the least straight
        ("Ac 3d 4h 5s", 5854),  # + 2
        ("2c 2d 2h 3s", 4996),  # + 4: 2-2-2-4-3, the least three of a kind
        ("2c 2d", 1278),  # 2-2-5-4-3, the least pair
        ("Ac 2d 3h", 7463 - 6678),  # A-6-4-3-2, 493rd lowest of 493 hands with an ace from above: class 6678
    ],
)
def test_current_values_worked_by_hand(hand: str, expected: int) -> None:
    hand_cards = cards(hand)
    assert value(EVAL, hand_cards, [], 40) == expected  # no draws left, so no chances
    assert paper_reference.guaranteed(paper_reference.ranks_of(hand_cards)) == expected


def test_eval_of_four_clubs_worked_by_hand() -> None:
    """After 21 placements n = (40 - 30) / 2 = 5; of 21 unseen cards 5 are clubs."""
    hand = cards("2c 7c 9c Kc")
    unseen = cards("3c 4c 5c 6c 8c  2d 3d 4d 5d 6d 8d Td Jd  2h 3h 4h 5h 6h 8h Th Jh")
    chance = Fraction(5 * comb(16, 4), comb(21, 5))  # 1300 / 2907
    current = paper_reference.strength(cards("2c 7c 9c Kc 3d"))
    expected = (1 - chance) * current + chance * 6483 * Fraction(4, 5)  # 6483 = 7463 - (1144 + 816) / 2
    assert value(EVAL, hand, unseen, 21) == pytest.approx(float(expected), rel=1e-12)
    share = Fraction(5, 21)
    expected = (1 - share) * current + share * 6483 * Fraction(4, 5)
    assert value(FAST_EVAL, hand, unseen) == pytest.approx(float(expected), rel=1e-12)


def test_eval_of_three_in_a_row_worked_by_hand() -> None:
    """After 15 placements n = (40 - 20) / 2 = 10; straights 3-7, 4-8 and 5-9 lack 3 and 4, 4 and 8, 8 and 9."""
    hand = cards("5c 6d 7h")
    unseen = cards("3c 3d 4c 4d 4h 8c 9c 9d  2c 2d 2h 2s Tc Td Th Ts Jc Jd Jh Js Qc Qd Qh Qs Kc Kd Kh")
    assert len(unseen) == 27
    chance = Fraction(2 * 3 * comb(22, 8) + 3 * 1 * comb(23, 8) + 1 * 2 * comb(24, 8), comb(27, 10))
    current = 3  # 7-6-5-3-2 comes after 7-5-4-3-2 and 7-6-4-3-2
    straight = 7463 - 1607  # seven high
    expected = (1 - chance) * current + chance * straight * Fraction(3, 5)
    assert value(EVAL, hand, unseen, 15) == pytest.approx(float(expected), rel=1e-12)
    share = Fraction(2 * 3 + 3 * 1 + 1 * 2, 27**2)
    expected = (1 - share) * current + share * straight * Fraction(3, 5)
    assert value(FAST_EVAL, hand, unseen) == pytest.approx(float(expected), rel=1e-12)


def test_an_ace_with_low_cards_has_no_chance_of_a_straight() -> None:
    unseen = [card for card in range(52) if card not in cards("Ac 2d 3h 4s")]
    assert value(EVAL, cards("Ac 2d 3h 4s"), unseen, 0) == 5854
    assert value(FAST_EVAL, cards("Ac 2d 3h"), unseen) == 7463 - 6678
    assert value(EVAL, cards("2d 3h 4s"), unseen, 5) > 1  # A to 5 and 2 to 6


def test_only_fast_eval_sees_a_straight_beside_a_pair() -> None:
    """9-9 lacks four ranks of each of five straights, of which 4 cards each are unseen: 5 (4 / 50)^4."""
    hand = cards("9c 9d")
    unseen = [card for card in range(52) if card not in hand]
    pair = paper_reference.strength(cards("9c 9d 2h 3s 4c"))
    share = 5 * Fraction(4, 50) ** 4
    assert value(EVAL, hand, unseen, 5) == pair
    expected = (1 - share) * pair + share * (7463 - 1605) * Fraction(2, 5)
    assert value(FAST_EVAL, hand, unseen) == pytest.approx(float(expected), rel=1e-12)


def test_draws_are_those_of_whole_rounds() -> None:
    assert [paper_values.draws_after(turn) for turn in (1, 10, 11, 20, 21, 30, 31, 40)] == [15, 15, 10, 10, 5, 5, 0, 0]


@settings(deadline=None)
@given(st.permutations(range(52)), st.integers(1, 5), st.integers(1, 39), st.sampled_from([*CLOSE, list(range(52))]))
def test_values_are_those_of_the_plain_account(deck: list[int], size: int, turn: int, chosen: list[int]) -> None:
    hand = [card for card in deck if card in chosen][:size]
    unseen = [card for card in deck if card not in hand][: max(41 - turn, 2)]
    for kind, reference in REFERENCES.items():
        assert value(kind, hand, unseen, turn) == pytest.approx(float(reference(hand, unseen, turn)), rel=1e-9)


@pytest.mark.parametrize("deck", [np.arange(52)[place::7].tolist() for place in range(7)])
def test_the_value_of_a_complete_hand_is_its_strength(deck: list[int]) -> None:
    for kind in (EVAL, FAST_EVAL):
        assert value(kind, deck[:5], deck[5:]) == paper_reference.strength(deck[:5])
