"""Expectimax against a plain recursion over the same decks, and what it makes of them."""

import numpy as np
import pytest

from cardlab.agents.search.expectimax import Expectimax
from cardlab.agents.search.options import ExpectimaxOptions
from cardlab.agents.search.search_io import DEALS, make_search_decisions, sample_deals
from cardlab.games.make_game import make_game
from search_positions import positions
from small_games.kuhn import Kuhn


class Checksum:
    """A leaf that is a function of the position alone: any number will do, as long as it is the same again."""

    def __init__(self, game):
        self.game = game

    def __call__(self, states, players, rng):
        weights = np.arange(1, states.dtype.itemsize + 1) % 13
        data = np.frombuffer(states.tobytes(), dtype=np.uint8).reshape(len(states), -1)
        worth = (data @ weights % 101).astype(np.float32) / 50 - 1
        spread = np.zeros((len(states), self.game.spec.num_players), dtype=np.float32)
        spread[:, 0], spread[:, 1:] = worth, -worth[:, None] / max(self.game.spec.num_players - 1, 1)
        return spread


def plain(game, leaf, state, player, depth):
    """Payoff of `player` with all cards seen, everybody else against it."""
    mover = int(game.current_player(state)[0])
    if mover < 0:
        return float(game.payoffs(state)[0, player])
    if depth == 0:
        return float(leaf(state, np.array([player]), None)[0, player])
    values = []
    for action in np.flatnonzero(game.legal_actions(state)[0]):
        child = state.copy()
        game.apply(child, np.array([action], dtype=np.int16))
        values.append(plain(game, leaf, child, player, depth - 1))
    return max(values) if mover == player else min(values)


@pytest.mark.parametrize(("name", "depth", "skip"), [("five_o", 3, 30), ("poker_squares", 2, 20), ("big2", 2, 30)])
@pytest.mark.parametrize("choose", ["votes", "mean"])
def test_it_finds_what_a_plain_recursion_finds(name, depth, skip, choose):
    game = make_game(name)
    leaf = Checksum(game)
    search = Expectimax(game, leaf, ExpectimaxOptions(depth=depth, decks=3, choose=choose), game.determinize)
    asked = make_search_decisions(game, *positions(game, 3, skip=skip), 0)
    for decision, finding in zip(asked, search.search(asked), strict=True):
        deals = sample_deals(game.determinize, decision, 3, decision.stream(0, 0, DEALS))
        values = np.empty((3, len(decision.legal)))
        for deck in range(3):
            for place, action in enumerate(decision.legal):
                child = deals[deck : deck + 1].copy()
                game.apply(child, np.array([action], dtype=np.int16))
                values[deck, place] = plain(game, leaf, child, decision.player, depth - 1)
        if choose == "mean":
            assert finding.values[decision.legal] == pytest.approx(values.mean(axis=0), abs=1e-5)
        else:
            votes = np.bincount(values.argmax(axis=1), minlength=len(decision.legal))
            assert np.floor(finding.scores[decision.legal]).tolist() == votes.tolist()


def test_it_sees_through_to_the_end_of_the_game():
    game = Kuhn()
    states = game.deal(12, np.random.default_rng(0))
    players = game.current_player(states)
    asked = make_search_decisions(game, game.information(states, players), players, 0)
    search = Expectimax(game, Checksum(game), ExpectimaxOptions(depth=3, decks=40, choose="mean"), game.determinize)
    cards = states["cards"][:, 0]
    for card, finding in zip(cards, search.search(asked), strict=True):
        # With open cards: the better hand bets and is not called, the worse one checks and folds.
        expected = {0: [-1, -2], 1: [0, -0.5], 2: [1, 1]}[int(card)]
        assert finding.values == pytest.approx(expected, abs=0.5)
