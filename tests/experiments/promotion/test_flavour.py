"""What MLflow itself loads plays as the policy does."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from cardlab.agents.mlflow_model import load_model_folder
from cardlab.agents.policy_descriptions import PolicyError
from cardlab.agents.policy_files import describe, save_policy
from cardlab.agents.registry import load_agent
from cardlab.games.make_game import game_data, make_game
from cardlab.games.protocol import Game
from cardlab.networks.actions_options import ActionsOptions
from cardlab.networks.mlp_options import MLPOptions
from cardlab.tracking import Store
from cardlab.tracking.registry import Registry
from plays import PLAYS


def situations(game: Game) -> tuple[Any, Any, dict[str, Any]]:
    players = np.zeros(20, dtype=np.int8)
    known = game.information(game.deal(20, np.random.default_rng(0)), players)
    return known, players, {"info_states": known.view(np.uint8).reshape(20, -1), "players": players}


def test_pyfunc_plays_as_the_policy(
    store: Store, root: Path, untrained: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    policy, game = untrained("squares"), make_game("poker_squares")
    registry = Registry(store)
    with store.start_run("poker_squares", "squares") as run:
        pass
    made = registry.register(policy, game_data(game), run_id=run.id, card="# card", tags={"a": 1})
    registry.set_champion(made)
    import mlflow  # noqa: PLC0415  after the store has set its environment

    monkeypatch.setenv("MLFLOW_TRACKING_URI", store.address)
    model = mlflow.pyfunc.load_model("models:/cardlab-poker_squares@champion")
    known, players, data = situations(game)
    expected = load_agent(game, str(policy)).act(known, players, np.random.default_rng(0))
    assert np.array_equal(model.predict(data), expected)
    as_json = json.loads(json.dumps({key: value.tolist() for key, value in data.items()}))
    assert np.array_equal(model.predict(as_json), expected)
    seen = {"observations": game.observe(known, players), "legal": game.legal_actions(known)}
    assert np.array_equal(model.predict(seen), expected)
    files = {path.name for path in (root / "mlartifacts").rglob("*") if path.is_file()}
    assert files >= {"MLmodel", "model_card.md", "policy.json", "weights.safetensors"}
    assert not [name for name in files if name.endswith((".pkl", ".pth"))], "no pickle"


def test_a_seed_makes_a_drawn_action_the_same(tmp_path: Path) -> None:
    game = make_game("poker_squares")
    options = ActionsOptions((8,), (8,), (4,))
    torch.manual_seed(0)
    save_policy(tmp_path, describe(game, options, PLAYS["softmax"], {}), options.build(game.spec))
    model = load_model_folder(tmp_path)
    data = situations(game)[2]
    assert np.array_equal(model.predict({**data, "seed": 3}), model.predict({**data, "seed": 3}))
    assert any(not np.array_equal(model.predict(data), model.predict(data)) for _ in range(5))


@pytest.mark.usefixtures("root")
def test_inputs_that_do_not_fit_are_named(untrained: Callable[..., Path]) -> None:
    game = make_game("poker_squares")
    model = load_model_folder(untrained("squares"))
    known, players, data = situations(game)
    observed, legal = game.observe(known, players), game.legal_actions(known)
    wanted = data["info_states"].shape[1]
    for wrong, said in [
        ({"cards": [1]}, r"got \['cards'\]"),
        ({**data, "players": [[0]]}, r"^players: shape \[1, 1\]: must be \[N\]$"),
        ({"info_states": [[1, 2]], "players": [0]}, rf"^info_states: shape \[1, 2\]: must be \[N, {wanted}\]$"),
        ({**data, "players": [300] * len(players)}, "^players: must be an array of int8"),
        ({**data, "players": np.full(len(players), 0.5)}, "^players: must be an array of int8: it has other values"),
        ({**data, "players": np.ones(len(players))}, "^players: must be 0 to 0"),
        ({**data, "seed": -1}, "^seed: got -1: must be a whole number of at least 0"),
        ({**data, "seed": "x"}, "^seed: got 'x': must be a whole number"),
        ({"observations": observed, "legal": legal * np.nan}, "^legal: must be an array of bool: it has other values"),
        ({"info_states": [["x"]], "players": players}, "^info_states: must be an array of uint8"),
        (observed, "^predict: got ndarray: must be a dictionary of arrays"),
        ({"observations": observed * np.nan, "legal": legal}, "^observations: must be finite numbers"),
        ({"observations": observed, "legal": legal & False}, r"^legal\[0\]: must have a legal action"),
        ({"observations": observed, "legal": legal[:1]}, "^predict: got [0-9]+ of observations and 1 of legal"),
    ]:
        with pytest.raises(PolicyError, match=said):
            model.predict(wrong)


@pytest.mark.parametrize("option", ["opening_list", "whole_opening"])
def test_a_policy_that_opens_by_a_rule_wants_info_states(tmp_path: Path, option: str) -> None:
    game = make_game("open_face")
    network = MLPOptions(widths=(8,))
    save_policy(tmp_path, describe(game, network, PLAYS["action_value"], {option: True}), network.build(game.spec))
    known, players, _ = situations(game)
    with pytest.raises(PolicyError, match=r"^observations: this policy needs other inputs"):
        load_model_folder(tmp_path).predict(
            {"observations": game.observe(known, players), "legal": game.legal_actions(known)}
        )


def test_a_network_that_reads_actions_wants_info_states(tmp_path: Path) -> None:
    game = make_game("poker_squares")
    options = ActionsOptions((8,), (8,), (4,))
    save_policy(tmp_path, describe(game, options, PLAYS["action_value"], {}), options.build(game.spec))
    known, players, _ = situations(game)
    with pytest.raises(PolicyError, match=r"^observations: this policy needs other inputs"):
        load_model_folder(tmp_path).predict(
            {"observations": game.observe(known, players), "legal": game.legal_actions(known)}
        )
