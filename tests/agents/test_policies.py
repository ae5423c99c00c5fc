"""Policies as folders: the same bytes, the same play, and one clear line for whatever is not one."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch

from cardlab.agents.loading import load_agent
from cardlab.agents.network import SoftmaxAgent
from cardlab.agents.policies import PolicyError, describe, load_policy, policy_digest, policy_game, save_policy
from cardlab.games.catalogue import make_game
from cardlab.networks.actions import ActionsOptions
from cardlab.networks.lines import LinesOptions
from cardlab.networks.mlp import MLPOptions
from cardlab.options import InvalidOption
from small_games.kuhn import Kuhn

NETWORKS = [
    MLPOptions(widths=(8,)),
    MLPOptions(widths=(8, 4), activation="gelu", layer_norm=True, separate_critic=True),
    ActionsOptions((8,), (8,), (4,)),
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
    game = make_game("thirty_one", features="seed", num_players=4)
    write(tmp_path, game)
    assert policy_game(tmp_path, num_players=4) == game


def test_another_games_policy_is_refused(tmp_path):
    write(tmp_path, make_game("poker_squares"))
    with pytest.raises(PolicyError, match=r"trained for game=poker_squares, the game has game=thirty_one"):
        load_policy(make_game("thirty_one"), tmp_path)
    with pytest.raises(PolicyError, match="features=lines, the game has features=seed"):
        load_policy(make_game("poker_squares", features="seed"), tmp_path)


def test_an_agent_sees_the_game_by_the_features_it_was_trained_on(tmp_path):
    seed = make_game("poker_squares", features="seed")
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
    for table in (game, make_game("open_face", features="seed")):
        assert load_agent(table, str(tmp_path)).game == game


def spoil(folder: Path, how: str) -> None:
    description = folder / "policy.json"
    data = json.loads(description.read_text())
    weights = folder / "weights.safetensors"
    if how == "no weights":
        weights.unlink()
    elif how == "torn weights":
        weights.write_bytes(weights.read_bytes()[:100])
    elif how == "other weights":
        write(folder.parent / "other", Kuhn(), MLPOptions(widths=(16,)))
        weights.write_bytes((folder.parent / "other" / "weights.safetensors").read_bytes())
    elif how == "older format":
        description.write_text(json.dumps({**data, "format": 0}))
    elif how == "no json":
        description.write_text("{")
    elif how == "no object":
        description.write_text("[1]")
    elif how == "unknown key":
        description.write_text(json.dumps({**data, "extra": 1}))
    elif how == "unknown network":
        description.write_text(json.dumps({**data, "network": "os.system"}))
    elif how == "unknown play":
        description.write_text(json.dumps({**data, "plays": "eval"}))


@pytest.mark.parametrize(
    "how",
    [
        "no weights",
        "torn weights",
        "other weights",
        "older format",
        "no json",
        "no object",
        "unknown key",
        "unknown network",
        "unknown play",
    ],
)
def test_a_spoilt_policy_is_one_clear_line(how, tmp_path):
    folder = tmp_path / "policy"
    write(folder, Kuhn())
    spoil(folder, how)
    with pytest.raises(PolicyError) as caught:
        load_policy(Kuhn(), folder)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)


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
    monkeypatch.setattr("cardlab.agents.loading._PACKAGE", tmp_path / "src" / "cardlab")  # no champion comes with it
    with pytest.raises(InvalidOption) as caught:
        load_agent(make_game("thirty_one"), text)
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)
