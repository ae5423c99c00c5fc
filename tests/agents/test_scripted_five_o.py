"""Scripted agents of Five-O: their choices by the paper's formulas, and reference figures."""

from math import exp, log, tanh

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardlab.agents.registry import agent_names, make_agent
from cardlab.core.options import InvalidOption
from cardlab.games.cards.hands import CARD_KEYS, hand_size, strength_table
from cardlab.games.five_o import column_probability, hand_values
from cardlab.games.five_o.game import FiveO
from cardlab.games.loop import play_out
from games.five_o.tables import stopped_at, to_move

GAME = FiveO()
NAMES = ("reflex_1", "reflex_2", "reflex_3", "greedy_1", "greedy_2", "fast_greedy_2")
KINDS = {"greedy_1": hand_values.PACK_EXPECT, "fast_greedy_2": hand_values.FAST_EVAL}


def share_won(first: str, second: str, num_deals: int = 2000) -> tuple[float, float]:
    """Share of games that `first` wins, draws as halves, over deals played from both seats, and its standard error."""
    rng = np.random.default_rng(0)
    agents = [make_agent(GAME, first), make_agent(GAME, second)]
    one = GAME.deal(num_deals, rng)
    other = one.copy()
    play_out(GAME, one, agents, rng)
    play_out(GAME, other, agents[::-1], rng)
    shares = (GAME.payoffs(one)[:, 0] + GAME.payoffs(other)[:, 1] + 2) / 4
    return float(shares.mean()), float(shares.std() / num_deals**0.5)


@pytest.mark.parametrize(
    ("first", "second", "reference", "tolerance"),
    [
        ("greedy_2", "random", 0.957, 0.015),
        ("reflex_3", "greedy_2", 0.53, 0.03),
        ("greedy_2", "reflex_2", 0.53, 0.03),
        ("greedy_2", "reflex_1", 0.59, 0.04),
        ("greedy_2", "greedy_1", 0.69, 0.04),
        ("greedy_2", "fast_greedy_2", 0.53, 0.03),
    ],
)
def test_reference_figures(first: str, second: str, reference: float, tolerance: float) -> None:
    share, error = share_won(first, second)
    assert abs(share - reference) <= tolerance
    assert share - 1.96 * error > 0.5  # the order of the two is no accident


@pytest.mark.parametrize("name", NAMES)
def test_every_agent_beats_random(name: str) -> None:
    share, _ = share_won(name, "random", 300)
    assert share > 0.85


def formula(name: str, own: list[float], opposite: list[float], column: int, after: float) -> float:
    """The number that each agent of the paper maximises, for a card that gives own[column] the value `after`."""
    placed = [*own[:column], after, *own[column + 1 :]]
    pairs = list(zip(placed, opposite, strict=True))
    return {
        "reflex_1": lambda: after - opposite[column],
        "reflex_2": lambda: after,
        "reflex_3": lambda: after - own[column],
        "greedy_1": lambda: sum(exp(tanh(9 * (a - b) / 17)) for a, b in pairs),
        "greedy_2": lambda: sum(log(a / b) for a, b in pairs),
        "fast_greedy_2": lambda: sum(log(a / b) for a, b in pairs),
    }[name]()


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(NAMES), st.integers(0, 29), st.integers(0, 99))
def test_choices_maximise_the_formula(name: str, turn: int, seed: int) -> None:
    known, players = to_move(GAME, stopped_at(GAME, turn, 2, seed))
    actions = make_agent(GAME, name).act(known, players, np.random.default_rng(0))
    unseen = np.empty(hand_values.NUM_COUNTS, dtype=np.int64)
    for g, state in enumerate(known):
        hand_values.count_unseen(state, unseen)
        card = int(state["deck"][turn])

        def value(side: int, column: int, added: int = -1, state: np.void = state) -> float:
            key = int(state["keys"][side, column]) + (int(CARD_KEYS[added]) if added >= 0 else 0)
            mask = hand_values.rank_mask(state, side, column) | (1 << added // 4 if added >= 0 else 0)
            draws = hand_values.draws_left(state, side, column)
            kind = KINDS.get(name, hand_values.EVAL)
            return hand_values.hand_value(kind, strength_table(), key, mask, hand_size(key), unseen, draws)

        own = [value(players[g], column) for column in range(5)]
        opposite = [value(1 - players[g], column) for column in range(5)]
        scores = {
            column: formula(name, own, opposite, column, value(players[g], column, card))
            for column in np.flatnonzero(GAME.legal_actions(known)[g])
        }
        assert scores[actions[g]] == pytest.approx(max(scores.values()))


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(NAMES), st.integers(30, 39), st.sampled_from([4, 5]), st.integers(0, 99))
def test_the_last_round_is_played_by_exact_chances(name: str, turn: int, hidden_round: int, seed: int) -> None:
    game = FiveO(hidden_round=hidden_round)
    known, players = to_move(game, stopped_at(game, turn, 4, seed))
    actions = make_agent(game, name).act(known, players, np.random.default_rng(0))
    scores = column_probability.exact_win_probabilities(strength_table(), known, players)
    assert (actions == scores.argmax(axis=1)).all()


