"""Policies as folders: the same bytes, the same play, and one clear line for whatever is not one."""

import json
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch

from cardlab.agents.network_agents import SoftmaxAgent
from cardlab.agents.network_files import save_weights
from cardlab.agents.policy_descriptions import PolicyError, policy_digest, policy_game
from cardlab.agents.policy_files import describe, load_network, load_policy, save_policy
from cardlab.agents.registry import load_agent
from cardlab.core.options import InvalidOption
from cardlab.games.catalogue import make_game
from cardlab.networks.options import ActionsOptions, LinesOptions, MLPOptions, ProtoActionOptions
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
    save_policy(folder, describe(game, options, plays, {"reward_scale": 2.0}), network)
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
    del description["game_options"]["features"]
    (tmp_path / "policy.json").write_text(json.dumps(description))
    for table in (game, make_game("open_face", features="paper")):
        assert load_agent(table, str(tmp_path)).game == game


def described(**changes):
    """What spoils a policy: these entries of its policy.json."""

    def spoil(folder: Path) -> None:
        description = folder / "policy.json"
        description.write_text(json.dumps({**json.loads(description.read_text()), **changes}))

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
    "another game": described(game="chess"),
    "game of another kind": described(game=["kuhn"]),
    "game options of another kind": described(game_options=[1]),
    "unknown network": described(network="os.system"),
    "network of another kind": described(network={"name": "mlp"}),
    "network options of another kind": described(network_options="wide"),
    "unknown network option": described(network_options={"depth": 3}),
    "network option of another kind": described(network_options={"widths": "wide"}),
    "network option of a third kind": described(network_options={"widths": None}),
    "unknown play": described(plays="eval"),
    "play of another kind": described(plays=3),
    "play options of another kind": described(policy_options=[2.0]),
    "unknown play option": described(policy_options={"epsilom": 0.1}),
    "play option of another kind": described(policy_options={"reward_scale": "large"}),
    "reward_scale NaN": described(policy_options={"reward_scale": math.nan}),
    "reward_scale infinite": described(policy_options={"reward_scale": math.inf}),
    "reward_scale zero": described(policy_options={"reward_scale": 0.0}),
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
    [described(game="chess"), described(game_options={"num_players": "many"}), described(game_options={"a": 1})],
)
def test_a_policy_of_no_game_is_one_clear_line(spoil, tmp_path):
    write(tmp_path, make_game("thirty_one"))
    spoil(tmp_path)
    with pytest.raises(PolicyError, match=r"policy\.json: game") as caught:
        policy_game(tmp_path)
    assert str(tmp_path) in str(caught.value)


def test_a_pickle_bomb_is_not_run(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "exploded",))

    folder = tmp_path / "policy"
    write(folder, Kuhn())
    (folder / "weights.safetensors").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(PolicyError):
        load_policy(Kuhn(), folder)
    torch.save(Bomb(), folder / "weights.safetensors")
    with pytest.raises(PolicyError):
        load_policy(Kuhn(), folder)
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize("text", ["nobody", "no/such/folder", "threshold:level", "random:level:3", "champion"])
def test_an_agent_that_is_none_is_one_clear_line(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "cardlab.agents.policy_paths._PACKAGE", tmp_path / "src" / "cardlab"
    )  # no champion comes with it
    with pytest.raises(InvalidOption) as caught:
        load_agent(make_game("thirty_one"), text)
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)
