"""Equations (1) to (3) against enumeration, and what observations count."""

from collections import Counter
from itertools import combinations, product
from math import comb, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardlab.games.cards import hands
from cardlab.games.cards.deck import parse_card, parse_cards
from cardlab.games.five_o import column_probability, hand_values
from games.cards.slow_hands import order_of
from games.five_o.tables import counts_of, key_mask, written

RUNS = [{12, 0, 1, 2, 3}] + [set(range(low, low + 5)) for low in range(9)]


@settings(deadline=None)
@given(st.integers(1, 11), st.data())
def test_equation_1_is_the_share_of_draws(num_unseen: int, data: st.DataObject) -> None:
    relevant = data.draw(st.integers(0, num_unseen))
    draws = data.draw(st.integers(0, num_unseen))
    needed = data.draw(st.integers(0, 5))
    cases = Counter(sum(card < relevant for card in drawn) for drawn in combinations(range(num_unseen), draws))
    expected = cases[needed] / comb(num_unseen, draws)
    assert hand_values.hypergeometric(num_unseen, relevant, draws, needed) == pytest.approx(expected)


@settings(max_examples=60, deadline=None)
@given(st.permutations(range(52)), st.integers(2, 4), st.integers(0, 3))
def test_equation_1_for_a_flush(deck: list[int], size: int, more: int) -> None:
    suited = [4 * rank + 1 for rank in range(size)]
    unseen = [card for card in deck if card not in suited][:12]
    needed = 5 - size
    key, _ = key_mask(suited)
    found = sum(sum(card % 4 == 1 for card in drawn) == needed for drawn in combinations(unseen, needed + more))
    expected = found / comb(len(unseen), needed + more)
    assert hand_values.flush_chance(key, size, counts_of(unseen), needed + more) == pytest.approx(expected)


@settings(max_examples=60, deadline=None)
@given(st.permutations(range(52)), st.integers(2, 4), st.integers(0, 2), st.integers(0, 9), st.data())
def test_equation_2_for_a_straight(deck: list[int], size: int, more: int, run: int, data: st.DataObject) -> None:
    """Draws with exactly one card of each missing rank, summed over the straights."""
    ranks = data.draw(st.permutations(sorted(RUNS[run])))[:size]
    hand = [4 * rank for rank in ranks]
    unseen = [card for card in deck if card not in hand][:13]
    draws = 5 - size + more
    found = 0
    for drawn in combinations(unseen, draws):
        have = Counter(card // 4 for card in drawn)
        found += sum(set(ranks) <= run and all(have[rank] == 1 for rank in run - set(ranks)) for run in RUNS)
    _, mask = key_mask(hand)
    chance, least = hand_values.straight_chance(mask, size, counts_of(unseen), draws)
    assert chance == pytest.approx(found / comb(len(unseen), draws))
    reachable = [
        number
        for number, run in enumerate(RUNS)
        if set(ranks) <= run and {card // 4 for card in unseen} >= run - set(ranks)
    ]
    assert least == (reachable[0] if reachable else -1)


def test_equation_2_is_the_chance_of_a_straight_when_the_column_takes_every_draw() -> None:
    hand = parse_cards("6c 7d 8h").tolist()
    unseen = [card for card in range(52) if card not in hand]
    made = sum(
        order_of([*hand, *drawn])[0] in (hands.STRAIGHT, hands.STRAIGHT_FLUSH) for drawn in combinations(unseen, 2)
    )
    chance, _ = hand_values.straight_chance(key_mask(hand)[1], 3, counts_of(unseen), 2)
    assert chance == pytest.approx(made / comb(49, 2))


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=5, max_size=5))
def test_equation_3_is_the_sum_over_all_outcomes(columns: list[float]) -> None:
    expected = sum(
        prod(chance if won else 1 - chance for chance, won in zip(columns, outcome, strict=True))
        for outcome in product((0, 1), repeat=5)
        if sum(outcome) >= 3
    )
    assert column_probability.game_win_probability(np.array(columns)) == pytest.approx(expected)


def test_draws_left_count_what_may_still_come_to_a_column() -> None:
    four = "2c 3d 4h 6s|2d 3h 4s 6c|2h 3s 4c 6d|2s 3c 4d 6h|7c 8d 9h Js"
    full = "7d 8h 9s Jc|7h 8s 9c Jd|7s 8c 9d Jh|Tc Qd Kh As|Td Qh Ks Ac"
    state = written(four, full, "Ah", hidden=0)[0]
    assert [hand_values.draws_left(state, 0, column) for column in range(5)] == [4] * 5
    assert [hand_values.draws_left(state, 1, column) for column in range(5)] == [5] * 5
    state = written(four + " Th", full, "Ah", hidden=1)[0]
    assert [hand_values.draws_left(state, 0, column) for column in range(5)] == [3, 3, 3, 3, 0]
    assert [hand_values.draws_left(state, 1, column) for column in range(5)] == [1, 4, 4, 4, 4]


def test_unseen_cards_leave_out_all_that_is_in_sight() -> None:
    state = written("2c|3c|4c|5c|6c", "2d|3d|4d|5d|6d", "Ah")[0]
    unseen = np.empty(hand_values.NUM_COUNTS, dtype=np.int64)
    hand_values.count_unseen(state, unseen)
    seen = [4 * rank + suit for rank in range(5) for suit in (0, 1)] + [parse_card("Ah")]
    assert unseen.tolist() == counts_of([card for card in range(52) if card not in seen]).tolist()
