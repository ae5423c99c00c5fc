"""The replay buffer is a ring buffer."""

import numpy as np
import pytest

from cardlab.learners.dqn.learner import ReplayBuffer, Transitions
from small_games.kuhn import RECORD


def transitions(numbers):
    size = len(numbers)
    records = np.zeros(size, dtype=RECORD)
    records["cards"][:, 0] = np.array(numbers) % 100
    sums = np.array(numbers, dtype=np.float32)
    flags = np.zeros(size, dtype=np.float32)
    return Transitions(records, np.zeros(size, np.int8), np.zeros(size, np.int16), sums, flags, records)


@pytest.mark.parametrize("parts", [[3, 3], [5, 5, 5], [25], [10, 1], [4, 30, 2]])
def test_the_last_decisions_are_kept(parts):
    buffer = ReplayBuffer(10, RECORD)
    total = 0
    for part in parts:
        buffer.add(transitions(range(total, total + part)))
        total += part
    sampled = buffer.sample(2000, np.random.default_rng(0))
    assert set(sampled.sums) == set(range(max(0, total - 10), total))
    assert np.array_equal(sampled.info_states["cards"][:, 0], sampled.sums % 100)


def test_a_restored_buffer_gives_equal_samples():
    buffer, other = ReplayBuffer(10, RECORD), ReplayBuffer(10, RECORD)
    buffer.add(transitions(range(13)))
    other.load_state_dict(buffer.state_dict())
    other.add(transitions(range(13, 15)))
    buffer.add(transitions(range(13, 15)))
    samples = [each.sample(50, np.random.default_rng(1)).sums for each in (buffer, other)]
    assert np.array_equal(*samples)
