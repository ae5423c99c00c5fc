from itertools import combinations

import numpy as np
import pytest

from cardlab.games.big2.actions import (
    ACTION_POSITIONS,
    ACTION_SIZES,
    FIVE_TERMS,
    FOUR_BASES,
    NUM_ACTIONS,
    PAIR_NUMBERS,
    PASS,
    action_number,
    three_number,
)


def positions_of(action):
    return tuple(int(position) for position in ACTION_POSITIONS[action, : ACTION_SIZES[action]])


def test_all_actions_round_trip():
    assert NUM_ACTIONS == 1695
    assert PASS == 1694
    assert [action_number(positions_of(action)) for action in range(NUM_ACTIONS)] == list(range(NUM_ACTIONS))


@pytest.mark.parametrize(
    ("size", "first", "count", "fits"),
    [
        (1, 0, 13, lambda p: len(p) == 1),
        (2, 13, 33, lambda p: p[1] <= p[0] + 3),
        (3, 46, 31, lambda p: p[2] <= p[0] + 3),
        (4, 77, 330, lambda p: p[1] <= p[0] + 3 and p[3] <= p[2] + 3),
        (5, 407, 1287, lambda p: len(p) == 5),
    ],
)
def test_blocks_are_those_of_the_sheet(size, first, count, fits):
    expected = [positions for positions in combinations(range(13), size) if fits(positions)]
    assert len(expected) == count
    assert [positions_of(action) for action in range(first, first + count)] == expected


def test_triples_with_a_gap_are_offered():
    assert [action_number((i, i + 1, i + 3)) for i in range(10)] == [47 + 3 * i for i in range(10)]


def test_kernels_number_plays_as_the_table_does():
    for action in range(PASS):
        p = positions_of(action)
        number = {
            1: lambda p: p[0],
            2: lambda p: PAIR_NUMBERS[p],
            3: lambda p: three_number(*p),
            4: lambda p: FOUR_BASES[p[0], p[1]] + PAIR_NUMBERS[p[2], p[3]],
            5: lambda p: FIVE_TERMS[np.arange(5), p].sum(),
        }[len(p)](p)
        assert number == action


def test_impossible_positions_are_no_action():
    with pytest.raises(KeyError):
        action_number((0, 4))
