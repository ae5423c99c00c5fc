"""Playouts: every choice is the greedy agent's, and so is every result."""

import numpy as np
import pytest

from cardlab.agents.registry import make_agent
from cardlab.games import loop
from cardlab.games.big2.actions import ACTION_POSITIONS, ACTION_SIZES, STRAIGHT_FLUSH
from cardlab.games.big2.game import Big2
from cardlab.games.big2.playouts import greedy_play, play_out
from cardlab.games.big2.rules import STATE_DTYPE
from cardlab.games.protocol import InfoStates, States
from games.big2.tables import cards_of, put_hand

RNG = np.random.default_rng(0)


def bits_of(cards):
    return sum(1 << int(card) for card in cards)


def greedy_cards(game, state):
    """The cards that the greedy agent plays from one record, as bits."""
    player = np.array([(int(state["opener"]) + int(state["moves"])) % 4], dtype=np.int8)
    action = int(make_agent(game, "greedy").act(InfoStates(state.reshape(1)), player, RNG)[0])
    hand = np.flatnonzero(state["place"] == player[0])
    return bits_of(hand[ACTION_POSITIONS[action, : ACTION_SIZES[action]]])


def check_choice(game, state):
    """The play on bits against the agent's; whether anything but a pass was chosen."""
    player = (int(state["opener"]) + int(state["moves"])) % 4
    hand = bits_of(np.flatnonzero(state["place"] == player))
    kind, key = int(state["kind"]), int(state["key"])
    cards, new_kind, new_key = greedy_play(hand, kind, key)
    assert cards == greedy_cards(game, state), game.render(state)
    if cards:
        after = state.reshape(1).copy()
        action = make_agent(game, "greedy").act(InfoStates(after), np.array([player], dtype=np.int8), RNG)
        game.apply(States(after), action)
        assert (new_kind, new_key) == (int(after[0]["kind"]), int(after[0]["key"]))
    return cards != 0


@pytest.mark.parametrize("agent", ["random", "greedy"])
def test_choices_in_played_positions(agent):
    game = Big2(opening="choose")
    rng = np.random.default_rng(1)
    states = game.deal(20, rng)
    checked = 0
    before = states.copy()
    for moves in loop.play(game, states, [make_agent(game, agent)], rng):
        checked += sum(check_choice(game, before[row]) for row in moves.rows)
        before = states.copy()
    assert checked > 400


@pytest.mark.parametrize("num_suits", [1, 2, 4])
def test_choices_on_any_hand_to_beat(num_suits):
    """Hands drawn so that each kind comes up often, on every kind and key that can be to beat."""
    game = Big2()
    rng = np.random.default_rng(num_suits)
    state = np.zeros(1, dtype=STATE_DTYPE)[0]
    played = 0
    for _ in range(1500):
        deck = [4 * rank + suit for rank in range(13) for suit in range(num_suits)]
        cards = rng.permutation(deck)[: rng.integers(1, min(13, len(deck)) + 1)]
        kind = int(rng.integers(-1, STRAIGHT_FLUSH + 1))
        put_hand(state, 0, np.sort(cards), kind, int(rng.integers(0, 52)) if kind >= 0 else -1)
        if 0 not in cards:
            played += check_choice(game, state)
    assert played > 150


@pytest.mark.parametrize(
    ("cards", "to_beat", "expected"),
    [
        ("3d 3c 4d 5d 6d 7d 8s", None, "3d 4d 5d 6d 7d"),
        ("4d 4c 4h 9d 9c Kd", None, "4d 4c 4h 9d 9c"),
        ("4d 5d 6d 7d 8d 9d", (8, 5), "4d 5d 6d 7d 8d"),
        ("4d 5d 6d 7d 8d 9d", (8, 20), "5d 6d 7d 8d 9d"),
        ("4d 4c 5d 5c 6h 6s", (3, 9), "4d 4c 6h 6s"),
        ("4d 4c 4h 4s 6h 6s", (4, 51), ""),
        ("4d 4h", (1, 5), "4d 4h"),
        ("4d 4h", (1, 7), ""),
    ],
)
def test_choices_by_hand(cards, to_beat, expected):
    hand = bits_of(cards_of(cards))
    play, _, _ = greedy_play(hand, *(to_beat or (-1, -1)))
    assert play == (bits_of(cards_of(expected)) if expected else 0)


@pytest.mark.parametrize("straight_flush", ["ranked", "unbeatable"])
@pytest.mark.parametrize("penalty", ["plain", "doubled"])
def test_results_are_those_of_the_loop(penalty, straight_flush):
    game = Big2(penalty=penalty, straight_flush=straight_flush, opening="choose")
    rng = np.random.default_rng(2)
    states = game.deal(200, rng)
    for step, _ in enumerate(loop.play(game, states, [make_agent(game, "random")], rng)):
        if step % 8 == 0:
            before = states.tobytes()
            paid = play_out(states, rng, game.spec.options)
            assert states.tobytes() == before
            ended = States(states.copy())
            loop.play_out(game, ended, [make_agent(game, "greedy")], rng)
            np.testing.assert_array_equal(paid, game.payoffs(ended))
