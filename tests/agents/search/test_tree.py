"""Tree search: it counts what it does, and comes to what is right where that is known."""

import numpy as np
import pytest

from cardlab.agents.exploration import RandomAgent
from cardlab.agents.search.leaves import AgentPlayouts
from cardlab.agents.search.options import PuctOptions, TreeOptions
from cardlab.agents.search.search_io import make_search_decisions
from cardlab.agents.search.tree import UCT, Node, TreeSearch
from cardlab.games.make_game import make_game
from search_positions import positions
from small_games.high_card import HighCard
from small_games.kuhn import Kuhn


def tree_of(game, **options):
    made = TreeOptions(**options)
    return TreeSearch(game, AgentPlayouts(game, RandomAgent(game)), made, UCT, game.determinize)


@pytest.mark.parametrize("num_players", [1, 2, 3])
def test_the_higher_card_is_shown(num_players):
    game = HighCard(num_players=num_players)
    states = game.deal(30, np.random.default_rng(0))
    players = game.current_player(states)
    known = game.information(states, players)
    findings = tree_of(game, simulations=160).search(make_search_decisions(game, known, players, 0))
    ranks = known["hands"][:, 0] // 4
    clear = np.abs(ranks[:, 0] - ranks[:, 1]) >= 3
    right = [finding.scores.argmax() == own.argmax() for finding, own in zip(findings, ranks, strict=True)]
    assert np.mean(np.array(right)[clear]) > 0.9
    assert all(finding.simulations == 160 for finding in findings)


def test_everybody_plays_the_own_game_in_it():
    """Kuhn: a king always calls, a jack always folds; so betting a queen loses, and checking it costs less."""
    game = Kuhn()
    states = game.deal(24, np.random.default_rng(0))
    players = game.current_player(states)
    cards = states["cards"][:, 0]
    known = game.information(states, players)
    findings = tree_of(game, simulations=600).search(make_search_decisions(game, known, players, 0))
    for card, finding in zip(cards, findings, strict=True):
        if card == 1:
            assert finding.values[0] > finding.values[1]
            assert finding.scores.argmax() == 0


def test_a_prior_of_one_action_is_all_that_is_tried():
    game = make_game("five_o")
    states = game.deal(2, np.random.default_rng(0))
    players = game.current_player(states)

    def prior(info_states, players):
        legal = game.legal_actions(info_states)
        first = np.zeros(legal.shape, dtype=np.float32)
        first[np.arange(len(first)), legal.argmax(axis=1)] = 1
        return first

    options = PuctOptions(policy="any", simulations=24, depth=3)
    search = TreeSearch(game, AgentPlayouts(game, RandomAgent(game)), options, 1.0, game.determinize, prior)
    for finding in search.search(make_search_decisions(game, game.information(states, players), players, 0)):
        assert np.isfinite(finding.values[0])
        assert finding.scores.argmax() == 0


def test_selection_by_its_formulas():
    node = Node(0, np.arange(3), None)
    assert [node.select(0.7, 0, 1) for _ in range(3)] == [0, 1, 2], "untried ones first, in their order"
    node.pending[:] = 0
    node.visits[:], node.sums[:] = [10, 5, 20], [5, 4, 10]
    bonus = 0.7 * np.sqrt(np.log(35) / np.array([10, 5, 20]))
    assert node.select(0.7, 0, 1) == (np.array([0.5, 0.8, 0.5]) + bonus).argmax()
    led = Node(0, np.arange(2), np.array([0.9, 0.1], dtype=np.float32))
    assert led.select(1.25, 0, 1) == 0
    led.pending[:] = 0
    led.visits[:], led.sums[:] = [8, 8], [4, 6]
    puct = np.array([0.5, 0.75]) + 1.25 * np.array([0.9, 0.1]) * 4 / 9
    assert led.select(1.25, 0, 1) == puct.argmax()


def test_a_depth_limit_of_one_is_a_bandit():
    game = make_game("poker_squares")
    info_states, players = positions(game, 1, skip=22)
    asked = make_search_decisions(game, info_states, players, 0)
    search = tree_of(game, simulations=64, depth=1)
    (tree,) = search._new_trees(asked)
    for wave in range(4):
        search._descend([tree], wave, 8)
    root = next(iter(tree.nodes.values()))
    assert root.visits.sum() == 32
    assert root.pending.sum() == 0
    assert all(node.visits.sum() == 0 for node in list(tree.nodes.values())[1:])
