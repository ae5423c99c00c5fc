"""Legal masks against all subsets of the hand."""

from itertools import combinations

import numpy as np
import pytest

from cardlab.agents.registry import make_agent
from cardlab.games.big2.actions import DECK_CARD, KINDS, NUM_ACTIONS, PASS, classify
from cardlab.games.big2.game import Big2
from cardlab.games.big2.rules import PLAYED, STATE_DTYPE
from cardlab.games.cards.deck import cards_text
from cardlab.games.loop import play
from games.big2.reference import Table, deciding_card, in_order, name, order
from games.big2.tables import TEXTS, cards_of, mask_of, put_hand


def reference_mask(game, state):
    """The mask of one record by enumeration of all subsets."""
    table = Table.__new__(Table)
    player = (int(state["opener"]) + int(state["moves"])) % 4
    table.hands = [[] for _ in range(4)]
    table.hands[player] = [TEXTS[card] for card in np.flatnonzero(state["place"] == player)]
    table.player = player
    table.unbeatable = game.straight_flush == "unbeatable"
    move = int(state["moves"]) - 1 - int(state["passes"])
    table.trick = (
        [TEXTS[card] for card in np.flatnonzero(state["place"] == PLAYED + move)] if state["kind"] >= 0 else []
    )
    return mask_of(table.legal())


def check_play(game, agent, num_games, num_positions, seed):
    """Compare the masks of all decisions of games played by `agent` until there were `num_positions`; kinds seen."""
    rng = np.random.default_rng(seed)
    states = game.deal(num_games, rng)
    checked, kinds = 0, set()
    while checked < num_positions:
        before = states.copy()
        for moves in play(game, states, [make_agent(game, agent)], rng):
            masks = game.legal_actions(moves.info_states)
            for index, row in enumerate(moves.rows):
                assert (masks[index] == reference_mask(game, before[row])).all(), game.render(before[row])
                kinds.add(int(before[row]["kind"]))
            checked += moves.rows.size
            if checked >= num_positions:
                break
            before = states.copy()
        states = game.deal(num_games, rng)
    return kinds


@pytest.mark.parametrize("agent", ["random", "greedy"])
@pytest.mark.parametrize("straight_flush", ["ranked", "unbeatable"])
def test_masks_of_played_positions(agent, straight_flush):
    check_play(Big2(opening="choose", straight_flush=straight_flush), agent, 10, 250, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["random", "greedy"])
def test_masks_of_6000_played_positions(agent):
    kinds = check_play(Big2(), agent, 10, 6_000, seed=2)
    assert {-1, *range(8)} - {KINDS.index("four")} <= kinds  # fours are too rare; special hands beat those


@pytest.mark.parametrize("tables", [0, 1, 40])
def test_lists_grow_as_far_as_they_must(tables):
    game = Big2()
    states = game.deal(tables, np.random.default_rng(0))
    for state in states:  # thirteen cards of one suit and control: all five of them are a flush
        put_hand(state, 0, SPECIAL_HANDS["one suit"])
    actions, starts = game.list_legal_actions(states)
    rows, marked = np.nonzero(game.legal_actions(states))
    np.testing.assert_array_equal(actions, marked)
    np.testing.assert_array_equal(starts, np.searchsorted(rows, np.arange(tables + 1)))
    assert len(actions) == tables * (13 + 1287)


SPECIAL_HANDS = {
    "one suit": [4 * rank + 2 for rank in range(13)],
    "two suits": [4 * rank + rank % 2 for rank in range(13)],
    "three fours of a kind": [*range(4, 16), 51],
    "fours at both ends": [4, 5, 6, 7, 20, 21, 22, 23, 30, 48, 49, 50, 51],
    "two straight flushes": cards_of("3c 4d 5d 6d 7d 8d 9d Ts Js Qs Ks As 2s"),
    "threes and pairs": cards_of("3s 3c 3h 4d 4c 5d 5c 5s 6h 6s 7c 7h 7s"),
    "straights with choice": cards_of("3c 3s 4c 4h 5d 5s 6c 6h 7d 7s 8c 9h 9s"),
    "no straight over the two": cards_of("3c 4c 5c 6c Ah As 2c 2h Kd Qd Td 9d 3s"),
}


