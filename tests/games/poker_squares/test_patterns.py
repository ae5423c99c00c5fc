"""Patterns of lines, the table learned of them, and playouts by the table."""

import numpy as np
import pytest

from cardlab.agents.exploration import RandomAgent
from cardlab.agents.registry import load_agent
from cardlab.games.loop import play, play_out
from cardlab.games.make_game import make_game
from cardlab.games.poker_squares.pattern_learning import TablesAgent, learn_pattern_values
from cardlab.games.poker_squares.patterns import (
    NUM_OPEN,
    NUM_PATTERNS,
    cell_values,
    line_pattern,
    load_grid,
    make_pattern_tables,
    stored_line,
    turn_up,
)
from cardlab.games.record_arrays import take

GAME = make_game("poker_squares")


def patterns_of(states):
    """[G, 10] pattern of each line."""
    tables = make_pattern_tables()
    found = np.empty((len(states), 10), dtype=np.int64)
    for row, state in enumerate(states):
        load_grid(tables, state["grid"])
        if state["turn"] < 25 and state["deck"][state["turn"]] >= 0:
            turn_up(tables, int(state["deck"][state["turn"]]))
        for line in range(10):
            contents = stored_line(tables.lines, line)
            found[row, line] = line_pattern(line, contents, int(state["turn"]), tables.by_rank, tables.by_suit)
    return found


def test_complete_lines_are_their_category():
    rng = np.random.default_rng(0)
    states = GAME.deal(200, rng)
    play_out(GAME, states, [RandomAgent(GAME)], rng)
    categories = patterns_of(states) - NUM_OPEN
    assert categories.min() >= 0
    assert categories.max() < 10
    assert np.array_equal(GAME.scores[categories].sum(axis=1, dtype=int), GAME.payoffs(states)[:, 0])


def test_moving_a_column_moves_its_pattern():
    rng = np.random.default_rng(1)
    states = GAME.deal(20, rng)
    seen = set()
    for moves in play(GAME, states, [RandomAgent(GAME)], rng):
        moved = moves.info_states.copy()
        moved["grid"] = moved["grid"].reshape(-1, 5, 5)[:, :, [1, 2, 3, 4, 0]].reshape(-1, 25)
        one, other = patterns_of(moves.info_states), patterns_of(moved)
        assert np.array_equal(one[:, :5], other[:, :5])
        assert np.array_equal(one[:, [6, 7, 8, 9, 5]], other[:, 5:])
        assert one.max() < NUM_PATTERNS
        seen |= set(one.ravel().tolist())
    assert len(seen) > 300


def test_cell_values_are_sums_of_line_values():
    rng = np.random.default_rng(2)
    values = rng.normal(size=NUM_PATTERNS).astype(np.float32)
    states = GAME.deal(3, rng)
    for moves in play(GAME, states, [RandomAgent(GAME)], rng):
        action_values = cell_values(moves.info_states, values)
        for cell in np.flatnonzero(GAME.legal_actions(moves.info_states)[0]):
            after = take(moves.info_states, np.array([0]))
            GAME.apply(after, np.array([cell], dtype=np.int16))
            assert action_values[0, cell] == pytest.approx(values[patterns_of(after)[0]].sum(), abs=1e-4)


def test_transposed_tables_play_as_the_others_do_on_the_transposed_grid():
    transposition = np.arange(25).reshape(5, 5).T.ravel()
    states = GAME.deal(20, np.random.default_rng(3))
    tables, others = TablesAgent(GAME, 1000), TablesAgent(GAME, 1000, transposed=True)
    differ = 0
    for moves in play(GAME, states, [RandomAgent(GAME)], np.random.default_rng(4)):
        turned = moves.info_states.copy()
        turned["grid"] = turned["grid"][:, transposition]
        wanted = tables.action_values(turned, moves.players)[:, transposition]
        found = others.action_values(moves.info_states, moves.players)
        np.testing.assert_allclose(found, wanted, rtol=1e-4)
        differ += int((found != tables.action_values(moves.info_states, moves.players)).any(axis=1).sum())
    assert differ > 200


def test_playouts_are_the_games_that_the_agent_plays():
    rng = np.random.default_rng(3)
    agent = TablesAgent(GAME, games=2000)
    states = GAME.deal(400, rng)
    kept = states.copy()
    fast = GAME.pattern_play_out(states, agent.pattern_values())
    assert np.array_equal(states, kept), "states are left alone"
    play_out(GAME, states, [agent], rng)
    assert (fast == GAME.payoffs(states)).mean() > 0.7, "sums in another order decide ties otherwise"
    assert fast.mean() == pytest.approx(GAME.payoffs(states).mean(), abs=2)


def test_a_table_is_learned_and_is_the_same_again():
    table = learn_pattern_values(GAME.scores, 40_000, 0)
    short, again, other = (learn_pattern_values(GAME.scores, 2000, seed) for seed in (0, 0, 1))
    assert np.array_equal(short, again)
    assert not np.array_equal(short, other)
    states = GAME.deal(2000, np.random.default_rng(4))
    assert GAME.pattern_play_out(states, table).mean() > 110
    assert np.array_equal(table[NUM_OPEN:], GAME.scores)


def test_a_search_around_it_looks_further():
    agent = load_agent(GAME, "tree_search:policy:[tables:games:2000]:simulations:30")
    states = GAME.deal(2, np.random.default_rng(5))
    players = np.zeros(2, dtype=np.int8)
    known = GAME.information(states, players)
    first, again = (agent.act(known, players, np.random.default_rng(seed)) for seed in (0, 1))
    assert first.tolist() == again.tolist()
    assert (agent.options.raw_weight, agent.options.threads, agent.timed) == (0.2, 2, False)
