"""The rules one by one, against written hands and a plain reference."""

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardlab.games.cards.deck import parse_cards
from cardlab.games.cards.hands import CATEGORIES
from cardlab.games.poker_squares import rules
from cardlab.games.poker_squares.game import PokerSquares
from cardlab.games.protocol import NO_PLAYER, InfoStates, States
from games.poker_squares.slow_rules import AMERICAN, BRITISH, NAMES, SlowGame, all_hands, grid_value, hand_name

ODD = [-7, 3, -128, 127, 1, 0, 2, -1, 9, 100]
SYSTEMS = {
    "american": (PokerSquares(), AMERICAN),
    "british": (PokerSquares(scoring="british"), BRITISH),
    "custom": (PokerSquares(scoring="custom", custom_scores=ODD), ODD),
}
decks = st.permutations(range(52))
with_jit = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="millions of hands, one Python step at a time")


def fresh(deck):
    """One new game, [1]."""
    return PokerSquares().deal(1, np.random.default_rng(0), decks=np.array([deck], dtype=np.int8))


def category(cards):
    """Category of up to five cards by the kernels."""
    line = np.full(25, -1, dtype=np.int8)
    line[: len(cards)] = cards
    return rules.line_category(rules.scan_line(line, 0))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("", "high card"),
        ("As", "high card"),
        ("As Ks Qs Js", "high card"),
        ("2c 7d 9h Js Ad", "high card"),
        ("Qs Kd Ah 2c 3d", "high card"),  # no wrap-around
        ("Js Qd Kh Ac 2d", "high card"),
        ("2c 2d", "pair"),
        ("2c 5h 2d 9s Kh", "pair"),
        ("2c 5h 2d 5s", "two pair"),
        ("2c 5h 2d 5s Kh", "two pair"),
        ("2c 2h 2d", "three of a kind"),
        ("2c 2h 2d 5s Kh", "three of a kind"),
        ("5s Ah 3c 2d 4d", "straight"),  # ace low
        ("Ts Jd Qh Kc Ad", "straight"),  # ace high
        ("6s 8d 7h 4c 5d", "straight"),
        ("2h 9h 4h Kh Jh", "flush"),
        ("Qh Kh Ah 2h 3h", "flush"),
        ("2c 2h 2d Ks Kh", "full house"),
        ("2c 2h 2d 2s", "four of a kind"),
        ("2c 2h 2d 2s Kh", "four of a kind"),
        ("9c 8c Qc Jc Tc", "straight flush"),
        ("Ad 2d 3d 4d 5d", "straight flush"),
        ("9d Td Jd Qd Kd", "straight flush"),
        ("Ks Ts As Qs Js", "royal flush"),
    ],
)
def test_category(text, name):
    cards = parse_cards(text)
    assert CATEGORIES[category(cards)] == name
    assert hand_name(cards.tolist()) == name


@with_jit
def test_counts_of_all_hands():
    """Counts of the 2,598,960 hands by category."""
    hands = np.fromiter((card for hand in all_hands() for card in hand), dtype=np.int8, count=5 * 2_598_960)
    states = np.zeros(2_598_960, dtype=rules.STATE)
    states["grid"] = -1
    states["grid"][:, :5] = hands.reshape(-1, 5)
    values = rules.sum_lines(states, np.arange(10, dtype=np.int8), False)[:, 0]  # the columns hold one card each
    counts = np.bincount(values.astype(int), minlength=10)
    assert counts.tolist() == [1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 36, 4]


