"""Targets against loops that follow the definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cardlab.learners.losses import advantages, averaged_returns, lambda_returns, n_step_returns

sizes = st.integers(1, 30)
unit = st.floats(0, 1)


@st.composite
def games(draw):
    """Rewards, values and ends of several games."""
    size = draw(sizes)
    numbers = st.floats(-5, 5, width=32)
    rewards = draw(arrays(np.float32, size, elements=numbers))
    values = draw(arrays(np.float32, size, elements=numbers))
    ends = draw(arrays(np.bool_, size))
    ends[-1] = True
    return rewards, values, ends


def end_of_game(ends, t):
    while not ends[t]:
        t += 1
    return t


def n_step_by_definition(rewards, values, last, t, gamma, steps):
    """G_{t:t+n}: n rewards and then the value, or all rewards to the end."""
    total, factor = 0.0, 1.0
    for k in range(steps):
        if t + k > last:
            return total
        total += factor * rewards[t + k]
        factor *= gamma
    return total + (factor * values[t + steps] if t + steps <= last else 0.0)


@given(games(), unit, unit)
def test_lambda_returns_average_all_n_step_returns(game, gamma, lambda_):
    """G^λ_t = (1 − λ)·Σ λ^{n−1} G_{t:t+n} + λ^{T−t−1} G_t (Sutton and Barto 2018, equation 12.3)."""
    rewards, values, ends = game
    found = lambda_returns(rewards, values, ends, gamma, lambda_)
    for t in range(len(rewards)):
        last = end_of_game(ends, t)
        num_left = last - t + 1
        expected = lambda_ ** (num_left - 1) * n_step_by_definition(rewards, values, last, t, gamma, num_left)
        for n in range(1, num_left):
            expected += (1 - lambda_) * lambda_ ** (n - 1) * n_step_by_definition(rewards, values, last, t, gamma, n)
        assert found[t] == pytest.approx(expected, abs=1e-3)


@given(games(), unit, unit, st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_averaged_returns_follow_their_definition(game, gamma, lambda_, samples, seed):
    """G_t = (1 − λ)/M Σ_j (r_j + γ v_j) + λ (r_t + γ G_{t+1})."""
    rewards, _, ends = game
    paid, ahead = np.random.default_rng(seed).normal(size=(2, len(rewards), samples))
    targets = (paid + gamma * ahead).mean(axis=1).astype(np.float32)
    found = averaged_returns(rewards, targets, ends, gamma, lambda_)
    for t in reversed(range(len(rewards))):
        bootstrap = sum(paid[t, j] + gamma * ahead[t, j] for j in range(samples)) / samples
        expected = (1 - lambda_) * bootstrap + lambda_ * (rewards[t] + (0.0 if ends[t] else gamma * found[t + 1]))
        assert found[t] == pytest.approx(expected, abs=1e-3)


@given(games(), unit, unit)
def test_averaged_returns_of_observed_successors_equal_lambda_returns(game, gamma, lambda_):
    rewards, values, ends = game
    ahead = np.where(ends, np.float32(0), np.append(values[1:], np.float32(0)))
    targets = (rewards + gamma * ahead).astype(np.float32)
    found = averaged_returns(rewards, targets, ends, gamma, lambda_)
    assert found == pytest.approx(lambda_returns(rewards, values, ends, gamma, lambda_), abs=1e-3)


@given(games(), unit, unit)
def test_advantages_sum_discounted_errors(game, gamma, lambda_):
    """Â_t = Σ (γλ)^l δ_{t+l} (Schulman et al. 2016, equation 16)."""
    rewards, values, ends = game
    found = advantages(lambda_returns(rewards, values, ends, gamma, lambda_), values)
    for t in range(len(rewards)):
        last = end_of_game(ends, t)
        expected = 0.0
        for k in range(t, last + 1):
            ahead = values[k + 1] if k < last else 0.0
            expected += (gamma * lambda_) ** (k - t) * (rewards[k] + gamma * ahead - values[k])
        assert found[t] == pytest.approx(expected, abs=1e-3)


@given(games(), unit, st.integers(0, 8))
def test_n_step_returns_follow_their_definition(game, gamma, steps):
    rewards, values, ends = game
    sums, discounts, following = n_step_returns(rewards, ends, gamma, steps)
    for t in range(len(rewards)):
        last = end_of_game(ends, t)
        expected = n_step_by_definition(rewards, values, last, t, gamma, steps or last - t + 1)
        assert sums[t] + discounts[t] * values[following[t]] == pytest.approx(expected, abs=1e-3)
        if steps == 0 or t + steps > last:
            assert discounts[t] == 0
            assert following[t] == t
        else:
            assert following[t] == t + steps
