"""The opponent pool: frequencies of checkpoints and agents, and win rates."""

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardlab.agents.exploration import RandomAgent
from cardlab.core.messages import InvalidOption
from cardlab.games.make_game import make_game
from cardlab.learners.rollouts.opponents.pool import FLOOR, HALF_LIFE, PRIOR, OpponentPool, PoolOptions, WinRates
from cardlab.networks.mlp_options import MLPOptions

GAME = make_game("thirty_one", num_players=3)
NETWORK = MLPOptions(widths=(4,)).build(GAME.spec)
NO_GAMES = np.zeros((0, 3), dtype=np.float32), np.zeros((0, 3), dtype=np.int8)


def pool(agents: Mapping[str, float] | None = None, iterations: int = 0, **options: float) -> OpponentPool:
    """A pool of three checkpoints after `iterations`, each of which saves one."""
    given = PoolOptions(size=3, every=1, agents=agents or {}, **{"current_share": 0.0, **options})
    opponents = given.build(GAME, lambda _: RandomAgent(GAME), NETWORK)
    for number in range(1, iterations + 1):
        opponents.update(number, NETWORK, *NO_GAMES)
    return opponents


def games(opponents: OpponentPool, shares: Mapping[int, float], num: int = 2000) -> None:
    """Count games against these opponents, of which the learner wins a given share."""
    for place, share in shares.items():
        seats = np.tile(np.array([place, 0, place], dtype=np.int8), (num, 1))
        won = np.arange(num) < share * num
        payoffs = np.where(won[:, None], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]).astype(np.float32)
        opponents._results.add(payoffs, seats)


def reference(payoffs: np.ndarray, seats: np.ndarray, opponent: int) -> list[float]:
    """Outcomes for the learner against `opponent`, seat by seat."""
    return [
        1.0 if mine > theirs else 0.5 if mine == theirs else 0.0
        for row, agents in zip(payoffs, seats, strict=True)
        for mine, first in zip(row, agents, strict=True)
        for theirs, second in zip(row, agents, strict=True)
        if first == 0 and second == opponent
    ]


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), players=st.integers(2, 5))
def test_results_count_against_each_opponent_of_the_game(seed: int, players: int) -> None:
    rng = np.random.default_rng(seed)
    results = WinRates(3)
    results.rates[:] = before = rng.random(3)
    seats = rng.integers(4, size=(30, players)).astype(np.int8)
    payoffs = rng.integers(-2, 3, size=(30, players)).astype(np.float32)
    results.add(payoffs, seats)
    for place in range(3):
        outcomes = reference(payoffs, seats, place + 1)
        old = 0.5 ** (len(outcomes) / HALF_LIFE)
        expected_rate = old * before[place] + (1 - old) * np.mean(outcomes) if outcomes else before[place]
        assert results.rates[place] == pytest.approx(expected_rate, abs=1e-12)


def test_earlier_results_weigh_half_after_a_half_life() -> None:
    results = WinRates(2)
    payoffs = np.tile(np.array([1.0, 0.0], dtype=np.float32), (HALF_LIFE, 1))
    results.add(payoffs, np.tile(np.array([0, 2], dtype=np.int8), (HALF_LIFE, 1)))
    assert results.rates.tolist() == [PRIOR, pytest.approx((PRIOR + 1.0) / 2)]


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    priority=st.sampled_from([0.0, 1.0, 3.0]),
    weights=st.lists(st.floats(0.1, 5.0), min_size=2, max_size=2),
    saved=st.integers(0, 4),
)
def test_seats_are_drawn_by_weight_and_priority(seed: int, priority: float, weights: list[float], saved: int) -> None:
    """Chi-square of the counts is below its quantile of 1 − 10^−6; the learner has one seat of each game."""
    rng = np.random.default_rng(seed)
    opponents = pool(dict(zip(("greedy", "random"), weights, strict=True)), iterations=saved, priority=priority)
    opponents._results.rates[:] = rng.random(5)
    present = np.array([number <= saved for number in range(3)] + [True, True])
    expected_rate = np.array([1.0, 1.0, 1.0, *weights]) * present
    expected_rate *= np.maximum(1.0 - opponents._results.rates, FLOOR) ** priority
    expected_rate /= expected_rate.sum()
    seats = opponents.assign_seats(4000, 3, rng)
    assert ((seats == 0).sum(axis=1) == 1).all()
    counts = np.bincount(seats[seats > 0] - 1, minlength=5)
    assert not counts[~present].any()
    expected = counts.sum() * expected_rate[present]
    assert ((counts[present] - expected) ** 2 / expected).sum() < 33.4 + 4 * (expected < 5).sum()


