"""Beliefs as folders, the weights that they give, and the agents that deal by them."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from cardlab.agents.beliefs import Belief, load_belief, save_belief
from cardlab.agents.policy_descriptions import PolicyError
from cardlab.agents.registry import load_agent
from cardlab.core.messages import InvalidOption
from cardlab.games.agent_protocol import Agent
from cardlab.games.loop import play
from cardlab.games.make_game import make_game
from cardlab.games.record_arrays import take
from cardlab.networks.belief_options import BeliefOptions

FULL = make_game("big2", features="full")
GAME = make_game("big2")
OPTIONS = BeliefOptions(widths=(16,))


@pytest.fixture
def folder(tmp_path):
    torch.manual_seed(0)
    network = OPTIONS.build(FULL.spec)
    with torch.no_grad():
        network.head.weight.mul_(50)  # far from uniform
    save_belief(tmp_path, FULL, OPTIONS, network)
    return tmp_path


def late_decisions(cards_left):
    """Decisions with at most so many cards left, and who decides."""
    rng = np.random.default_rng(0)
    states = GAME.deal(12, rng)
    for moves in play(GAME, states, [load_agent(GAME, "random")], rng):
        here = np.flatnonzero(moves.queried & (moves.info_states["counts"].sum(axis=1) <= cards_left))
        if here.size >= 3:
            return take(moves.info_states, here), moves.players[here]
    raise AssertionError("no such decisions")


def test_a_folder_gives_back_its_belief(folder):
    belief = load_belief(GAME, folder)  # by another observation than the game's own
    info_states, players = late_decisions(30)
    weights = belief.weights(info_states, players)
    assert weights.shape == (len(players), 4, 52)
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-5)
    assert (weights[np.arange(len(players)), players] == 0).all()
    assert weights.std(axis=1).max() > 0.1
    again = Belief(FULL, belief.network).weights(info_states, players)
    np.testing.assert_array_equal(weights, again)


def test_shares_stand_by_seats_on_from_the_player(folder):
    belief = load_belief(GAME, folder)
    info_states, players = late_decisions(30)
    with torch.inference_mode():
        scores = belief.network(torch.from_numpy(FULL.observe(info_states, players)))
    shares = scores.softmax(dim=1).numpy()
    weights = belief.weights(info_states, players)
    for row, player in enumerate(players.tolist()):
        for seat in range(3):
            np.testing.assert_allclose(weights[row, (player + seat + 1) % 4], shares[row, seat], rtol=1e-5)


def test_deals_are_consistent_and_copies_are_looked_at_once(folder):
    belief = load_belief(GAME, folder)
    info_states, players = late_decisions(30)
    copies, owners = take(info_states, np.zeros(50, dtype=np.intp)), np.repeat(players[:1], 50)
    states = belief.determinize(copies, owners, np.random.default_rng(1))
    assert GAME.information(states, owners).tobytes() == copies.tobytes()
    weights = np.repeat(belief.weights(info_states[:1], players[:1]), 50, axis=0)
    assert states.tobytes() == FULL.determinize(copies, owners, np.random.default_rng(1), weights).tobytes()


MLP = "cardlab.networks.mlp_options.MLPOptions"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 9}, "format 9"),
        ({"game": {"name": "five_o"}}, "trained for game=five_o"),
        ({"network": {"_target_": MLP}}, f"network={MLP}: must be "),
        ({"game": [1]}, r"belief\.json: is not a belief's description"),
        ({"network": "wide"}, r"belief\.json: is not a belief's description"),
        ({"network": {"widths": None}}, "are not the weights of this network"),
        ({"network": {"widths": [8]}}, "are not the weights of this network"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(folder, change, message):
    path = folder / "belief.json"
    content = json.loads(path.read_text())
    for key, value in change.items():
        content[key] = {**content[key], **value} if isinstance(value, dict) else value
    path.write_text(json.dumps(content))
    with pytest.raises(PolicyError, match=message) as refusal:
        load_belief(GAME, folder)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\xfe", 100_000 * b"["])
def test_a_spoilt_belief_is_named(folder, content):
    (folder / "belief.json").write_bytes(content)
    with pytest.raises(PolicyError, match=r"belief\.json: is not a belief's description"):
        load_belief(GAME, folder)


def test_other_rules_and_other_folders_are_refused(folder, tmp_path):
    with pytest.raises(PolicyError, match="penalty=plain, the game has penalty=doubled"):
        load_belief(replace(GAME, penalty="doubled"), folder)
    with pytest.raises(PolicyError, match="is not a belief's folder"):
        load_belief(GAME, tmp_path / "nowhere")


@pytest.mark.parametrize(
    "text",
    [
        "monte_carlo:simulations:40",
        "tree:simulations:16",
        "expectimax:decks:2:depth:1",
        pytest.param("endgame:policy:planner:samples:4", marks=pytest.mark.slow),
        "monte_carlo:simulations:40:endgame:true",
    ],
)
def test_searches_deal_by_a_belief(folder, text):
    agent = load_agent(GAME, f"{text}:belief:{folder}")
    assert isinstance(agent, Agent)
    info_states, players = late_decisions(14)
    actions = agent.act(info_states, players, np.random.default_rng(0))
    assert GAME.legal_actions(info_states)[np.arange(len(players)), actions].all()
    again = load_agent(GAME, f"{text}:belief:{folder}").act(info_states, players, np.random.default_rng(5))
    assert actions.tolist() == again.tolist()


def test_the_endgame_agent_plays_as_its_policy_before():
    agent, policy = load_agent(GAME, "endgame:policy:greedy"), load_agent(GAME, "greedy")
    rng = np.random.default_rng(0)
    states = GAME.deal(30, rng)
    for _ in range(6):
        moves = next(play(GAME, states, [agent], rng))
        actions = policy.act(moves.info_states, moves.players, rng)
        early = moves.info_states["counts"].sum(axis=1) > 14
        assert (actions[early & moves.queried] == moves.actions[early & moves.queried]).all()


@pytest.mark.parametrize(
    ("game", "text", "message"),
    [
        ("big2", "endgame", "endgame.policy=null: must be"),
        ("thirty_one", "endgame:policy:random", "thirty_one has no endgames"),
        ("big2", "endgame:policy:random:samples:0", "endgame.samples=0"),
        ("big2", "endgame:policy:3", "agent.policy=3: must be text"),
        ("big2", "endgame:policy:random:sample:3", "endgame with options policy, samples, belief, seed"),
    ],
)
def test_endgame_agents_that_cannot_be(game, text, message):
    with pytest.raises(InvalidOption, match=message):
        load_agent(make_game(game), text)