@pytest.mark.parametrize("system", SYSTEMS)
@given(deck=decks, cells=st.permutations(range(25)))
@settings(max_examples=60, deadline=None)
def test_play_is_the_reference(system, deck, cells):
    game, scores = SYSTEMS[system]
    states, slow = fresh(deck), SlowGame(deck)
    for cell in cells:
        assert game.current_player(states).tolist() == [0]
        assert not game.is_over(states)[0]
        assert states["deck"][0, slow.turn] == slow.card
        assert np.flatnonzero(game.legal_actions(states)[0]).tolist() == slow.legal()
        assert game.payoffs(states).tolist() == [[0.0]]
        assert game.partial_value(states).tolist() == [grid_value(slow.grid, scores)]
        game.apply(states, np.array([cell], dtype=np.int16))
        slow.place(cell)
    assert game.is_over(states)[0]
    assert game.current_player(states).tolist() == [NO_PLAYER]
    assert game.payoffs(states).tolist() == [[slow.payoff(scores)]]
    assert states["grid"][0].tolist() == slow.grid
    low, high = game.spec.payoff_range
    assert low <= slow.payoff(scores) <= high


def test_best_american_grid_reaches_the_bound():
    """Four royal flushes in rows, four of a kind in every column, a straight flush below."""
    text = "Ts Js Qs Ks As Th Jh Qh Kh Ah Td Jd Qd Kd Ad Tc Jc Qc Kc Ac 5c 6c 7c 8c 9c"
    state = np.zeros(1, dtype=rules.STATE)
    state["grid"][0], state["turn"] = parse_cards(text), 25
    game = PokerSquares()
    assert game.payoffs(States(state)).tolist() == [[725.0]]
    assert game.spec.payoff_range == (0.0, 725.0)


@given(deck=decks, turn=st.integers(0, 24), data=st.data())
@settings(max_examples=60, deadline=None)
def test_information_hides_the_deck(deck, turn, data):
    game, rng = PokerSquares(), np.random.default_rng(0)
    tail = data.draw(st.permutations(deck[turn + 1 :]))
    both = game.deal(2, rng, decks=np.array([deck, [*deck[: turn + 1], *tail]], dtype=np.int8))
    for cell in range(turn):
        game.apply(both, np.full(2, cell, dtype=np.int16))
    known = game.information(both, np.zeros(2, dtype=np.int8))
    assert known[0].tobytes() == known[1].tobytes()
    assert known["deck"][0, turn] == deck[turn]
    assert (np.delete(known["deck"][0], turn) == -1).all()
    drawn = game.determinize(known, np.zeros(2, dtype=np.int8), rng)
    assert game.information(drawn, np.zeros(2, dtype=np.int8)).tobytes() == known.tobytes()
    cards = np.concatenate([drawn["grid"][0, :turn], drawn["deck"][0, turn:]])
    assert len(set(cards.tolist())) == 25


def test_afterstate_waits_for_a_card():
    game, players = PokerSquares(), np.zeros(1, dtype=np.int8)
    known = game.information(fresh(range(52)), players)
    game.apply(known, np.array([7], dtype=np.int16))
    assert game.current_player(known).tolist() == [NO_PLAYER]
    assert not game.legal_actions(known).any()
    assert not game.is_over(known)[0]
    before = known.tobytes()
    game.apply(known, np.array([8], dtype=np.int16))
    assert known.tobytes() == before
    drawn = game.determinize(known, players, np.random.default_rng(0))
    assert game.current_player(drawn).tolist() == [0]
    assert drawn["grid"][0, 7] == 0


@with_jit
def test_determinize_is_uniform_over_the_unseen():
    game, players = PokerSquares(), np.zeros(51_000, dtype=np.int8)
    known = np.repeat(game.information(fresh(range(52)), players[:1]), 51_000)
    drawn = game.determinize(InfoStates(known), players, np.random.default_rng(3))
    for index in (1, 13, 24):
        counts = np.bincount(drawn["deck"][:, index], minlength=52)
        assert counts[0] == 0
        assert ((counts[1:] - 1000.0) ** 2 / 1000).sum() < 95  # chi-squared, 50 degrees: 1 in 10,000 is 97


def test_deal_replays_decks():
    order = np.random.default_rng(4).permuted(np.tile(np.arange(52, dtype=np.int8), (3, 1)), axis=1)
    states = PokerSquares().deal(3, np.random.default_rng(0), decks=order)
    assert (states["deck"] == order[:, :25]).all()


def test_category_names_match_the_specification():
    assert list(CATEGORIES) == NAMES
