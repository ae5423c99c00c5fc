"""Policies that learn from the search around them."""

import numpy as np
import pytest
import torch

import cardlab
from cardlab.agents.network_agents import AfterstateAgent
from cardlab.agents.policy_descriptions import policy_digest
from cardlab.agents.policy_files import describe, save_policy
from cardlab.agents.registry import load_agent
from cardlab.agents.search.online_learning import OnlineLearner
from cardlab.agents.search.search_io import SearchResult
from cardlab.core.messages import InvalidOption
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.seating import make_lineup
from cardlab.games.loop import play_out
from cardlab.games.make_game import make_game
from cardlab.networks.lines_options import LinesOptions
from plays import PLAYS
from search_positions import positions

GAME = make_game("poker_squares")
OPTIONS = LinesOptions(line_widths=(8,), context_widths=(8,))


def fresh_agent(seed=0):
    torch.manual_seed(seed)
    return AfterstateAgent(GAME, OPTIONS.build(GAME.spec), 0.0, 20.0)


@pytest.fixture
def policy(tmp_path):
    agent = fresh_agent()
    save_policy(tmp_path, describe(GAME, OPTIONS, PLAYS["afterstate"], {"reward_scale": 20.0}), agent.network)
    return str(tmp_path)


def findings_of(values, simulations=9):
    return [SearchResult(row, row, simulations, ((1,),)) for row in values]


def test_it_comes_to_expect_what_the_search_found():
    agent = fresh_agent()
    info_states, players = positions(GAME, 5, skip=6)
    legal = GAME.legal_actions(info_states)
    found = np.where(legal, np.random.default_rng(1).normal(90, 5, legal.shape), -np.inf)
    pupil = OnlineLearner(agent, 0.02)
    before = np.abs(agent.action_values(info_states, players)[legal] - found[legal]).mean()
    for _ in range(200):
        assert pupil.learn(info_states, players, findings_of(found)) == legal.sum()
    assert np.abs(agent.action_values(info_states, players)[legal] - found[legal]).mean() < before / 4


def test_what_was_not_searched_teaches_nothing():
    agent = fresh_agent()
    info_states, players = positions(GAME, 3)
    weights = {name: tensor.clone() for name, tensor in agent.network.state_dict().items()}
    values = np.where(GAME.legal_actions(info_states), 50.0, -np.inf)
    assert OnlineLearner(agent, 0.1).learn(info_states, players, findings_of(values, simulations=0)) == 0
    assert all(torch.equal(tensor, weights[name]) for name, tensor in agent.network.state_dict().items())


def test_a_search_that_learns_plays_whole_games_and_changes_its_policy(policy):
    searcher = load_agent(GAME, f"tree_search:policy:{policy}:simulations:40:rollout:random:learn:0.01")
    constant = load_agent(GAME, f"tree_search:policy:{policy}:simulations:40:rollout:random")
    info_states, players = positions(GAME, 2, skip=3)
    rng = np.random.default_rng(0)
    first = searcher.action_values(info_states, players)
    assert np.array_equal(first, constant.action_values(info_states, players))
    play_out(GAME, GAME.deal(2, rng), [searcher], rng)
    raw = searcher._online_learner.agent.action_values(info_states, players)
    assert not np.array_equal(raw, load_agent(GAME, policy).action_values(info_states, players))


@pytest.mark.parametrize("text", ["monte_carlo:learn:0.1", "monte_carlo:policy:tables:learn:0.1"])
def test_only_networks_that_value_afterstates_learn(text):
    with pytest.raises(InvalidOption, match=r"search\.learn"):
        load_agent(GAME, text)


def test_a_match_keeps_the_policy_that_learned(policy, tmp_path):
    """In one process, whatever the number of cores, so that the same match gives the same policy."""
    learned = tmp_path / "learned"
    text = f"tree_search:policy:{policy}:simulations:40:rollout:random:learn:0.01:learned_policy:{learned}"
    scores = cardlab.play_match(GAME, [text], 4).mean
    info_states, players = positions(GAME, 2, skip=3)
    first, kept = (load_agent(GAME, folder).action_values(info_states, players) for folder in (policy, learned))
    legal = np.isfinite(first)
    assert not np.allclose(first[legal], kept[legal])
    assert cardlab.play_match(GAME, [text.replace(str(learned), str(tmp_path / "again"))], 4).mean == scores
    assert policy_digest(tmp_path / "again") == policy_digest(learned)
    assert np.isfinite(cardlab.play_match(GAME, [str(learned)], 4).mean).all()
    with pytest.raises(InvalidOption, match=r"search\.learned_policy=.*: must be a new or an empty folder"):
        load_agent(GAME, text)
    with pytest.raises(InvalidOption, match=r"search\.learned_policy=.*: must be left out unless search\.learn is"):
        load_agent(GAME, text.replace(":learn:0.01", ""))
    assert ArenaOptions(deals=10_000).workers_of([make_lineup(GAME, [text])]) == 1
    with pytest.raises(InvalidOption, match=r"arena\.processes=2: must be 1 where an agent learns"):
        cardlab.play_match(GAME, [text.partition(":learned_policy")[0]], 4, processes=2)
