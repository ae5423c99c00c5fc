"""A policy of a run as MLflow's own model: loaded, registered and found by MLflow's own calls."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cardlab.agents.policy_descriptions import policy_digest
from cardlab.games.make_game import game_data, make_game
from cardlab.tracking import Store
from cardlab.tracking.policy_models import DealsOf, PolicyToLog
from cardlab.tracking.registry import Registry
from stores import untrained_policy

GAME = game_data(make_game("poker_squares"))
DEALS = DealsOf(GAME, 50, 7)


def to_log(folder: Path) -> list[PolicyToLog]:
    snapshot = PolicyToLog(folder, "snapshot_5", GAME, {"decisions": "5"}, scored_at=5, deals=DEALS)
    return [snapshot, PolicyToLog(folder, "policy", GAME, {"decisions": "10"}, scored_at=10, deals=DEALS)]


def logged_run(store: Store, folder: Path) -> str:
    with store.start_run("poker_squares", "squares", tags={"kind": "training"}) as run:
        run.log_metrics({"score/mean": 1.0, "train/return": 2.0}, 5)
        run.log_metrics({"score/mean": 3.0, "train/return": 4.0}, 10)
        for policy in to_log(folder):
            run.log_policy(policy)
    assert run.complete
    return run.id


@pytest.mark.parametrize("breaks", ["", "log_outputs", "log_model_artifacts", "log_batch", "finalize_logged_model"])
def test_each_model_is_there_once_and_complete(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, breaks: str
) -> None:
    """Also where a process was killed after any of the calls: what it began is finished."""
    folder = untrained_policy(tmp_path / "squares")
    run = store.start_run("poker_squares", "squares", tags={"kind": "training"})
    run.log_metrics({"score/mean": 3.0}, 10)
    assert run.flush()
    if breaks:
        method = getattr(store.client, breaks)

        def killed(*given: Any, **named: Any) -> None:
            method(*given, **named)
            raise KeyboardInterrupt

        monkeypatch.setattr(store.client, breaks, killed)
        from cardlab.tracking.policy_models import log_policies  # noqa: PLC0415

        with pytest.raises(KeyboardInterrupt):
            log_policies(store.client, run.id, to_log(folder))
        monkeypatch.setattr(store.client, breaks, method)
    for policy in to_log(folder):
        run.log_policy(policy)
    run.finish()
    assert run.complete
    stored = store.client.get_run(run.id)
    models = store.client.search_logged_models([stored.info.experiment_id])
    assert sorted((model.name, model.status) for model in models) == [("policy", "READY"), ("snapshot_5", "READY")]
    assert stored.outputs is not None
    assert sorted(each.model_id for each in stored.outputs.model_outputs) == sorted(each.model_id for each in models)
    scores = {model.name: [(row.key, row.value, row.dataset_name) for row in model.metrics or ()] for model in models}
    assert scores["policy"] == [("score/mean", 3.0, "50 deals of poker_squares, seed 7")]
    assert len(store.client.get_metric_history(run.id, "score/mean")) == 1, "the run has its score once"


def test_mlflow_loads_registers_and_ranks_it(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = untrained_policy(tmp_path / "squares")
    run_id = logged_run(store, folder)
    import mlflow  # noqa: PLC0415  after the store has set its environment

    monkeypatch.setenv("MLFLOW_TRACKING_URI", store.address)
    model = mlflow.pyfunc.load_model(f"runs:/{run_id}/policy")
    game = make_game("poker_squares")
    known = game.information(game.deal(3, np.random.default_rng(0)), np.zeros(3, dtype=np.int8))
    actions = model.predict({"info_states": known.view(np.uint8).reshape(3, -1).tolist(), "players": [0, 0, 0]})
    assert len(actions) == 3
    assert str(mlflow.register_model(f"runs:/{run_id}/policy", "mine").source).startswith("models:/m-")
    order: Any = [{"field_name": "metrics.score/mean", "ascending": False}]
    experiment = store.experiment_id("poker_squares")
    ranked = store.client.search_logged_models([experiment], order_by=order)
    assert [each.name for each in ranked] == ["policy", "snapshot_5"]
    registry = Registry(store)
    for address in ("policy", "snapshot_5", "snapshots/5"):
        assert policy_digest(registry.fetch(f"runs:/{run_id}/{address}")) == policy_digest(folder)
    registered = registry.register(folder, GAME, run_id=run_id, card="# card", tags={"name": "squares"})
    assert len(store.client.search_logged_models([experiment])) == 2, "the training's model is the version"
    assert registry.fetch(f"models:/cardlab-poker_squares/{registered.version}").is_dir()
    assert registry.model_id(folder, GAME, "squares", run_id) == ranked[0].model_id
