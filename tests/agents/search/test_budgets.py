"""Keeping time by a clock that the test moves."""

from itertools import pairwise

import pytest

from cardlab.agents.search.budgets import RecordedBudget, TimeBudget
from cardlab.agents.search.search_io import SearchEffort


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def batches_done(seconds, needed, phases):
    """Batches of each phase and the time used, where batch number n takes needed(n) seconds."""
    clock = Clock()
    watch = TimeBudget(seconds, clock)
    done = []
    number = 0
    for phase in range(phases):
        done.append(0)
        while watch.more(phase, phases, done[-1]):
            clock.now += needed(number)
            number += 1
            done[-1] += 1
    return done, clock.now - 100.0


@pytest.mark.parametrize("phases", [1, 3, 5])
@pytest.mark.parametrize("each", [0.001, 0.01, 0.05])
def test_the_time_is_used_and_kept(each, phases):
    done, used = batches_done(1.0, lambda _: each, phases)
    assert 1.0 - phases * each - 1e-9 <= used <= 1.0 + 1e-9
    assert all(abs(one - other) <= 1 for one, other in pairwise(done)), "as much time for each phase"


def test_a_slow_batch_makes_it_careful():
    _, used = batches_done(1.0, lambda number: 0.3 if number == 5 else 0.01, 1)
    assert used <= 1.0


def test_the_first_batch_is_always_done():
    assert batches_done(0.001, lambda _: 2.0, 4) == ([1, 0, 0, 0], 2.0)


def test_a_record_is_done_again():
    meter = RecordedBudget(SearchEffort(8, (2, 0, 3)))
    done = []
    for phase in range(4):
        done.append(0)
        while meter.more(phase, 4, done[-1]):
            done[-1] += 1
    assert done == [2, 0, 3, 0]
    assert not meter.expired()
