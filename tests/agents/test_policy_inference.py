"""Deals sampled by the likelihood of the opponents' moves."""

from collections import Counter

import numpy as np
import pytest

from cardlab.agents.policy_inference import SLIP, TEMPERATURE, PolicyInference
from cardlab.agents.registry import load_agent
from cardlab.core.messages import InvalidOption
from cardlab.games.big2.actions import PASS
from cardlab.games.big2.rules import HIDDEN
from cardlab.games.loop import play
from cardlab.games.make_game import make_game
from cardlab.games.protocol import States
from cardlab.games.record_arrays import take

GAME = make_game("big2")


class LowestFirst:
    """Passes with probability 0.2 where it may; else each action is half as likely as the one before."""

    def act(self, info_states, players, rng):
        probabilities = np.exp(self.evaluate(info_states, players)[0])
        return np.array([rng.choice(len(row), p=row / row.sum()) for row in probabilities], dtype=np.int16)

    def evaluate(self, info_states, players):
        legal = GAME.legal_actions(info_states)
        probabilities = np.where(legal, 0.5 ** np.minimum(legal.cumsum(axis=1), 40), 0.0)
        probabilities[:, PASS] = 0.0
        total = probabilities.sum(axis=1)
        may_pass = legal[:, PASS]
        share = np.where(total > 0, np.where(may_pass, 0.8, 1.0), 0.0)
        probabilities *= (share / np.where(total > 0, total, 1.0))[:, None]
        probabilities[:, PASS] = np.where(may_pass, 1.0 - share, 0.0)
        with np.errstate(divide="ignore"):
            return np.log(probabilities).astype(np.float32), np.zeros(len(players), dtype=np.float32)


POLICY = LowestFirst()
INFERENCE = PolicyInference(GAME, POLICY)


def test_the_likelihood_is_that_of_the_opponents_moves():
    """Added up while the game is played, for player 2."""
    rng = np.random.default_rng(0)
    states = GAME.deal(20, rng)
    expected = np.zeros(20)
    for moves in play(GAME, states, [POLICY], rng, ask_forced=True):
        logs, _ = POLICY.evaluate(moves.info_states, moves.players)
        made = np.log((1 - SLIP) * np.exp(logs[np.arange(len(moves.rows)), moves.actions]) + SLIP)
        expected[moves.rows] += np.where(moves.players == 2, 0.0, made)
        found = INFERENCE.log_likelihoods(states, np.full(20, 2, dtype=np.int8))
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def late_position():
    """One decision with few ways to deal the hidden cards."""
    rng = np.random.default_rng(3)
    states = GAME.deal(200, rng)
    for moves in play(GAME, states, [POLICY], rng):
        hidden = (moves.info_states["place"] == HIDDEN).sum(axis=1)
        here = np.flatnonzero(moves.queried & (hidden == 5) & (moves.info_states["counts"].max(axis=1) <= 3))
        if here.size:
            return take(moves.info_states, here[:1]), moves.players[here[:1]]
    raise AssertionError("no such decision")


def test_deals_are_as_frequent_as_they_are_likely():
    info_state, player = late_position()
    number = 1_000
    copies = take(info_state, np.zeros(number, dtype=np.intp))
    players = np.repeat(player, number)
    rng = np.random.default_rng(1)
    possible = States(np.unique(GAME.determinize(copies, players, rng)))
    weights = np.exp(INFERENCE.log_likelihoods(possible, np.repeat(player, len(possible))) / TEMPERATURE)
    sampled = INFERENCE.determinize(copies, players, rng)
    assert GAME.information(sampled, players).tobytes() == copies.tobytes()
    found = Counter(state.tobytes() for state in sampled)
    shares = np.array([found[state.tobytes()] for state in possible]) / number
    np.testing.assert_allclose(shares, weights / weights.sum(), atol=0.02)
    assert shares.max() > 2 * shares.min()  # uniform deals would fail


def test_decisions_of_several_games_keep_their_places():
    rng = np.random.default_rng(0)
    states = GAME.deal(6, rng)
    steps = play(GAME, states, [POLICY], rng, ask_forced=True)
    for _ in range(9):
        moves = next(steps)
    sampled = INFERENCE.determinize(moves.info_states, moves.players, rng)
    assert GAME.information(sampled, moves.players).tobytes() == moves.info_states.tobytes()


def test_a_search_deals_by_a_policy():
    info_state, player = late_position()
    agent = load_agent(make_game("big2", features="plans"), "monte_carlo:simulations:40:belief:champion")
    values = agent.action_values(info_state, player)
    assert np.isfinite(values).any()
    uniform = load_agent(make_game("big2", features="plans"), "monte_carlo:simulations:40")
    assert values.tobytes() != uniform.action_values(info_state, player).tobytes()


@pytest.mark.parametrize(
    ("game", "text", "message"),
    [
        ("five_o", "monte_carlo:belief:champion", "search.belief=champion: must be a belief network: states of five_o"),
        ("big2", "monte_carlo:belief:champion:endgame:true", "search.belief=champion: must be a belief network where"),
        ("big2", "monte_carlo:belief:greedy", "search.belief=greedy: must be the folder of a belief network, or"),
    ],
)
def test_what_cannot_deal_is_refused(game, text, message):
    with pytest.raises(InvalidOption, match=message):
        load_agent(make_game(game, features="plans") if game == "big2" else make_game(game), text)
