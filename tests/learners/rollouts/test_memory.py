"""The replay memory is a ring."""

import numpy as np
import pytest

from cardlab.learners.rollouts.replay_buffer import ReplayMemory, Transitions
from small_games.kuhn import RECORD


def transitions(numbers):
    size = len(numbers)
    records = np.zeros(size, dtype=RECORD)
    records["cards"][:, 0] = np.array(numbers) % 100
    sums = np.array(numbers, dtype=np.float32)
    flags = np.zeros(size, dtype=np.float32)
    return Transitions(records, np.zeros(size, np.int8), np.zeros(size, np.int16), sums, flags, records)


@pytest.mark.parametrize("parts", [[3, 3], [5, 5, 5], [25], [10, 1], [4, 30, 2]])
def test_the_last_ones_are_kept(parts):
    memory = ReplayMemory(10, RECORD)
    total = 0
    for part in parts:
        memory.add(transitions(range(total, total + part)))
        total += part
    drawn = memory.draw(2000, np.random.default_rng(0))
    assert set(drawn.sums) == set(range(max(0, total - 10), total))
    assert np.array_equal(drawn.info_states["cards"][:, 0], drawn.sums % 100)


def test_a_restored_memory_draws_the_same():
    memory, other = ReplayMemory(10, RECORD), ReplayMemory(10, RECORD)
    memory.add(transitions(range(13)))
    other.load_state_dict(memory.state_dict())
    other.add(transitions(range(13, 15)))
    memory.add(transitions(range(13, 15)))
    draws = [each.draw(50, np.random.default_rng(1)).sums for each in (memory, other)]
    assert np.array_equal(*draws)
