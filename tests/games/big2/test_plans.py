"""How a hand can be shed, and what others may hold, against plain counts over all hands that the rules allow."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardlab.agents.registry import load_agent
from cardlab.games.big2.action_features import PLAN_BLOCKS, describe_plans
from cardlab.games.big2.actions import ACTION_POSITIONS, ACTION_SIZES, NO_KIND, NUM_ACTIONS, PASS, classify, strength
from cardlab.games.big2.game import Big2
from cardlab.games.big2.legal_actions import mark_legal
from cardlab.games.big2.plans import NO_HAND, NUM_DEALS, NUM_SUBSETS, best_hands, plan, sample_best_hands
from cardlab.games.big2.rules import HIDDEN, list_hand
from cardlab.games.loop import play
from cardlab.games.protocol import InfoStates, Players, find_block

GAME = Big2(features="plans")
hands = st.sets(st.integers(0, 51), min_size=1, max_size=13).map(sorted)
small_hands = st.sets(st.integers(0, 51), min_size=1, max_size=8).map(sorted)
clustered = st.sets(st.integers(0, 27), min_size=5, max_size=13).map(sorted)  # of few ranks: more to combine


def plays_of(cards: list[int]) -> list[tuple[tuple[int, ...], int, int]]:
    """Positions, size and strength of all that the hand may lead."""
    hand = np.array(cards + [0] * (14 - len(cards)), dtype=np.int8)
    legal = np.zeros(NUM_ACTIONS, dtype=np.bool_)
    mark_legal(hand, len(cards), NO_KIND, -1, np.empty(14, dtype=np.int8), legal)
    found = []
    for action in np.flatnonzero(legal[:PASS]):
        size = int(ACTION_SIZES[action])
        positions = tuple(int(position) for position in ACTION_POSITIONS[action, :size])
        found.append((positions, size, strength(*classify(hand[list(positions)], size))))
    return found


@given(hands | clustered)
def test_the_best_hand_of_each_size_is_the_best_legal_lead(cards: list[int]) -> None:
    best = np.empty(6, dtype=np.int16)
    best_hands(sum(1 << card for card in cards), best)
    wanted = np.full(6, NO_HAND)
    for _, size, value in plays_of(cards):
        wanted[size] = max(wanted[size], value)
    assert (best == wanted).all()


@settings(max_examples=30, deadline=None)
@given(small_hands, st.integers(0, 99))
def test_plans_are_the_best_splits(cards: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    best = rng.integers(-1, 470, size=(5, 6)).astype(np.int16)
    fewest = np.empty(NUM_SUBSETS, dtype=np.int8)
    risk, last = (np.empty(NUM_SUBSETS, dtype=np.float32) for _ in range(2))
    plan(np.array(cards + [0] * 6, dtype=np.int8), len(cards), best, fewest, risk, last)
    plays = [(set(positions), float((best[:, size] > value).mean())) for positions, size, value in plays_of(cards)]

    @cache
    def splits(left: frozenset[int]) -> list[tuple[float, ...]]:
        """The risks of the plays of every split of these positions."""
        if not left:
            return [()]
        first = min(left)
        return [
            tuple(sorted((held, *others)))
            for positions, held in plays
            if first in positions and positions <= left
            for others in splits(left - positions)
        ]

    whole = (1 << len(cards)) - 1
    lefts = [whole - sum(1 << place for place in positions) for positions, _ in plays]
    for subset in {whole, *rng.choice(lefts, size=3).tolist()} - {0}:
        found = splits(frozenset(place for place in range(len(cards)) if subset >> place & 1))
        assert fewest[subset] == min(map(len, found))
        assert risk[subset] == pytest.approx(min(map(sum, found)), abs=1e-5)
        assert last[subset] == pytest.approx(min(sum(split[:-1]) for split in found), abs=1e-5)


def decisions(seed: int, num_games: int = 6) -> tuple[InfoStates, Players]:
    """All decisions of a few games between planners."""
    rng = np.random.default_rng(seed)
    parts, players = [], []
    for moves in play(GAME, GAME.deal(num_games, rng), [load_agent(GAME, "planner")], rng):
        parts.append(moves.info_states[moves.queried].copy())
        players.append(moves.players[moves.queried])
    return InfoStates(np.concatenate(parts)), np.concatenate(players)


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 99))
def test_somebody_holds_every_higher_card_that_is_unseen(seed: int) -> None:
    """So the chance of a better single is 0 or 1, and a win that is promised cannot be beaten by one."""
    info_states, players = decisions(seed)
    rows, columns = np.nonzero(GAME.legal_actions(info_states))
    features = describe_plans(info_states, rows, columns.astype(np.int16))
    held = find_block(PLAN_BLOCKS, "better_held")
    wins, nothing_left = (find_block(PLAN_BLOCKS, name).start for name in ("wins", "plays_left"))
    hand = np.empty(14, dtype=np.int8)
    for row, action, seen in zip(rows, columns, features, strict=True):
        *others, anybody = seen[held.start : held.stop]
        assert max(others) <= anybody <= min(1.0, sum(others)) + 1e-6
        if action < 13:  # a single
            list_hand(info_states[row]["place"], players[row], hand)
            higher = info_states[row]["place"][hand[action] + 1 :] == HIDDEN
            assert anybody == higher.any()
            assert not (seen[wins] and higher.any() and not seen[nothing_left])


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 99))
def test_a_win_is_promised_where_nothing_can_be_beaten_but_the_last_play(seed: int) -> None:
    info_states, _ = decisions(seed)
    rows, columns = np.nonzero(GAME.legal_actions(info_states))
    features = describe_plans(info_states, rows, columns.astype(np.int16))
    plays = columns != PASS
    starts = {block.name: block.start for block in PLAN_BLOCKS}
    risk_left, held = features[:, starts["risk_left"] + 1], features[:, starts["better_held"] + 3]
    nothing_left = features[:, starts["plays_left"]] == 1
    assert (features[:, starts["wins"]] == (plays & (nothing_left | ((risk_left == 0) & (held == 0))))).all()
    assert nothing_left.any()


def test_holdings_give_each_player_the_cards_that_are_left() -> None:
    """A player of one card has no pair; with all hands known but two the deals agree on the third."""
    info_states, players = decisions(3)
    holdings = np.empty((NUM_DEALS, 3, 6), dtype=np.int16)
    for state, player in zip(info_states, players, strict=True):
        sample_best_hands(state["place"], state["counts"], int(player), holdings)
        for seat in range(3):
            left = state["counts"][(player + seat + 1) % 4]
            assert (holdings[:, seat, 1] >= 0).all()
            assert (holdings[:, seat, left + 1 :] == NO_HAND).all()


def test_the_same_situation_is_described_alike() -> None:
    info_states, players = decisions(1)
    whole = GAME.action_features(info_states, players)
    for row in (0, 17, 40):
        alone = GAME.action_features(InfoStates(info_states[row : row + 1]), players[row : row + 1])
        assert (alone[2] == whole[2][whole[0] == row]).all()
