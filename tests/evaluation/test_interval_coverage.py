"""How often the 95 % interval holds the truth: 400 fixed seeds of 200 deals each, random against random."""

import numpy as np
import pytest

from cardlab.agents.exploration import RandomAgent
from cardlab.evaluation.match import play_match
from cardlab.evaluation.options import ArenaOptions
from small_games.high_card import HighCard
from small_games.paired import play_paired

SEEDS = range(400)
DEALS = 200


def coverage(estimates, truth=0.0):
    return np.mean([estimate.low <= truth <= estimate.high for estimate in estimates])


@pytest.mark.parametrize("num_players", [2, 4])
def test_plain(num_players):
    game = HighCard(num_players)
    matches = [play_match(game, ["random"] * num_players, DEALS, seed) for seed in SEEDS]
    assert 0.92 <= coverage([match.points for match in matches]) <= 0.98
    assert 0.92 <= coverage([match.wins for match in matches], 1 / num_players) <= 0.98


def test_paired():
    game = HighCard(2)
    agents = RandomAgent(game), RandomAgent(game)
    options = [ArenaOptions(deals=DEALS, seed=seed) for seed in SEEDS]
    played = [play_paired(game, agents, ["random"], option) for option in options]
    assert 0.92 <= coverage([difference for _, _, difference in played]) <= 0.98


def test_sequential():
    """Looks every 10 deals; the width asked for is reached at very different deals, mostly before the last."""
    game = HighCard(2)
    matches = [play_match(game, ["random", "random"], DEALS, seed, chunk=10, until=0.085) for seed in SEEDS]
    stops = np.array([match.num_deals for match in matches])
    assert np.mean(stops < DEALS) > 0.5
    assert len(set(stops.tolist())) > 3
    assert 0.92 <= coverage([match.points for match in matches]) <= 0.98


def test_paired_and_sequential():
    game = HighCard(2)
    agents = RandomAgent(game), RandomAgent(game)
    options = [ArenaOptions(deals=DEALS, seed=seed, chunk=10, until=0.15) for seed in SEEDS]
    played = [play_paired(game, agents, ["random"], option) for option in options]
    stops = np.array([first.num_deals for first, _, _ in played])
    assert np.mean(stops < DEALS) > 0.5
    assert 0.92 <= coverage([difference for _, _, difference in played]) <= 0.98