def test_an_opponent_that_always_loses_is_still_drawn() -> None:
    opponents = pool({"greedy": 1.0}, iterations=2, priority=1.0)
    games(opponents, {1: 1.0, 2: 1.0, 3: 0.0, 4: 0.5})
    seats = opponents.assign_seats(20_000, 3, np.random.default_rng(0))
    shares = np.bincount(seats.ravel(), minlength=5)[1:] / 40_000
    total = FLOOR + FLOOR + 1.0 + 0.5
    assert shares == pytest.approx([FLOOR / total, FLOOR / total, 1.0 / total, 0.5 / total], abs=0.01)
    assert shares.min() > 0


def test_most_games_are_self_play() -> None:
    seats = pool({"greedy": 1.0}, current_share=0.8, priority=2.0).assign_seats(20_000, 3, np.random.default_rng(1))
    assert (seats == 0).all(axis=1).mean() == pytest.approx(0.8, abs=0.015)
    assert ((seats == 0).sum(axis=1) >= 1).all()


def test_a_new_checkpoint_starts_at_the_prior() -> None:
    opponents = pool({"threshold:level:30": 1.0}, iterations=2)
    games(opponents, {1: 0.0, 2: 0.25, 3: 0.75, 4: 1.0})
    found = {"iteration_0": 0.0, "iteration_1": 0.25, "iteration_2": 0.75, "threshold:level:30": 1.0}
    assert opponents.win_rates == pytest.approx(found, abs=1e-3)
    opponents.update(3, NETWORK, *NO_GAMES)
    del found["iteration_0"]
    assert opponents.win_rates == pytest.approx({**found, "iteration_3": PRIOR}, abs=1e-3)


def test_a_restored_pool_assigns_equal_seats() -> None:
    one = pool({"greedy": 1.0}, iterations=5, priority=2.0)
    games(one, {1: 0.1, 2: 0.9, 3: 0.3, 4: 0.8}, num=50)
    other = pool({"greedy": 1.0}, priority=2.0)
    other.load_state_dict(one.state_dict())
    assert other.win_rates == one.win_rates
    rngs = [np.random.default_rng(3) for _ in range(2)]
    assert np.array_equal(one.assign_seats(500, 3, rngs[0]), other.assign_seats(500, 3, rngs[1]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"priority": -1.0}, r"^opponents\.priority=-1\.0: must be a number in \[0, 10\]$"),
        ({"agents": {"random": -1.0}}, r"^opponents\.agents\.random=-1\.0: must be a number of at least 0$"),
        (
            {"agents": {f"threshold:level:{level}": 1.0 for level in range(28)}},
            r"^opponents\.agents=.*: must be a mapping of at most 27 entries, as in \{name: value\}$",
        ),
    ],
)
def test_invalid_pools_raise_an_error_with_the_key(options: dict, message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        PoolOptions(**options)


def test_same_agent_takes_all_opponents_seats() -> None:
    opponents = pool({"greedy": 3.0, "random": 0.0}, same_agent=True)  # the first checkpoint weighs 1
    seats = opponents.assign_seats(4000, 3, np.random.default_rng(0))
    others = np.sort(seats, axis=1)
    assert (others[:, 0] == 0).all()
    assert (others[:, 1] == others[:, 2]).all()
    assert set(others[:, 1]) == {1, 4}
    assert np.mean(others[:, 1] == 4) == pytest.approx(0.75, abs=0.03)
    assert np.bincount(np.argmin(seats, axis=1)) == pytest.approx([4000 / 3] * 3, rel=0.1)
