"""Win probabilities in the observation: close to enumeration, with common random numbers within a decision."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardlab.games.cards.hands import MAX_STRENGTH, strength_table
from cardlab.games.five_o import column_probability, prospects
from cardlab.games.five_o import observation as features
from cardlab.games.five_o.column_probability import game_win_probability
from cardlab.games.five_o.game import FiveO
from cardlab.games.five_o.prospects import PAIRS
from cardlab.games.protocol import InfoStates, find_block
from games.five_o.tables import stopped_at, to_move

GAME = FiveO(features="prospects")
turns = st.integers(0, 39)


def chances_in(observations: np.ndarray) -> np.ndarray:
    """[G, 10, P, 2] of the ten lines."""
    lines = find_block(GAME.spec.blocks, "lines")
    rows = observations[:, lines.start : lines.stop].reshape(-1, *lines.shape)[..., features.LINE_SIZE :]
    return rows.reshape(*rows.shape[:2], -1, 2)


@settings(max_examples=20, deadline=None)
@given(turns, st.integers(0, 99))
def test_prospects_include_columns(turn: int, seed: int) -> None:
    plain_game = FiveO()
    known, players = to_move(GAME, stopped_at(GAME, turn, 3, seed))
    seen, plain = GAME.observe(known, players), plain_game.observe(known, players)
    for block in plain_game.spec.blocks:
        mine = find_block(GAME.spec.blocks, block.name)
        rows = seen[:, mine.start : mine.stop].reshape(-1, *mine.shape)
        plain_rows = plain[:, block.start : block.stop].reshape(-1, *block.shape)
        assert (rows[..., : block.shape[-1]] == plain_rows).all()


@given(st.lists(st.integers(0, MAX_STRENGTH), max_size=300))
def test_radix_sort(strengths: list[int]) -> None:
    assert prospects.radix_sort(np.array(strengths, dtype=np.int64)).tolist() == sorted(strengths)


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=3),
    st.lists(st.integers(0, 4), min_size=1, max_size=3),
)
def test_the_best_of_several_draws_are_compared_as_if_all_were_listed(mine: list[int], theirs: list[int]) -> None:
    shares = np.zeros((len(PAIRS), 2), dtype=np.float32)
    prospects._compare_best(np.sort(mine), np.sort(theirs), shares)
    assert (shares[0] == 0).all()
    for (num_mine, num_theirs), (wins, loses) in list(zip(PAIRS, shares, strict=True))[1:]:
        best = np.array([max(drawn) for drawn in product(mine, repeat=num_mine)])
        opposite = np.array([max(drawn) for drawn in product(theirs, repeat=num_theirs)])
        assert wins == pytest.approx((best[:, None] > opposite).mean(), abs=1e-6)
        assert loses == pytest.approx((best[:, None] < opposite).mean(), abs=1e-6)


@settings(max_examples=20, deadline=None)
@given(turns, st.integers(0, 99))
def test_more_completions_win_more(turn: int, seed: int) -> None:
    known, players = to_move(GAME, stopped_at(GAME, turn, 3, seed))
    wins = chances_in(GAME.observe(known, players))[:, :5, :, 0]
    by_pair = dict(zip(PAIRS, np.moveaxis(wins, 2, 0), strict=True))
    assert (by_pair[4, 1] >= by_pair[4, 4] - 1e-5).all()
    assert (by_pair[4, 4] >= by_pair[1, 4] - 1e-5).all()


@pytest.mark.parametrize("turn", [20, 27, 34])
def test_chances_are_near_the_counted_ones(turn: int) -> None:
    known, players = to_move(GAME, stopped_at(GAME, turn, 20, turn))
    seen = chances_in(GAME.observe(known, players))[:, :5, 0]
    table = strength_table()
    counted = np.array(
        [
            column_probability.enumerate_columns(table, state, player)[column_probability.WITHOUT_CARD]
            for state, player in zip(known, players, strict=True)
        ]
    )
    errors = 1 - seen[..., 1] - counted  # a tied column counts as won
    assert np.abs(errors).max() < 5 * 0.5 / prospects.NUM_COMPLETIONS**0.5
    assert np.abs(errors.mean()) < 5 * 0.5 / (prospects.NUM_COMPLETIONS * errors.size) ** 0.5


@settings(max_examples=20, deadline=None)
@given(turns, st.integers(0, 99))
def test_both_players_see_the_same_chances_when_nothing_is_hidden(turn: int, seed: int) -> None:
    known, players = to_move(GAME, stopped_at(GAME, min(turn, 29), 3, seed))
    seen = chances_in(GAME.observe(known, players))
    mirrored = [PAIRS.index((theirs, mine)) for mine, theirs in PAIRS]
    np.testing.assert_allclose(seen[:, :5], seen[:, 5:, mirrored, ::-1], atol=1e-5)
    assert np.array_equal(seen[:, :5, 0], seen[:, 5:, 0, ::-1])
    assert (seen[:, :, 0].sum(axis=2) <= 1.0).all()
    assert (seen.sum(axis=3) <= 1.0 + 1e-5).all()


@settings(max_examples=20, deadline=None)
@given(turns, st.integers(0, 99))
def test_a_card_changes_its_own_column_alone(turn: int, seed: int) -> None:
    """Afterstates of one decision share random numbers."""
    known, players = to_move(GAME, stopped_at(GAME, turn, 1, seed))
    columns = np.flatnonzero(GAME.legal_actions(known)[0])
    after = InfoStates(np.repeat(known, len(columns)))
    GAME.apply(after, columns.astype(np.int16))
    seen = chances_in(GAME.observe(after, np.repeat(players, len(columns))))[:, :5]
    for column in range(5):
        elsewhere = seen[columns != column, column]
        assert (elsewhere == elsewhere[:1]).all()


@settings(max_examples=10, deadline=None)
@given(turns, st.integers(0, 99))
def test_cached_columns_change_nothing(turn: int, seed: int) -> None:
    """Afterstates of several decisions, each alone and all in a random order."""
    known, players = to_move(GAME, stopped_at(GAME, turn, 3, seed))
    rows, columns = np.nonzero(GAME.legal_actions(known))
    after, movers = InfoStates(known[rows]), players[rows]
    GAME.apply(after, columns.astype(np.int16))
    seen = GAME.observe(after, movers)
    order = np.random.default_rng(seed).permutation(len(rows))
    assert np.array_equal(GAME.observe(InfoStates(after[order]), movers[order]), seen[order])
    for row in range(len(rows)):
        assert np.array_equal(GAME.observe(InfoStates(after[row : row + 1]), movers[row : row + 1])[0], seen[row])


def test_game_probabilities_follow_equation_3() -> None:
    known, players = to_move(GAME, stopped_at(GAME, 22, 5, 3))
    observations = GAME.observe(known, players)
    block = find_block(GAME.spec.blocks, "outlook")
    for row, lines in zip(observations[:, block.start : block.stop], chances_in(observations), strict=True):
        wanted = [
            game_win_probability(lines[:5, pair, side].astype(np.float64))
            for pair in range(len(PAIRS))
            for side in range(2)
        ]
        assert row == pytest.approx(wanted, abs=1e-6)
