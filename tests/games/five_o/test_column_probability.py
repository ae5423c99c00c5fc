"""Column probabilities: simulations converge to the enumeration, which equals a plain one."""

from itertools import combinations

import numpy as np
import pytest

from cardlab.games.cards.hands import strength_table, strengths
from cardlab.games.five_o import column_probability
from cardlab.games.five_o.game import FiveO
from games.five_o.tables import stopped_at, to_move

GAME = FiveO()


def plain_chances(state, player):
    """[2, 5] probabilities with ties as won, by enumeration; for columns of three cards or more."""
    card = int(state["deck"][int(state["turn"])])
    seen = {int(one) for side in state["columns"] for column in side for one in column if one >= 0} | {card}
    unseen = [one for one in range(52) if one not in seen]
    found = np.zeros((2, 5))
    for column in range(5):
        own, opposite = (
            [int(one) for one in state["columns"][side][column] if one >= 0] for side in (player, 1 - player)
        )
        for case, hand in enumerate((own, [*own, card])):
            if len(hand) > 5:
                continue
            shares = []
            for added in combinations(unseen, 5 - len(hand)):
                rest = [one for one in unseen if one not in added]
                theirs = strengths(np.array([[*opposite, *more] for more in combinations(rest, 5 - len(opposite))]))
                mine = int(strengths(np.array([[*hand, *added]]))[0])
                shares.append((mine >= theirs).mean())
            found[case, column] = np.mean(shares)
    return found


@pytest.mark.parametrize("turn", [26, 31, 36])
def test_counted_chances_are_those_of_all_completions(turn: int) -> None:
    known, players = to_move(GAME, stopped_at(GAME, turn, 1, turn))
    counted = column_probability.enumerate_columns(strength_table(), known[0], players[0])
    assert counted == pytest.approx(plain_chances(known[0], int(players[0])), abs=1e-9)


@pytest.mark.parametrize("turn", [10, 17, 25, 33])
def test_simulated_chances_tend_to_the_counted_ones(turn: int) -> None:
    known, players = to_move(GAME, stopped_at(GAME, turn, 2, turn))
    for state, player in zip(known, players, strict=True):
        counted = column_probability.enumerate_columns(strength_table(), state, player)
        simulated = column_probability.simulate_columns(strength_table(), state, player, 40_000, np.uint64(1))
        assert np.abs(simulated - counted).max() < 4.5 * 0.5 / 40_000**0.5


def test_the_column_that_takes_the_card_counts_with_it() -> None:
    wait, put = np.array([0.2, 0.9, 0.4, 0.5, 0.6]), np.array([0.5, 0.0, 0.45, 0.7, 0.6])
    sizes = np.array([3, 5, 3, 3, 3], dtype=np.int8)
    scores = column_probability.game_win_probabilities(np.stack([wait, put]), sizes)
    for column in range(5):
        mixed = np.where(np.arange(5) == column, put, wait)
        expected = -1.0 if column == 1 else column_probability.game_win_probability(mixed)
        assert scores[column] == pytest.approx(expected)
