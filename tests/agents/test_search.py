"""Search agents: moves that are a function of position and seed alone, budgets, names and what is refused."""

import pickle
import time

import numpy as np
import pytest
import torch

from cardlab.agents import search_agent
from cardlab.agents.policy_files import describe, save_policy
from cardlab.agents.registry import load_agent
from cardlab.agents.search.options import MonteCarloOptions, NoSearch, search_text
from cardlab.agents.search_agent import SearchAgent
from cardlab.agents.specs import SEARCHES, split_name
from cardlab.core.messages import InvalidOption
from cardlab.games.agent_protocol import agent_text
from cardlab.games.budgets import TimeBudget
from cardlab.games.make_game import make_game
from cardlab.games.record_arrays import take
from cardlab.networks.mlp_options import MLPOptions
from games.variants import VARIANTS
from plays import PLAYS
from search_positions import positions

SMALL = {
    "monte_carlo": "monte_carlo:simulations:60",
    "monte_carlo by agents": "monte_carlo:simulations:40:rollout:random",
    "expectimax": "expectimax:depth:2:decks:3",
    "expectimax mean": "expectimax:depth:1:decks:4:choose:mean",
    "tree": "tree:simulations:24",
    "tree limited": "tree:simulations:24:depth:2:batch:3",
}


@pytest.mark.parametrize("text", SMALL.values(), ids=SMALL)
@pytest.mark.parametrize("name", ["five_o", "thirty_one", "poker_squares", "big2"])
def test_what_stands_beside_a_decision_changes_nothing(name, text):
    game = make_game(name)
    agent = load_agent(game, text)
    info_states, players = positions(game, 4, skip=12)
    together = agent.act(info_states, players, np.random.default_rng(0))
    legal = game.legal_actions(info_states)
    assert legal[np.arange(4), together].all()
    order = np.array([2, 0, 3, 1])
    shuffled = agent.act(take(info_states, order), players[order], np.random.default_rng(5))
    assert shuffled.tolist() == together[order].tolist()
    for row in range(4):
        alone = load_agent(game, text).act(info_states[row : row + 1], players[row : row + 1], np.random.default_rng(1))
        assert alone[0] == together[row]


@pytest.mark.parametrize("name", sorted(VARIANTS))
@pytest.mark.parametrize("search", SEARCHES)
def test_every_search_plays_every_game(name, search, tmp_path):
    game = make_game(name)
    given = {"policy": _policy(game, tmp_path)} if search == "puct" else {}
    budget = {"decks": 2, "depth": 1} if search == "expectimax" else {"simulations": 6}
    agent = load_agent(game, search, **given, **budget)
    info_states, players = positions(game, 3)
    actions = agent.act(info_states, players, np.random.default_rng(0))
    assert game.legal_actions(info_states)[np.arange(3), actions].all()
    values = agent.action_values(info_states, players)
    assert np.isfinite(values[np.arange(3), actions]).all()


def _policy(game, folder, plays="softmax"):
    torch.manual_seed(0)
    options = MLPOptions(widths=(8,))
    save_policy(folder, describe(game, options, PLAYS[plays], {}), options.build(game.spec))
    return str(folder)


@pytest.mark.parametrize("plays", ["softmax", "action_value", "afterstate"])
@pytest.mark.parametrize(
    "text",
    [
        "monte_carlo:simulations:50:candidates:3",
        "monte_carlo:simulations:50:leaf:value:depth:2",
        "expectimax:decks:2:depth:1:leaf:value",
        "tree:simulations:16:leaf:value",
        "puct:simulations:16:temperature:2",
        "puct:simulations:16:leaf:rollout",
    ],
)
def test_searches_around_a_trained_policy(plays, text, tmp_path):
    for name in ("thirty_one", "poker_squares"):
        game = make_game(name)
        folder = _policy(game, tmp_path / name, plays)
        agent = load_agent(game, folder, search=text)
        info_states, players = positions(game, 3, skip=3)
        first, again = (agent.act(info_states, players, np.random.default_rng(seed)) for seed in (0, 1))
        assert first.tolist() == again.tolist()
        assert game.legal_actions(info_states)[np.arange(3), first].all()


@pytest.mark.parametrize("text", ["monte_carlo:seconds:0.03", "tree:seconds:0.03", "expectimax:seconds:0.03:depth:3"])
def test_a_timed_move_is_found_again_by_its_effort(text):
    game = make_game("five_o")
    agent = load_agent(game, text)
    info_states, players = positions(game, 3, skip=5)
    actions = agent.act(info_states, players, np.random.default_rng(0))
    assert len(agent.efforts) == 3
    assert all(any(effort) for effort in agent.efforts)
    other = load_agent(game, text.replace("0.03", "60"))  # it would take a minute if it went by the clock
    again = other.search(info_states, players, agent.efforts)
    assert [finding.scores.argmax() for finding in again] == actions.tolist()
    assert [finding.effort for finding in again] == list(agent.efforts)


def test_more_time_is_more_thought():
    game = make_game("five_o")
    info_states, players = positions(game, 1, skip=5)
    short, long = (load_agent(game, f"monte_carlo:seconds:{seconds}") for seconds in (0.02, 0.2))
    started = time.process_time()
    few = min(short.search(info_states, players)[0].simulations for _ in range(3))
    many = max(long.search(info_states, players)[0].simulations for _ in range(3))  # other programs may take the time
    assert time.process_time() - started < 5
    assert many > 2 * few


