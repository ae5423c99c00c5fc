"""The chances among the features: near the counted ones, the same draws for all columns that a card may go to."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardlab.cards.hands import strength_table
from cardlab.games.five_o import features, outlook, simulation
from cardlab.games.five_o.chances import win_chance
from cardlab.games.five_o.game import FiveO
from cardlab.games.protocol import InfoStates, find_block
from games.five_o.tables import stopped_at, to_move

GAME = FiveO(features="chances")
turns = st.integers(0, 39)


def chances_in(observations: np.ndarray) -> np.ndarray:
    """[G, 10, 2] of the ten lines."""
    lines = find_block(outlook.BLOCKS, "lines")
    return observations[:, lines.start : lines.stop].reshape(-1, *lines.shape)[..., -outlook.NUM_CHANCES :]


@settings(max_examples=20, deadline=None)
@given(turns, st.integers(0, 99))
def test_the_plain_features_are_among_them(turn: int, seed: int) -> None:
    known, players = to_move(GAME, stopped_at(GAME, turn, 3, seed))
    seen, plain = GAME.observe(known, players), FiveO().observe(known, players)
    for block in features.BLOCKS:
        mine = find_block(outlook.BLOCKS, block.name)
        rows = seen[:, mine.start : mine.stop].reshape(-1, *mine.shape)
        plain_rows = plain[:, block.start : block.stop].reshape(-1, *block.shape)
        assert (rows[..., : block.shape[-1]] == plain_rows).all()


@pytest.mark.parametrize("turn", [20, 27, 34])
def test_chances_are_near_the_counted_ones(turn: int) -> None:
    known, players = to_move(GAME, stopped_at(GAME, turn, 20, turn))
    seen = chances_in(GAME.observe(known, players))[:, :5]
    table = strength_table()
    for side, tie_share in enumerate((0.0, 1.0)):
        counted = np.array(
            [
                simulation.counted_columns(table, state, player, tie_share)[simulation.WAIT]
                for state, player in zip(known, players, strict=True)
            ]
        )
        errors = seen[..., side] - np.abs(side - counted)
        assert np.abs(errors).max() < 5 * 0.5 / outlook.NUM_COMPLETIONS**0.5
        assert np.abs(errors.mean()) < 5 * 0.5 / (outlook.NUM_COMPLETIONS * errors.size) ** 0.5


@settings(max_examples=20, deadline=None)
@given(turns, st.integers(0, 99))
def test_both_players_see_the_same_chances_when_nothing_is_hidden(turn: int, seed: int) -> None:
    known, players = to_move(GAME, stopped_at(GAME, min(turn, 29), 3, seed))
    seen = chances_in(GAME.observe(known, players))
    assert np.array_equal(seen[:, :5], seen[:, 5:, ::-1])
    assert (seen.sum(axis=2) <= 1.0).all()


@settings(max_examples=20, deadline=None)
@given(turns, st.integers(0, 99))
def test_a_card_changes_its_own_column_alone(turn: int, seed: int) -> None:
    """Afterstates of one decision share their draws."""
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
def test_what_is_remembered_of_neighbours_changes_nothing(turn: int, seed: int) -> None:
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


def test_the_outlook_is_equation_three() -> None:
    known, players = to_move(GAME, stopped_at(GAME, 22, 5, 3))
    observations = GAME.observe(known, players)
    block = find_block(outlook.BLOCKS, "outlook")
    for row, lines in zip(observations[:, block.start : block.stop], chances_in(observations), strict=True):
        wanted = [win_chance(lines[:5, side].astype(np.float64)) for side in range(2)]
        assert row == pytest.approx(wanted, abs=1e-6)
