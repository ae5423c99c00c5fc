"""Policies as folders: the same bytes, the same play, and one clear line for whatever is not one."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from cardlab.agents.network_agents import SoftmaxAgent
from cardlab.agents.policy_descriptions import PolicyError, policy_digest, policy_game
from cardlab.agents.policy_files import describe, load_network, load_policy, save_policy, save_weights
from cardlab.agents.registry import load_agent
from cardlab.core.messages import InvalidOption
from cardlab.games.make_game import make_game
from cardlab.networks.actions_options import ActionsOptions
from cardlab.networks.lines_options import LinesOptions
from cardlab.networks.mlp_options import MLPOptions
from cardlab.networks.proto_action_options import ProtoActionOptions
from plays import PLAYS
from small_games.kuhn import Kuhn

NETWORKS = [
    MLPOptions(widths=(8,)),
    MLPOptions(widths=(8, 4), activation="gelu", layer_norm=True, separate_critic=True),
    ActionsOptions((8,), (8,), (4,)),
    ProtoActionOptions(2, 4, (8,), (8,), (4,)),
]


def write(folder, game, options=NETWORKS[0], plays="softmax", seed=0):
    torch.manual_seed(seed)
    network = options.build(game.spec)
    save_policy(folder, describe(game, options, PLAYS[plays], {"reward_scale": 2.0}), network)
    return network.eval()


@pytest.mark.parametrize("options", [*NETWORKS, LinesOptions((8,), (4,))])
@pytest.mark.parametrize("plays", ["softmax", "action_value", "afterstate"])
def test_a_loaded_policy_plays_as_the_saved_one(options, plays, tmp_path):
    game = make_game("poker_squares")
    write(tmp_path / "a", game, options, plays)
    write(tmp_path / "b", game, options, plays)
    assert policy_digest(tmp_path / "a") == policy_digest(tmp_path / "b")
    one, other = load_policy(game, tmp_path / "a"), load_agent(game, str(tmp_path / "b"))
    rng = np.random.default_rng(0)
    players = np.zeros(5, dtype=np.int8)
    known = game.information(game.deal(5, rng), players)
    actions = [agent.act(known, players, np.random.default_rng(1)) for agent in (one, other)]
    assert np.array_equal(*actions)
    log_probabilities, values = one.evaluate(known, players)
    assert np.exp(log_probabilities).sum(axis=1) == pytest.approx(np.ones(5), abs=1e-5)
    assert values.shape == (5,)


def test_values_are_in_payoffs(tmp_path):
    game = Kuhn()
    network = write(tmp_path, game)
    players = np.zeros(1, dtype=np.int8)
    known = game.information(game.deal(1, np.random.default_rng(0)), players)
    plain = SoftmaxAgent(game, network).evaluate(known, players)[1]
    assert load_policy(game, tmp_path).evaluate(known, players)[1] == pytest.approx(2.0 * plain)


def test_the_game_of_a_policy_comes_with_it(tmp_path):
    game = make_game("thirty_one", features="paper", num_players=4)
    write(tmp_path, game)
    assert policy_game(tmp_path, num_players=4) == game


def test_another_games_policy_is_refused(tmp_path):
    write(tmp_path, make_game("poker_squares"))
    with pytest.raises(PolicyError, match=r"trained for game=poker_squares, the game has game=thirty_one"):
        load_policy(make_game("thirty_one"), tmp_path)
    with pytest.raises(PolicyError, match="features=lines, the game has features=paper"):
        load_policy(make_game("poker_squares", features="paper"), tmp_path)


def test_an_agent_sees_the_game_by_the_features_it_was_trained_on(tmp_path):
    seed = make_game("poker_squares", features="paper")
    write(tmp_path, seed, plays="action_value")
    players = np.zeros(5, dtype=np.int8)
    known = seed.information(seed.deal(5, np.random.default_rng(0)), players)
    actions = [load_agent(game, str(tmp_path)).act(known, players, None) for game in (seed, make_game("poker_squares"))]
    assert np.array_equal(*actions)
    with pytest.raises(PolicyError, match="scoring=american, the game has scoring=british"):
        load_agent(make_game("poker_squares", scoring="british"), str(tmp_path))


def test_a_policy_older_than_the_option_saw_what_is_its_default(tmp_path):
    game = make_game("open_face")
    write(tmp_path, game)
    description = json.loads((tmp_path / "policy.json").read_text())
    del description["game"]["features"]
    (tmp_path / "policy.json").write_text(json.dumps(description))
    for table in (game, make_game("open_face", features="paper")):
        assert load_agent(table, str(tmp_path)).game == game


def described(**changes):
    """What spoils a policy: these entries of its policy.json."""

    def spoil(folder: Path) -> None:
        description = folder / "policy.json"
        description.write_text(json.dumps({**json.loads(description.read_text()), **changes}))

    return spoil


def changed(part: str, **changes):
    """What spoils one part of a policy's policy.json."""

    def spoil(folder: Path) -> None:
        content = json.loads((folder / "policy.json").read_text())
        content[part] |= changes
        (folder / "policy.json").write_text(json.dumps(content))

    return spoil


