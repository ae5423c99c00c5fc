"""Keeping time by a clock that the test moves."""

import pytest

from cardlab.games.budgets import Pace, RecordedBudget, TimeBudget


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def search(seconds, needed, phases, *, sizes=(1, 4096), pace=None, leaves=1):
    """Sizes of the batches of each phase and the time used, where batch n of some leaves takes needed(n, leaves) s."""
    clock = Clock()
    budget = TimeBudget(seconds, sizes, pace or Pace(), clock)
    done = []
    number = 0
    for phase in range(phases):
        done.append([])
        while size := budget.next_batch(phase, phases, leaves):
            clock.now += needed(number, size * leaves)
            number += 1
            done[-1].append(size)
    return done, clock.now - 100.0


@pytest.mark.parametrize("phases", [1, 3, 5])
@pytest.mark.parametrize("each", [0.001, 0.01, 0.05])
def test_the_time_is_used_and_kept_by_batches_of_one_size(each, phases):
    done, used = search(1.0, lambda *_: each, phases, sizes=(8, 8))
    assert 1.0 - 2 * each - 1e-9 <= used <= 1.0 + 1e-9
    counts = list(map(len, done))
    assert max(counts) - min(counts) <= 2, "as much time for each phase"


@pytest.mark.parametrize("phases", [1, 3, 6])
@pytest.mark.parametrize("leaves", [2, 13, 60])
@pytest.mark.parametrize("slowness", [0.3, 1.0, 1.9])
def test_most_of_the_time_goes_into_leaves(phases, leaves, slowness):
    """A network's playouts: a batch takes 30 ms, and each of its leaves a third of one."""
    pace = Pace(0.03, 1 / 3000)
    done, used = search(1.0, lambda _, rows: slowness * pace.seconds(rows), phases, pace=pace, leaves=leaves)
    assert 0.9 <= used <= 1.0
    if slowness <= 1:
        together = sum(map(sum, done)) * leaves
        in_one_batch_a_phase = pace.leaves_within(1.0 / slowness - (phases - 1) * pace.fixed)
        assert together > 0.75 * in_one_batch_a_phase
    assert all(done), "each phase has its batches"


def test_a_slow_batch_makes_it_careful():
    _, used = search(1.0, lambda number, _: 0.3 if number == 5 else 0.01, 1, sizes=(8, 8))
    assert used <= 1.0


def test_the_first_batch_is_always_done():
    assert search(0.001, lambda *_: 2.0, 4, pace=Pace(0.5, 0.01)) == ([[1], [], [], []], 2.0)


def test_a_batch_has_its_largest_size():
    done, _ = search(1.0, lambda _, rows: rows * 1e-6, 1, sizes=(1, 64), pace=Pace(0.0, 1e-6))
    assert set(done[0][:200]) == {64}


def test_a_record_is_done_again():
    recorded = ((8, 4), (), (1, 2, 3))
    budget = RecordedBudget(recorded)
    done = []
    for phase in range(4):
        done.append([])
        while size := budget.next_batch(phase, 4, 5):
            done[-1].append(size)
    assert done == [[8, 4], [], [1, 2, 3], []]
    assert not budget.expired()