def plays_to_beat(hand):
    """Control, and one hand of every kind and deciding card that the other cards allow."""
    rest = [card for card in range(52) if card not in hand]
    found = {(-1, -1): []}
    for size in range(1, 6):
        for cards in combinations(rest, size) if size < 3 else _sample(rest, size):
            texts = [TEXTS[card] for card in cards]
            if name(texts):
                kind = KINDS.index(name(texts))
                found[kind, 4 * order(deciding_card(texts))[0] + order(deciding_card(texts))[1]] = texts
    return found


def _sample(rest, size):
    """Sets of `size` cards near each other, in which hands are frequent, and all of one suit within eight cards."""
    for start in range(len(rest)):
        yield from combinations(rest[start : start + 7], size)
    for suit in range(4):
        suited = [card for card in rest if card % 4 == suit]
        for start in range(len(suited)):
            yield from combinations(suited[start : start + 6], size)


@pytest.mark.parametrize("label", SPECIAL_HANDS)
def test_masks_of_special_hands(label):
    hand = sorted(SPECIAL_HANDS[label])
    texts = [TEXTS[card] for card in hand]
    tricks = plays_to_beat(hand)
    table = Table.__new__(Table)
    table.hands, table.player, table.unbeatable = [texts, [], [], []], 0, False
    every = {positions: [texts[p] for p in positions] for positions in _all_hands(texts)}
    states = np.zeros(len(tricks), dtype=STATE_DTYPE)
    for state, (kind, key) in zip(states, tricks, strict=True):
        put_hand(state, 1, hand, kind, key)
    masks = Big2().legal_actions(states)
    for mask, trick in zip(masks, tricks.values(), strict=True):
        table.trick = trick
        expected = mask_of([p for p, cards in every.items() if table.allowed(cards)] + ([()] if trick else []))
        assert (mask == expected).all(), (texts, trick)


def _all_hands(texts):
    for size in range(1, 6):
        for positions in combinations(range(len(texts)), size):
            if name([texts[p] for p in positions]):
                yield positions


def test_a_hand_of_one_suit_has_all_its_flushes():
    states = np.zeros(1, dtype=STATE_DTYPE)
    put_hand(states[0], 0, [4 * rank + 2 for rank in range(13)])
    legal = Big2().legal_actions(states)[0]
    assert legal.sum() == 13 + 1287
    assert legal[407:1694].all()
    assert not legal[PASS]


def test_every_five_card_hand_is_classified():
    rng = np.random.default_rng(3)
    seen = set()
    for start in range(0, 52, 2):
        for cards in combinations(range(start, min(start + 9, 52)), 5):
            seen |= _check_classified(cards)
    for _ in range(20_000):
        suited = rng.choice(13, size=5, replace=False) * 4 + rng.integers(4)
        seen |= _check_classified(tuple(sorted(int(card) for card in suited)))
    assert {KINDS.index(kind) for kind in ("flush", "full house", "straight flush")} <= seen


def _check_classified(cards):
    texts = [TEXTS[card] for card in cards]
    if not name(texts):
        return set()
    kind, key = classify(np.array(cards, dtype=np.int8), 5)
    assert KINDS[kind] == name(texts)
    assert TEXTS[key] == deciding_card(texts)
    return {kind}


def test_nothing_is_legal_without_a_current_player():
    game = Big2()
    states = game.deal(3, np.random.default_rng(0))
    states["phase"] = [1, 2, 0]
    legal = game.legal_actions(states)
    assert legal.any(axis=1).tolist() == [False, False, True]
    assert legal.shape == (3, NUM_ACTIONS)


def test_order_of_the_cards_is_that_of_the_sheet():
    assert cards_text(DECK_CARD).split() == in_order(TEXTS)
    assert TEXTS[:5] == ["3d", "3c", "3h", "3s", "4d"]
    assert TEXTS[-1] == "2s"
