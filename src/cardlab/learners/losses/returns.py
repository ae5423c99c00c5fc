"""Targets from whole games: lambda-returns, advantages, n-step returns.

The decisions of one player in one game stand behind each other in time order; `ends` marks the last of each.
Rewards are what came between a decision and the player's next one, or the end. A discount is either one number or [N],
the discount of what follows each decision: a game whose turns are several decisions may discount per turn.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.protocol import Bools, Floats


def lambda_returns(
    rewards: Floats, values: Floats, ends: Bools, gamma: float | Floats, trace: float | NDArray[np.float64]
) -> Floats:
    """[N] λ-returns of decisions whose own values are `values` [N]; `trace` is λ, one number or one for each [N].

    G_t = r_t + γ·((1 − λ)·v_{t+1} + λ·G_{t+1}), and G_t = r_t at the end (Sutton and Barto 2018, equation 12.2,
    in its recursive form). λ = 1 gives the Monte Carlo return, λ = 0 the one-step target; a λ of 0 at one decision cuts
    off what came after the next.
    """
    traces = np.broadcast_to(np.float64(trace), rewards.shape).copy()
    return _lambda_returns(rewards, values, ends, _each(gamma, rewards), traces)


@kernel
def _lambda_returns(
    rewards: Floats, values: Floats, ends: Bools, gammas: Floats, traces: NDArray[np.float64]
) -> Floats:
    returns = np.empty_like(rewards)
    following = np.float32(0.0)
    for t in range(rewards.shape[0] - 1, -1, -1):
        if ends[t]:
            following = rewards[t]
        else:
            ahead = (1.0 - traces[t]) * values[t + 1] + traces[t] * following
            following = np.float32(rewards[t] + gammas[t] * ahead)
        returns[t] = following
    return returns


def averaged_returns(rewards: Floats, worths: Floats, ends: Bools, gamma: float | Floats, trace: float) -> Floats:
    """[N] λ-returns whose bootstrap is averaged over what may follow; `trace` is λ.

    G_t = (1 − λ)·B_t + λ·(r_t + γ·G_{t+1}), and G_t = (1 − λ)·B_t + λ·r_t at the end. `worths` [N] are B_t, the mean of
    r_j + γ·v_j over continuations j. With the one that was seen, B_t = r_t + γ·v_{t+1}, these are `lambda_returns`.
    """
    return _averaged_returns(rewards, worths, ends, _each(gamma, rewards), trace)


@kernel
def _averaged_returns(rewards: Floats, worths: Floats, ends: Bools, gammas: Floats, trace: float) -> Floats:
    returns = np.empty_like(rewards)
    following = np.float32(0.0)
    for t in range(rewards.shape[0] - 1, -1, -1):
        seen = rewards[t] if ends[t] else rewards[t] + gammas[t] * following
        following = np.float32((1.0 - trace) * worths[t] + trace * seen)
        returns[t] = following
    return returns


def advantages(returns: Floats, values: Floats) -> Floats:
    """[N] generalised advantage estimates: the λ-return less the value (Schulman et al. 2016, equation 16)."""
    return returns - values


def n_step_returns(
    rewards: Floats, ends: Bools, gamma: float | Floats, steps: int
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Sums of the next `steps` rewards [N], the discount of what follows [N], and where it follows [N].

    The target of decision t is sum + discount · bootstrap(next); discount is 0 and next is t itself where the game
    ends within the steps. `steps` 0 means until the end: Monte Carlo.
    """
    return _n_step_returns(rewards, ends, _each(gamma, rewards), steps)


@kernel
def _n_step_returns(
    rewards: Floats, ends: Bools, gammas: Floats, steps: int
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    num = rewards.shape[0]
    sums = np.empty(num, dtype=np.float32)
    discounts = np.zeros(num, dtype=np.float32)
    following = np.arange(num)
    for t in range(num):
        total = 0.0
        factor = 1.0
        at = t
        left = steps
        while True:
            total += factor * rewards[at]
            factor *= gammas[at]
            left -= 1
            if ends[at]:
                break
            at += 1
            if left == 0:
                discounts[t] = factor
                following[t] = at
                break
        sums[t] = total
    return sums, discounts, following


@kernel
def end_weights(ends: Bools, decay: float) -> Floats:
    """[N] weights decay^d, d the player's own decisions from this one to the last of the game: 1 for the last."""
    weights = np.empty(ends.shape[0], dtype=np.float32)
    weight = np.float32(1.0)
    for t in range(ends.shape[0] - 1, -1, -1):
        weight = np.float32(1.0) if ends[t] else np.float32(weight * decay)
        weights[t] = weight
    return weights


def turn_discounts(kinds: NDArray[np.int8], gamma: float, same_turn: Sequence[int]) -> Floats:
    """[N] the discount of what follows each decision: 1 where the next is of a kind in `same_turn`, else `gamma`.

    `kinds` [N] are those of the decisions. So a decision of such a kind shares the discount of the one before it.
    """
    shared = np.isin(kinds, same_turn)
    following = np.append(shared[1:], False)
    return np.where(following, np.float32(1.0), np.float32(gamma)).astype(np.float32)


def _each(gamma: float | Floats, rewards: Floats) -> Floats:
    return np.broadcast_to(np.float32(gamma), rewards.shape).copy()