def test_time_may_go_by_the_number_of_actions(monkeypatch):
    game, given = make_game("poker_squares"), []

    def budget(seconds, *others):
        given.append(seconds)
        return TimeBudget(0.001, *others)

    agent = load_agent(game, "tree_search:policy:[tables:games:100]:per_action:true:game_seconds:4.5")
    monkeypatch.setattr(search_agent, "TimeBudget", budget)
    for skip in range(24):
        agent.search(*positions(game, 1, skip=skip))
    assert given == pytest.approx([4.0 / 324 * free for free in range(25, 1, -1)])
    assert sum(given) == pytest.approx(4.0)


def test_a_time_that_is_too_short_is_told(caplog):
    game = make_game("five_o")
    load_agent(game, "monte_carlo:seconds:10")
    assert not caplog.records
    load_agent(game, "monte_carlo:seconds:1e-6")
    assert "search.seconds=1e-06: too short at the start of a game" in caplog.text
    assert "raw_playouts" not in caplog.text, "there is no policy that could decide"
    load_agent(make_game("poker_squares"), "monte_carlo:policy:[tables:games:100]:seconds:1e-6")
    assert "; with search.raw_playouts=20 the policy decides then" in caplog.text


def test_seeds_are_other_searches():
    game = make_game("five_o")
    info_states, players = positions(game, 6, skip=5)
    values = [load_agent(game, f"monte_carlo:seed:{seed}").action_values(info_states, players) for seed in (0, 1)]
    assert not np.array_equal(*values)


def test_agents_can_be_sent_to_other_processes(tmp_path):
    game = make_game("thirty_one")
    folder = _policy(game, tmp_path)
    info_states, players = positions(game, 2)
    for text in ("monte_carlo:simulations:20:threads:2", "puct:simulations:8", "monte_carlo:candidates:2"):
        agent = load_agent(game, folder, search=text)
        sent = pickle.loads(pickle.dumps(agent))
        moves = [one.act(info_states, players, np.random.default_rng(0)).tolist() for one in (agent, sent)]
        assert moves[0] == moves[1]


def test_texts_in_texts():
    name, options = split_name("monte_carlo:rollout:[threshold:level:30]:simulations:50")
    assert (name, options) == ("monte_carlo", {"rollout": "threshold:level:30", "simulations": 50})
    assert agent_text(name, options) == "monte_carlo:rollout:[threshold:level:30]:simulations:50"
    around = search_text("puct:simulations:5", "monte_carlo:rollout:[threshold:level:30]")
    assert split_name(around)[1]["policy"] == "monte_carlo:rollout:[threshold:level:30]"
    assert search_text(MonteCarloOptions(simulations=7), "greedy") == "monte_carlo:simulations:7:policy:greedy"
    assert search_text(NoSearch(), "models/x") == search_text("none", "models/x") == "models/x"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("monte_carlo:c_puct:2", r"search.c_puct=2: no such key; search takes policy, simulations, "),
        ("monte_carlo:simulations:0", r"search.simulations=0: must be a whole number of at least 1"),
        ("monte_carlo:simulations:many", r"search.simulations=many: must be a whole number"),
        ("tree:seconds:0", r"search.seconds=0: must be a number above 0"),
        ("tree:leaf:value", r"search.leaf=value: must be rollout where there is no search.policy"),
        ("monte_carlo:depth:3", r"search.depth=3: must be 0 with search.leaf=rollout"),
        ("monte_carlo:candidates:3", r"search.candidates=3: must be left out where there is no search.policy"),
        ("expectimax:choose:best", r"search.choose=best: must be one of votes, mean"),
        ("puct", r"search.policy=null: must be an agent with a prior, as in puct:policy:models/NAME"),
        ("puct:policy:greedy", r"search.policy=\w+: must be an agent with a prior and values: a trained policy"),
        ("monte_carlo:policy:nobody", r"agent=nobody: must be a policy's folder or address"),
        ("monte_carlo:policy:greedy:raw_weight:0.2", r"search.raw_weight=0.2: must be 0 for a policy without action"),
        (
            "monte_carlo:policy:greedy:raw_playouts:9.5",
            r"search.raw_playouts=9.5: must be 0 for a policy",
        ),
        ("monte_carlo:policy:greedy:raw_playouts:9:raw_weight:0.2", r"search.raw_playouts=9: must be 0 with search"),
        ("monte_carlo:per_action:true", r"search.per_action=true: must be false without search.seconds"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(text, message):
    with pytest.raises(InvalidOption, match=message):
        load_agent(make_game("thirty_one"), text)


def test_an_unknown_search_is_refused():
    with pytest.raises(InvalidOption, match="search=deep: must be one of none, monte_carlo"):
        load_agent(make_game("thirty_one"), "greedy", search="deep")


def test_options_are_made_into_agents():
    agent = SearchAgent(make_game("five_o"), MonteCarloOptions(simulations=20), load_agent)
    info_states, players = positions(agent.game, 2)
    assert agent.act(info_states, players, np.random.default_rng(0)).shape == (2,)


def test_options_are_those_of_the_searched_agent() -> None:
    game = make_game("thirty_one")
    with pytest.raises(InvalidOption, match=r"level=99"):
        load_agent(game, "threshold", level=99, search="monte_carlo:simulations:4")
    with pytest.raises(InvalidOption, match=r"^level=27: must be left out: champion is no scripted agent"):
        load_agent(game, "champion", level=27)
