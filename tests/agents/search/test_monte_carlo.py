"""Monte Carlo: exact means in small games, budgets kept, and halving that drops the weaker half."""

from collections import Counter

import numpy as np
import pytest

from cardlab.agents.exploration import RandomAgent
from cardlab.agents.search.leaves import AgentPlayouts
from cardlab.agents.search.monte_carlo import MonteCarlo
from cardlab.agents.search.options import MonteCarloOptions
from cardlab.agents.search.search_io import make_search_decisions
from cardlab.games.make_game import make_game
from small_games.high_card import HighCard, Shower
from small_games.kuhn import Kuhn


def search_of(game, leaf=None, estimates=None, **options):
    leaf = leaf or AgentPlayouts(game, RandomAgent(game))
    policy = "any" if estimates else None
    return MonteCarlo(game, leaf, MonteCarloOptions(policy=policy, **options), game.determinize, estimates)


def kuhn_decision(card, line):
    """The player to move holds `card` after `line`."""
    game = Kuhn()
    state = game.deal(1, np.random.default_rng(0))
    mover = len(line) % 2
    state["cards"][0, mover], state["cards"][0, 1 - mover] = card, (card + 1) % 3
    for action in line:
        game.apply(state, np.array(["pb".index(action)], dtype=np.int16))
    players = game.current_player(state)
    (decision,) = make_search_decisions(game, game.information(state, players), players, 0)
    return game, decision


@pytest.mark.parametrize(("card", "fold", "call"), [(0, -1, -2), (1, -1, 0), (2, -1, 2)])
def test_values_are_means_over_what_may_be(card, fold, call):
    game, decision = kuhn_decision(card, "b")
    (finding,) = search_of(game, simulations=4000).search([decision])
    assert finding.values == pytest.approx([fold, call], abs=0.15)
    assert finding.scores.argmax() == (1 if call > fold else 0)


def test_the_luck_of_the_cards_is_common_to_all_candidates():
    """Whoever shows the higher card is better off on every single deal: one deal is enough to see it."""
    game = HighCard(num_players=3)
    rng = np.random.default_rng(1)
    states = game.deal(40, rng)
    players = game.current_player(states)
    known = game.information(states, players)
    leaf = AgentPlayouts(game, Shower(game))
    findings = search_of(game, leaf, simulations=2).search(make_search_decisions(game, known, players, 0))
    ranks = known["hands"][:, 0] // 4
    for finding, (first, second) in zip(findings, ranks, strict=True):
        lower = 0 if first < second else 1
        assert finding.values[1 - lower] >= finding.values[lower]


def test_the_budget_is_kept_and_spent():
    game = make_game("poker_squares")
    states = game.deal(1, np.random.default_rng(0))
    players = game.current_player(states)
    decisions = make_search_decisions(game, game.information(states, players), players, 0)
    for budget in (300, 1000, 5000):
        (finding,) = search_of(game, simulations=budget).search(decisions)
        assert 0.75 * budget <= finding.simulations <= budget
    (least,) = search_of(game, simulations=1).search(decisions)
    assert least.simulations == 25 + 13 + 7 + 4 + 2, "every candidate is tried once in every phase that it reaches"


def test_better_candidates_get_more_playouts():
    game = make_game("poker_squares")
    counts = Counter()

    class Counting:
        """Pays the number of the cell that was just taken: the last is best."""

        def __call__(self, states, players, rng):
            cells = (states["grid"] >= 0).argmax(axis=1)
            counts.update(cells.tolist())
            return cells[:, None].astype(np.float32)

    states = game.deal(1, np.random.default_rng(0))
    players = game.current_player(states)
    (finding,) = search_of(game, Counting(), simulations=1000).search(
        make_search_decisions(game, game.information(states, players), players, 0)
    )
    assert finding.scores.argmax() == 24
    assert finding.values[24] == 24
    assert counts[24] == counts[23] > 3 * counts[18] > 5 * counts[0] > 0
    assert [action for action in range(25) if np.isfinite(finding.scores[action])] == [23, 24]


def test_only_the_policys_best_are_candidates_and_its_own_values_count():
    game = make_game("poker_squares")
    states = game.deal(2, np.random.default_rng(0))
    players = game.current_player(states)
    decisions = make_search_decisions(game, game.information(states, players), players, 0)

    def estimates(info_states, players):
        return np.tile(np.arange(25, dtype=np.float32), (len(players), 1))

    search = search_of(game, estimates=estimates, candidates=3, raw_weight=1.0, simulations=60)
    for finding in search.search(decisions):
        assert np.flatnonzero(np.isfinite(finding.values)).tolist() == [22, 23, 24]
        assert finding.scores.argmax() == 24, "with all the weight on the raw estimates they decide"


def test_threads_change_nothing():
    game = make_game("five_o")
    states = game.deal(2, np.random.default_rng(0))
    players = game.current_player(states)
    decisions = make_search_decisions(game, game.information(states, players), players, 0)
    alone = search_of(game, simulations=8000).search(decisions)
    together = search_of(game, simulations=8000, threads=3).search(decisions)
    for one, other in zip(alone, together, strict=True):
        assert np.array_equal(one.values, other.values)


@pytest.mark.parametrize(("raw_playouts", "chosen"), [(1.0, 1), (1e6, 0)])
def test_few_playouts_leave_the_choice_to_the_policy(raw_playouts, chosen):
    """The policy folds the highest card, and playouts call with it."""
    game, decision = kuhn_decision(2, "b")

    def estimates(info_states, players):
        return np.array([[0.0, -1.0]], dtype=np.float32)

    (finding,) = search_of(game, estimates=estimates, raw_playouts=raw_playouts, simulations=400).search([decision])
    assert finding.scores.argmax() == chosen