def file_of(name: str, content: bytes):
    return lambda folder: (folder / name).write_bytes(content)


def cut(folder: Path) -> None:
    weights = folder / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])


def exchange(folder: Path) -> None:
    write(folder.parent / "other", Kuhn(), MLPOptions(widths=(16,)))
    (folder.parent / "other" / "weights.safetensors").replace(folder / "weights.safetensors")


def lose(name: str):
    return lambda folder: (folder / name).unlink()


def weights_with(change):
    def spoil(folder: Path) -> None:
        network = load_network(Kuhn(), folder)
        with torch.no_grad():
            network = change(network)
        save_weights(network, folder / "weights.safetensors")

    return spoil


def fill(number: float):
    def change(network):
        next(network.parameters())[0] = number
        return network

    return change


SPOILT = {
    "NaN in the weights": weights_with(fill(math.nan)),
    "infinity in the weights": weights_with(fill(-math.inf)),
    "weights of another type": weights_with(lambda network: network.half()),
    "no weights": lose("weights.safetensors"),
    "torn weights": cut,
    "other weights": exchange,
    "no description": lose("policy.json"),
    "empty": file_of("policy.json", b""),
    "no json": file_of("policy.json", b"{"),
    "no object": file_of("policy.json", b"[1]"),
    "no text": file_of("policy.json", b"\xff\xfe\x00"),
    "deep": file_of("policy.json", 100_000 * b"["),
    "long number": file_of("policy.json", b'{"format": ' + 5000 * b"9" + b"}"),
    "older format": described(format=0),
    "format of another kind": described(format=[1]),
    "unknown key": described(extra=1),
    "another game": changed("game", name="chess"),
    "no name of a game": described(game={"_target_": "cardlab.games.big2.game.Big2"}),
    "game of another kind": described(game=["kuhn"]),
    "game options of another kind": described(game=[1]),
    "code of elsewhere": changed("network", _target_="os.system"),
    "code that cardlab imports": changed("network", _target_="cardlab.core.files.os.system"),
    "no network": changed("network", _target_="cardlab.core.files.load_json"),
    "network of another kind": changed("network", _target_={"name": "mlp"}),
    "network options of another kind": described(network="wide"),
    "unknown network option": changed("network", depth=3),
    "network option of another kind": changed("network", widths="wide"),
    "network option of a third kind": changed("network", widths=None),
    "unknown agent": changed("policy", _target_="cardlab.agents.network_agents.Eval"),
    "no agent": changed("policy", _target_="cardlab.core.files.load_json"),
    "agent of another kind": described(policy=3),
    "agent's options of another kind": described(policy=[2.0]),
    "unknown option of the agent": changed("policy", epsilom=0.1),
    "option of the agent of another kind": changed("policy", reward_scale="large"),
    "reward_scale NaN": changed("policy", reward_scale=math.nan),
    "reward_scale infinite": changed("policy", reward_scale=math.inf),
    "reward_scale zero": changed("policy", reward_scale=0.0),
}


@pytest.mark.parametrize("how", SPOILT)
def test_a_spoilt_policy_is_one_clear_line(how, tmp_path):
    folder = tmp_path / "policy"
    write(folder, Kuhn())
    SPOILT[how](folder)
    with pytest.raises(PolicyError) as caught:
        load_policy(Kuhn(), folder)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "spoil",
    [changed("game", _target_="cardlab.games.Chess"), changed("game", num_players="many"), changed("game", a=1)],
)
def test_a_policy_of_no_game_is_one_clear_line(spoil, tmp_path):
    write(tmp_path, make_game("thirty_one"))
    spoil(tmp_path)
    with pytest.raises(PolicyError, match=r"policy\.json: .*") as caught:
        policy_game(tmp_path)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("text", ["nobody", "no/such/folder", "threshold:level", "random:level:3", "champion"])
def test_an_agent_that_is_none_is_one_clear_line(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("cardlab.agents.specs._PACKAGE", tmp_path / "src" / "cardlab")  # no champion comes with it
    with pytest.raises(InvalidOption) as caught:
        load_agent(make_game("thirty_one"), text)
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)
