"""A pool of past selves and agents: who is drawn how often, and what is remembered of the results."""

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardlab.agents.random_agent import RandomAgent
from cardlab.core.options import InvalidOption
from cardlab.games.catalogue import make_game
from cardlab.learners.rollouts.opponents.options import PoolOptions
from cardlab.learners.rollouts.opponents.pool import Pool
from cardlab.learners.rollouts.opponents.win_rates import FLOOR, HALF_LIFE, PRIOR, WinShares
from cardlab.networks.options import MLPOptions

GAME = make_game("thirty_one", num_players=3)
NETWORK = MLPOptions(widths=(4,)).build(GAME.spec)
NO_GAMES = np.zeros((0, 3), dtype=np.float32), np.zeros((0, 3), dtype=np.int8)


def pool(agents: Mapping[str, float] | None = None, rounds: int = 0, **options: float) -> Pool:
    """A pool of three places, that keeps a past self after each of `rounds`."""
    given = PoolOptions(size=3, every=1, agents=agents or {}, **{"current_share": 0.0, **options})
    field = given.build(GAME, lambda _: RandomAgent(GAME), NETWORK)
    for number in range(1, rounds + 1):
        field.advance(number, NETWORK, *NO_GAMES)
    return field


def games(field: Pool, shares: Mapping[int, float], num: int = 2000) -> None:
    """Play against each of these opponents; the learner, in the middle, wins this share of the games."""
    for place, share in shares.items():
        seats = np.tile(np.array([place, 0, place], dtype=np.int8), (num, 1))
        won = np.arange(num) < share * num
        payoffs = np.where(won[:, None], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]).astype(np.float32)
        field._results.count(payoffs, seats)


def reference(payoffs: np.ndarray, seats: np.ndarray, opponent: int) -> list[float]:
    """What the learner got against `opponent`, seat by seat."""
    return [
        1.0 if mine > theirs else 0.5 if mine == theirs else 0.0
        for row, at in zip(payoffs, seats, strict=True)
        for mine, who in zip(row, at, strict=True)
        for theirs, other in zip(row, at, strict=True)
        if who == 0 and other == opponent
    ]


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), players=st.integers(2, 5))
def test_results_are_counted_against_each_opponent_at_the_table(seed: int, players: int) -> None:
    rng = np.random.default_rng(seed)
    results = WinShares(3)
    results.shares[:] = before = rng.random(3)
    seats = rng.integers(4, size=(30, players)).astype(np.int8)
    payoffs = rng.integers(-2, 3, size=(30, players)).astype(np.float32)
    results.count(payoffs, seats)
    for place in range(3):
        found = reference(payoffs, seats, place + 1)
        old = 0.5 ** (len(found) / HALF_LIFE)
        wanted = old * before[place] + (1 - old) * np.mean(found) if found else before[place]
        assert results.shares[place] == pytest.approx(wanted, abs=1e-12)


def test_half_of_what_was_known_is_forgotten_in_a_half_life() -> None:
    results = WinShares(2)
    payoffs = np.tile(np.array([1.0, 0.0], dtype=np.float32), (HALF_LIFE, 1))
    results.count(payoffs, np.tile(np.array([0, 2], dtype=np.int8), (HALF_LIFE, 1)))
    assert results.shares.tolist() == [PRIOR, pytest.approx((PRIOR + 1.0) / 2)]


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    priority=st.sampled_from([0.0, 1.0, 3.0]),
    weights=st.lists(st.floats(0.1, 5.0), min_size=2, max_size=2),
    kept=st.integers(0, 4),
)
def test_seats_are_drawn_by_weight_and_priority(seed: int, priority: float, weights: list[float], kept: int) -> None:
    """Chi-square of the counts below what chance passes once in 10^6; the learner has one seat of each table."""
    rng = np.random.default_rng(seed)
    field = pool(dict(zip(("greedy", "random"), weights, strict=True)), rounds=kept, priority=priority)
    field._results.shares[:] = rng.random(5)
    present = np.array([number <= kept for number in range(3)] + [True, True])
    wanted = np.array([1.0, 1.0, 1.0, *weights]) * present
    wanted *= np.maximum(1.0 - field._results.shares, FLOOR) ** priority
    wanted /= wanted.sum()
    seats = field.seat(4000, 3, rng)
    assert ((seats == 0).sum(axis=1) == 1).all()
    counts = np.bincount(seats[seats > 0] - 1, minlength=5)
    assert not counts[~present].any()
    expected = counts.sum() * wanted[present]
    assert ((counts[present] - expected) ** 2 / expected).sum() < 33.4 + 4 * (expected < 5).sum()