def test_the_catalogue_has_the_agents_of_the_paper() -> None:
    assert {"random", *NAMES, "column_monte_carlo", "expectiminimax"} <= set(agent_names(GAME))


@pytest.mark.parametrize("name", ["fast_greedy_2", "greedy_2", "greedy_1"])
@pytest.mark.parametrize("choose", ["votes", "mean"])
def test_expectiminimax_at_depth_one_is_the_greedy_agent(name: str, choose: str) -> None:
    agent = make_agent(GAME, "expectiminimax", depth=1, decks=2, value=name, choose=choose)
    for turn in (0, 13, 29, 33):
        known, players = to_move(GAME, stopped_at(GAME, turn, 50, turn))
        actions = agent.act(known, players, np.random.default_rng(0))
        assert np.array_equal(actions, make_agent(GAME, name).act(known, players, np.random.default_rng(0)))


def test_searches_choose_by_their_scores_and_the_same_for_the_same_seed() -> None:
    known, players = to_move(GAME, stopped_at(GAME, 17, 30, 0))
    for text in ("column_monte_carlo:simulations:50", "expectiminimax:decks:4"):
        agent = make_agent(GAME, text)
        acts = [agent.act(known, players, np.random.default_rng(seed)) for seed in (0, 0, 1)]
        assert np.array_equal(acts[0], acts[1])
        assert not np.array_equal(acts[0], acts[2])
        assert GAME.legal_actions(known)[np.arange(30), acts[0]].all()


@pytest.mark.parametrize("name", ["column_monte_carlo:simulations:100", "expectiminimax:decks:5:depth:2"])
def test_searches_play_all_variants_and_beat_random(name: str) -> None:
    game = FiveO(hidden_round=4)
    rng = np.random.default_rng(0)
    states = game.deal(100, rng)
    play_out(game, states, [make_agent(game, name), make_agent(game, "random")], rng)
    assert game.payoffs(states)[:, 0].mean() > 0.25


@pytest.mark.figures
@pytest.mark.parametrize(
    ("first", "second", "reference", "tolerance", "num_deals"),
    [
        ("column_monte_carlo", "greedy_2", 0.52, 0.05, 1500),
        ("column_monte_carlo", "reflex_3", 0.58, 0.06, 1500),
        ("column_monte_carlo:simulations:100000", "random", 0.957, 0.05, 20),
        ("expectiminimax", "greedy_2", 0.54, 0.05, 1500),
        ("expectiminimax:choose:mean", "greedy_2", 0.54, 0.05, 1500),
    ],
)
def test_searches_reach_the_reference(
    first: str, second: str, reference: float, tolerance: float, num_deals: int
) -> None:
    share, error = share_won(first, second, num_deals)
    assert share + 1.96 * error >= reference - tolerance


@pytest.mark.parametrize(
    "text", ["column_monte_carlo:simulations:0", "expectiminimax:depth:11", "expectiminimax:value:eval"]
)
def test_options_of_searches_are_checked(text: str) -> None:
    with pytest.raises(InvalidOption, match=rf"agent\.{text.split(':')[1]}="):
        make_agent(GAME, text)


def test_unknown_options_are_refused() -> None:
    with pytest.raises(InvalidOption, match="agent"):
        make_agent(GAME, "greedy_2:x:1")


def test_no_tables_no_moves() -> None:
    known, players = to_move(GAME, stopped_at(GAME, 0, 0, 0))
    assert make_agent(GAME, "greedy_2").act(known, players, np.random.default_rng(0)).shape == (0,)
