"""Observations against the state, and action features against the afterstate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardlab.games.cards import hands
from cardlab.games.five_o import column_features, hand_values
from cardlab.games.five_o import observation as features
from cardlab.games.five_o.game import FiveO
from cardlab.games.protocol import InfoStates, Players, find_block
from games.five_o.tables import stopped_at, to_move, written

turns = st.integers(0, 39)
hidden_rounds = st.sampled_from([4, 5])


def block(observations: np.ndarray, name: str) -> np.ndarray:
    found = find_block(features.BLOCKS, name)
    return observations[:, found.start : found.stop].reshape(-1, *found.shape)


def entry(line: np.ndarray, name: str) -> np.ndarray:
    found = find_block(column_features.LINE_BLOCKS, name)
    return line[..., found.start : found.stop]


def position(hidden_round: int, turn: int, seed: int) -> tuple[FiveO, InfoStates, Players]:
    game = FiveO(hidden_round=hidden_round)
    return game, *to_move(game, stopped_at(game, turn, 3, seed))


@settings(max_examples=25, deadline=None)
@given(hidden_rounds, turns, st.integers(0, 99))
def test_lines_are_the_columns_own_first(hidden_round: int, turn: int, seed: int) -> None:
    game, known, players = position(hidden_round, turn, seed)
    seen = block(game.observe(known, players), "lines")
    for g, state in enumerate(known):
        for line in range(10):
            side = players[g] if line < 5 else 1 - players[g]
            row = seen[g, line]
            held = state["columns"][side, line % 5]
            held = held[held >= 0]
            size = state["sizes"][side, line % 5]
            assert entry(row, "own")[0] == (line < 5)
            assert (2 * entry(row, "ranks")).round().tolist() == np.bincount(held // 4, minlength=13).tolist()
            assert (5 * entry(row, "suits")).round().tolist() == np.bincount(held % 4, minlength=4).tolist()
            assert entry(row, "size").argmax() + 1 == size
            assert entry(row, "unknown")[0] == (len(held) < size)
            key = int(hands.keys_of(held))
            category = hands.hand_category(hands.strength_table(), key, len(held))
            assert entry(row, "made").argmax() == category
            assert entry(row, "open")[0] == (size < turn // 10 + 2)


@settings(max_examples=25, deadline=None)
@given(hidden_rounds, turns, st.integers(0, 99))
def test_shared_blocks(hidden_round: int, turn: int, seed: int) -> None:
    game, known, players = position(hidden_round, turn, seed)
    seen = game.observe(known, players)
    unseen = np.empty(hand_values.NUM_COUNTS, dtype=np.int64)
    for g, state in enumerate(known):
        hand_values.count_unseen(state, unseen)
        shares = unseen / ([4] * 13 + [13] * 4 + [52])
        assert block(seen, "unseen")[g] == pytest.approx(shares)
        card = state["deck"][turn]
        assert np.flatnonzero(block(seen, "drawn")[g]).tolist() == [card // 4, 13 + card % 4, 17]
    assert (block(seen, "round").argmax(axis=1) == turn // 10).all()
    assert block(seen, "clock") == pytest.approx(turn / 40)
    assert block(seen, "turn").tolist() == [[1, 0, 1 - players[0]]] * 3
    assert block(seen, "phase").tolist() == [[1, 0, 0]] * 3


@settings(max_examples=25, deadline=None)
@given(hidden_rounds, turns, st.integers(0, 99))
def test_action_features_match_the_afterstate(hidden_round: int, turn: int, seed: int) -> None:
    game, known, players = position(hidden_round, turn, seed)
    rows, actions, described = game.action_features(known, players)
    for pair, (row, action) in enumerate(zip(rows, actions, strict=True)):
        after = InfoStates(known[row : row + 1].copy())
        game.apply(after, np.array([action], dtype=np.int16))
        seen = block(game.observe(after, players[row : row + 1]), "lines")[0]
        if turn % 10 == 9:
            entry(seen, "open")[:] = 0  # the next round opens the columns again
        size = column_features.LINE_SIZE
        np.testing.assert_allclose(described[pair, :size], seen[action], atol=1e-6)
        np.testing.assert_allclose(described[pair, size : 2 * size], seen[5 + action], atol=1e-6)


def test_fit_of_the_card_to_place() -> None:
    known = written("Ah|Kh 9c|5c|6d|Qs", "2d|3d|4d|7d|8d 8c", "9h")
    seen = block(FiveO().observe(known, np.zeros(1, dtype=np.int8)), "lines")[0]
    # cards of its rank / 3, keeps one suit, keeps a straight; nothing where the column has its card of the round
    assert entry(seen[0], "fit").tolist() == [0, 1, 0]
    assert not entry(seen[1], "fit").any()
    assert entry(seen[2], "fit").tolist() == [0, 0, 1]
    assert entry(seen[4], "fit").tolist() == [0, 0, 1]
    assert not entry(seen[5:], "fit").any()


def test_observation_of_the_end_and_of_what_waits_for_it() -> None:
    game = FiveO()
    states = stopped_at(game, 39, 2, seed=0)
    players = np.zeros(2, dtype=np.int8)
    waiting = game.information(states, players)
    last = game.legal_actions(states).argmax(axis=1).astype(np.int16)
    game.apply(waiting, last)
    assert block(game.observe(waiting, players), "phase").tolist() == [[0, 0, 1]] * 2
    game.apply(states, last)
    over = game.observe(game.information(states, players), players)
    assert block(over, "phase").tolist() == [[0, 1, 0]] * 2
    assert block(over, "ahead") * 5 == pytest.approx(states["won"].astype(np.float64))
    assert not block(over, "turn")[:, :2].any()


def test_privileged_shows_the_hidden_cards() -> None:
    game = FiveO()
    states = stopped_at(game, 35, 1, seed=4)
    seen = game.privileged(states, np.array([1], dtype=np.int8))[0]
    hidden = seen[: 5 * 52].reshape(5, 52)
    for column in range(5):
        card = states[0]["columns"][0, column, 4]
        assert np.flatnonzero(hidden[column]).tolist() == ([card] if card >= 0 else [])
    coming = seen[5 * 52 :].reshape(2, 52)
    deck = states[0]["deck"]
    assert np.flatnonzero(coming[0]).tolist() == sorted(deck[[35, 37, 39]].tolist())
    assert coming[0][deck[[35, 37, 39]]] == pytest.approx([1, 1 / 2, 1 / 3])
    assert np.flatnonzero(coming[1]).tolist() == sorted(deck[[36, 38]].tolist())