def test_whoever_is_always_beaten_is_not_forgotten() -> None:
    field = pool({"greedy": 1.0}, rounds=2, priority=1.0)
    games(field, {1: 1.0, 2: 1.0, 3: 0.0, 4: 0.5})
    seats = field.seat(20_000, 3, np.random.default_rng(0))
    shares = np.bincount(seats.ravel(), minlength=5)[1:] / 40_000
    total = FLOOR + FLOOR + 1.0 + 0.5
    assert shares == pytest.approx([FLOOR / total, FLOOR / total, 1.0 / total, 0.5 / total], abs=0.01)
    assert shares.min() > 0


def test_most_games_are_self_play() -> None:
    seats = pool({"greedy": 1.0}, current_share=0.8, priority=2.0).seat(20_000, 3, np.random.default_rng(1))
    assert (seats == 0).all(axis=1).mean() == pytest.approx(0.8, abs=0.015)
    assert ((seats == 0).sum(axis=1) >= 1).all()


def test_who_takes_a_place_begins_at_the_prior() -> None:
    field = pool({"threshold:level:30": 1.0}, rounds=2)
    games(field, {1: 0.0, 2: 0.25, 3: 0.75, 4: 1.0})
    found = {"round_0": 0.0, "round_1": 0.25, "round_2": 0.75, "threshold:level:30": 1.0}
    assert field.win_shares == pytest.approx(found, abs=1e-3)
    field.advance(3, NETWORK, *NO_GAMES)
    del found["round_0"]
    assert field.win_shares == pytest.approx({**found, "round_3": PRIOR}, abs=1e-3)


def test_a_restored_pool_draws_the_same() -> None:
    one = pool({"greedy": 1.0}, rounds=5, priority=2.0)
    games(one, {1: 0.1, 2: 0.9, 3: 0.3, 4: 0.8}, num=50)
    other = pool({"greedy": 1.0}, priority=2.0)
    other.load_state_dict(one.state_dict())
    assert other.win_shares == one.win_shares
    rngs = [np.random.default_rng(3) for _ in range(2)]
    assert np.array_equal(one.seat(500, 3, rngs[0]), other.seat(500, 3, rngs[1]))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"priority": -1.0}, r"^opponents\.priority=-1\.0: must be a number in \[0, 10\]$"),
        ({"agents": {"random": -1.0}}, r"^opponents\.agents\.random=-1\.0: must be a number of at least 0$"),
        (
            {"size": 100, "agents": {f"threshold:level:{level}": 1.0 for level in range(28)}},
            r"^opponents\.agents=\(28 agents\): must be at most 27 agents with opponents\.size=100$",
        ),
    ],
)
def test_impossible_pools_are_refused_by_name(options: dict, said: str) -> None:
    with pytest.raises(InvalidOption, match=said):
        PoolOptions(**options)


def test_who_is_drawn_alike_takes_all_seats_but_the_learners_by_weight() -> None:
    field = pool({"greedy": 3.0, "random": 0.0}, same_agent=True)  # beside the fresh network, which weighs 1
    seats = field.seat(4000, 3, np.random.default_rng(0))
    others = np.sort(seats, axis=1)
    assert (others[:, 0] == 0).all()
    assert (others[:, 1] == others[:, 2]).all()
    assert set(others[:, 1]) == {1, 4}
    assert np.mean(others[:, 1] == 4) == pytest.approx(0.75, abs=0.03)
    assert np.bincount(np.argmin(seats, axis=1)) == pytest.approx([4000 / 3] * 3, rel=0.1)
