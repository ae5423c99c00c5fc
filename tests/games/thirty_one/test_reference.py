"""Whole matches at every table size against the plain reference: the truth, and what each player knows of it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardlab.games.cards.deck import UNKNOWN
from cardlab.games.protocol import NO_PLAYER
from cardlab.games.thirty_one.game import ThirtyOne
from games.thirty_one.slow_match import CALL, DRAW, SlowMatch, by_suit

some = settings(max_examples=6, deadline=None)


def cards_in(bits):
    return {card for card in range(52) if int(bits) >> card & 1}


def check_truth(slow, game, states):
    state = states[0]
    assert np.flatnonzero(game.legal_actions(states)[0]).tolist() == slow.legal()
    assert bool(game.is_over(states)[0]) == slow.over
    np.testing.assert_allclose(game.payoffs(states)[0], slow.payoffs, atol=1e-6)
    assert state["lives"][: game.num_players].tolist() == slow.lives
    for name in ("draws", "takes", "calls", "call_scores"):
        assert state[name][: game.num_players].tolist() == [deeds[name] for deeds in slow.deeds]
    assert cards_in(state["discards"]) == set(slow.pile)
    for player in range(game.num_players):
        assert state["hands"][player].tolist() == list(slow.hands.get(player, [UNKNOWN] * 3))
    if slow.over:
        assert game.current_player(states)[0] == NO_PLAYER
        return
    assert game.current_player(states)[0] == slow.player
    assert state["caller"] == (NO_PLAYER if slow.caller is None else slow.caller)
    assert (state["round"], state["turns"], state["reshuffles"]) == (slow.round, slow.turns, slow.reshuffles)
    assert state["top"] == (slow.pile[-1] if not slow.from_pile else UNKNOWN)
    assert state["drawn"] == (UNKNOWN if slow.pending is None else slow.pending)
    assert state["stock"][: state["stock_left"]].tolist() == slow.stock[::-1]
    holders = game.holders(states)[0]
    held = {card: player for player, hand in slow.hands.items() for card in hand}
    if slow.pending is not None:
        held[slow.pending] = slow.player
    assert holders.tolist() == [held.get(card, NO_PLAYER) for card in range(52)]


def check_knowledge(slow, game, states, viewer):
    known = game.information(states, np.array([viewer], dtype=np.int8))[0]
    assert known["seed"] == 0
    assert (known["stock"] == UNKNOWN).all()
    assert known["stock_left"] == len(slow.stock)
    assert cards_in(known["restocked"]) == slow.formed
    pending = {slow.pending} if slow.from_pile else set()
    assert cards_in(known["visible"]) == pending.union(*slow.seen.values())
    hidden = slow.pending is None or not (slow.from_pile or viewer == slow.player)
    assert known["drawn"] == (UNKNOWN if hidden else slow.pending)
    for player in slow.order:
        if player == viewer:
            assert known["hands"][player].tolist() == slow.hands[player]
            assert known["from_stock"][player] == 0
            continue
        seen = by_suit(slow.seen[player])
        assert known["hands"][player].tolist() == [UNKNOWN] * (3 - len(seen)) + seen
        assert known["from_stock"][player] == slow.came[player]


def follow(game, seed, call_chance):
    """Play one match at random, in both engines; the number of rounds and of reshuffles."""
    rng = np.random.default_rng(seed)
    deck, chance = rng.permutation(52), rng.integers(0, 2**63, dtype=np.uint64)
    slow = SlowMatch(deck, chance, game.num_players, game.lives, game.max_turns, game.max_rounds)
    states = game.deal(1, rng, deck[None], np.array([chance]))
    reshuffles = 0
    check_truth(slow, game, states)
    while not slow.over:
        viewer = int(rng.integers(game.num_players))
        check_knowledge(slow, game, states, viewer)
        legal = slow.legal()
        if CALL in legal and rng.random() > call_chance:
            legal = [DRAW, DRAW, 1]
        action = int(rng.choice(legal))
        slow.play(action)
        game.apply(states, np.array([action], dtype=np.int16))
        reshuffles += slow.reshuffles > 0
        check_truth(slow, game, states)
    return slow.round, reshuffles


@pytest.mark.parametrize("num_players", range(2, 10))
@some
@given(seed=st.integers(0, 2**32 - 1))
def test_whole_matches(num_players, seed):
    rounds, _ = follow(ThirtyOne(num_players=num_players), seed, call_chance=0.2)
    assert rounds >= 2


@pytest.mark.parametrize("num_players", [2, 3, 9])
@settings(max_examples=2, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_long_rounds_reshuffle(num_players, seed):
    game = ThirtyOne(num_players=num_players, lives=1, max_turns=250, max_rounds=2)
    _, reshuffles = follow(game, seed, call_chance=0.0)
    assert reshuffles > 0


@some
@given(seed=st.integers(0, 2**32 - 1), max_turns=st.integers(1, 9), max_rounds=st.integers(1, 4))
def test_short_limits(seed, max_turns, max_rounds):
    game = ThirtyOne(num_players=4, max_turns=max_turns, max_rounds=max_rounds)
    rounds, _ = follow(game, seed, call_chance=0.1)
    assert rounds <= max_rounds
