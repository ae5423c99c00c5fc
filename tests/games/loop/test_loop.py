"""The one loop: who is asked, what is forced, what is refused."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from cardlab.agents.exploration import RandomAgent
from cardlab.games.legality import choose_from_each, choose_uniformly
from cardlab.games.loop import IllegalAction, play, play_out
from cardlab.games.make_game import make_game


@dataclass
class Listener:
    """Plays the first legal action and keeps whom it was asked for."""

    game: object
    asked: list = field(default_factory=list)

    def act(self, info_states, players, rng):
        legal = self.game.legal_actions(info_states)
        self.asked.append((players.copy(), legal.sum(axis=1)))
        return legal.argmax(axis=1).astype(np.int16)


def test_a_single_legal_action_is_played_unasked():
    game = make_game("poker_squares")
    for ask_forced, least in ((False, 2), (True, 1)):
        listener = Listener(game)
        rng = np.random.default_rng(0)
        for moves in play(game, game.deal(3, rng), [listener], rng, ask_forced=ask_forced):
            assert moves.queried.all() == (ask_forced or not moves.over.any())
        assert min(count.min() for _, count in listener.asked) == least


def test_agents_are_asked_for_their_seats_only():
    game = make_game("thirty_one", num_players=3)
    rng = np.random.default_rng(0)
    seats = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 1]], dtype=np.int8)
    agents = [RandomAgent(game), RandomAgent(game)]
    for moves in play(game, game.deal(3, rng), agents, rng, seats=seats):
        assert np.array_equal(moves.agents, seats[moves.rows, moves.players])


def test_agents_see_no_more_than_information():
    game = make_game("thirty_one")
    rng = np.random.default_rng(0)
    states = game.deal(4, rng)
    before = states.copy()
    for moves in play(game, states, [RandomAgent(game)], rng):
        known = game.information(before[moves.rows], moves.players)
        assert known.tobytes() == moves.info_states.tobytes()
        before = states.copy()


def test_finished_rows_may_be_dealt_anew():
    game = make_game("poker_squares")
    rng = np.random.default_rng(0)
    states = game.deal(4, rng)
    games = 0
    for moves in play(game, states, [RandomAgent(game)], rng):
        over = moves.rows[moves.over]
        games += len(over)
        if games >= 12:
            break
        states[over] = game.deal(len(over), rng)
    assert games == 12


def test_an_illegal_action_is_refused_by_name():
    class Cheat:
        def act(self, info_states, players, rng):
            return np.full(len(players), 3, dtype=np.int16)

    game = make_game("thirty_one")
    rng = np.random.default_rng(0)
    with pytest.raises(IllegalAction, match=r"thirty_one: action 3 of Cheat is not legal here; legal: \[0, 1, 2\]"):
        play_out(game, game.deal(2, rng), [Cheat()], rng)


def test_one_action_for_each_game_is_asked_for():
    class Short:
        def act(self, info_states, players, rng):
            return np.zeros(len(players) - 1, dtype=np.int16)

    game = make_game("thirty_one")
    rng = np.random.default_rng(0)
    with pytest.raises(IllegalAction, match=r"Short.act returned shape \(3,\): must be one action for each of 4 games"):
        play_out(game, game.deal(4, rng), [Short()], rng)


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (0.9, "Odd.act returned float64: must be whole numbers"),
        (float("nan"), "Odd.act returned float64: must be whole numbers"),
        (65536, "Odd.act returned 65536: is no action"),
        (True, "Odd.act returned bool: must be whole numbers"),
    ],
)
def test_what_is_no_action_is_not_rounded_to_one(action, said):
    class Odd:
        def act(self, info_states, players, rng):
            return np.full(len(players), action)

    game = make_game("thirty_one")
    rng = np.random.default_rng(0)
    with pytest.raises(IllegalAction, match=said):
        play_out(game, game.deal(2, rng), [Odd()], rng)


def test_an_illegal_action_is_refused_where_a_game_lists_the_legal_ones():
    class Passes:
        def act(self, info_states, players, rng):
            return np.full(len(players), game.spec.num_actions - 1, dtype=np.int16)

    game = make_game("big2", opening="choose")  # whoever opens may not pass
    rng = np.random.default_rng(0)
    with pytest.raises(IllegalAction, match=r"big2: action 1694 of Passes is not legal here; legal: \[0"):
        next(play(game, game.deal(2, rng), [Passes()], rng))


@given(
    legal=arrays(np.bool_, array_shapes(min_dims=2, max_dims=2, max_side=100), elements=st.booleans()),
    seed=st.integers(0, 2**32 - 1),
)
def test_choices_from_lists_are_those_from_masks(legal, seed):
    uniforms = np.random.default_rng(seed).random(len(legal), dtype=np.float32)
    rows, actions = np.nonzero(legal)
    starts = np.searchsorted(rows, np.arange(len(legal) + 1))
    chosen = choose_from_each(actions.astype(np.int16), starts, uniforms)
    np.testing.assert_array_equal(chosen, choose_uniformly(legal, uniforms))


def test_uniform_choices_are_uniform():
    rng = np.random.default_rng(0)
    legal = np.tile(np.array([1, 0, 1, 1, 0], dtype=np.bool_), (30_000, 1))
    counts = np.bincount(choose_uniformly(legal, rng.random(30_000, dtype=np.float32)), minlength=5)
    assert counts[[1, 4]].sum() == 0
    assert counts[[0, 2, 3]] == pytest.approx([10_000] * 3, abs=400)  # five standard deviations
    edge = choose_uniformly(legal[:1], np.array([np.nextafter(np.float32(1), np.float32(0))]))
    assert edge.tolist() == [3]
