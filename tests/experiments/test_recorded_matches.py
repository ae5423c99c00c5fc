"""Evaluations and tournaments in MLflow, as the command line and the pipeline leave them."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mlflow.entities import Run

from cardlab.agents.policy_descriptions import policy_digest
from cardlab.cli import main
from cardlab.experiments.promotion.champions import write_champion
from cardlab.games.make_game import make_game
from cardlab.tracking import Store
from cardlab.tracking.registry import NotRegistered, Registry

DEALS = ("arena.deals=4", "arena.processes=1")


@pytest.fixture
def trained(store: Store, untrained: Callable[..., Path]) -> tuple[Path, str]:
    """A policy in runs/duel/latest/policy and the id of the run that made it."""
    policy, config = Path("runs/duel/latest/policy"), {"name": "duel", "seed": 7, "arena": {"references": ["greedy"]}}
    policy.parent.mkdir(parents=True)
    untrained("duel", "thirty_one").rename(policy)
    (policy.parent / "config.json").write_text(json.dumps(config))
    with store.start_run("thirty_one", "duel · seed 7", tags={"kind": "training"}, params=config) as run:
        run.log_metrics({"train/return": 0.5}, 4096)
        run.set_tags({"policy.digest": policy_digest(policy)})
    return policy, run.id


def runs(store: Store, kind: str, game: str = "thirty_one") -> list[Run]:
    found = store.search_runs(f"tags.kind = '{kind}'", game)
    return [store.client.get_run(run.info.run_id) for _, run in found]  # with its inputs


def test_an_evaluation_is_linked_to_training_policy_and_deals(
    store: Store, trained: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    policy, training = trained
    assert main(["evaluate", f"policy={policy}", *DEALS]) == 0
    assert capsys.readouterr().out.startswith("against greedy: the references of its experiment")
    (run,) = runs(store, "evaluation")
    tags, metrics = run.data.tags, run.data.metrics
    assert (run.info.run_name, run.info.status) == ("duel vs greedy", "FINISHED")
    assert (tags["training_run"], tags["policy.digest"], tags["seed"]) == (training, policy_digest(policy), "7")
    assert {"score/greedy", "win_rate/greedy", "interval/score/greedy_low", "score/evaluation"} <= metrics.keys()
    assert run.inputs is not None
    (dataset,), (model,) = run.inputs.dataset_inputs, run.inputs.model_inputs
    assert json.loads(dataset.dataset.source)["deals"] == 4
    logged = store.client.get_logged_model(model.model_id)
    assert (logged.source_run_id, logged.tags["policy.digest"]) == (training, policy_digest(policy))
    history = store.client.get_metric_history(training, "score/evaluation")
    assert [(one.step, one.value) for one in history] == [(4096, metrics["score/greedy"])]
    description = store.client.get_run(training).data.tags["mlflow.note.content"].split("\n\n")
    assert description[1].startswith(f"**score {metrics['score/greedy']:.3f}**, 95 % interval ")
    assert description[1].endswith(" against greedy")
    assert description[2].startswith("`"), "the command"


def test_an_evaluation_of_fewer_deals_is_recorded_and_changes_no_score(
    store: Store, trained: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    policy, training = trained
    logged: dict[str, list[float]] = {}
    for deals in (4, 2, 4):
        assert main(["evaluate", f"policy={policy}", *DEALS[1:], f"arena.deals={deals}"]) == 0
        assert "warning" not in capsys.readouterr().err
        models = store.client.search_logged_models([store.experiment_id("thirty_one")])
        for model in models:
            logged[model.name] = [row.value for row in model.metrics or () if row.key == "score/evaluation"]
    assert len(runs(store, "evaluation")) == 2, "that of the same deals was recorded before"
    (score,) = [row.value for row in store.client.get_metric_history(training, "score/evaluation")]
    assert logged["policy"] == [score] * 3, "that of the training, and those of two evaluations"


def test_only_the_experiment_s_own_references_score_the_training(store: Store, trained: tuple[Path, str]) -> None:
    policy, training = trained
    assert main(["evaluate", f"policy={policy}", "arena.references=[random]", *DEALS]) == 0
    assert main(["evaluate", f"policy={policy}", "record=false", *DEALS]) == 0
    assert [run.info.run_name for run in runs(store, "evaluation")] == ["duel vs random"]
    assert "score/evaluation" not in store.client.get_run(training).data.metrics


def test_a_single_player_s_score_is_its_own(store: Store) -> None:
    assert main(["evaluate", "policy=random", "game=poker_squares", "arena.references=[random]", *DEALS]) == 0
    (run,) = runs(store, "evaluation", "poker_squares")
    metrics = run.data.metrics
    assert metrics["score/evaluation"] == metrics["score/self"]
    assert "difference/random" in metrics
    assert "score/random" not in metrics


def test_a_tournament_is_a_run_with_the_score_of_each_agent(store: Store, trained: tuple[Path, str]) -> None:
    assert main(["tournament", f"agents=[random,{trained[0]}]", *DEALS]) == 0
    (run,) = runs(store, "tournament")
    assert {"score/random", "rating/runs.duel.latest.policy"} <= run.data.metrics.keys()
    assert run.inputs is not None
    assert len(run.inputs.model_inputs) == 1


class Killed(BaseException):
    """As kill -9: nothing of the process works afterwards."""


class Dying:
    """A client that works for `calls` calls."""

    def __init__(self, client: Any, calls: int) -> None:
        self.client, self.calls = client, calls

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.client, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            self.calls -= 1
            if self.calls < 0:
                raise Killed
            return method(*args, **kwargs)

        return call


def check_one_run(store: Store, kind: str) -> Run:
    """One finished run with each metric and each input once."""
    (run,) = runs(store, kind)
    assert run.info.status == "FINISHED"
    assert {len(store.client.get_metric_history(run.info.run_id, key)) for key in run.data.metrics} == {1}
    assert run.inputs is not None
    assert (len(run.inputs.dataset_inputs), len(run.inputs.model_inputs)) == (1, 1)
    return run


def test_a_result_that_is_measured_again_is_the_same_run(
    store: Store, trained: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    policy, training = trained
    evaluate, tournament = ["evaluate", f"policy={policy}", *DEALS], ["tournament", f"agents=[random,{policy}]", *DEALS]
    for _ in range(3):
        assert main(evaluate) == 0
        assert main(tournament) == 0
    run = check_one_run(store, "evaluation")
    assert capsys.readouterr().out.count(f"run:    {run.info.run_id} (evaluation") == 3
    check_one_run(store, "tournament")
    assert len(store.client.get_metric_history(training, "score/evaluation")) == 1
    assert main([*evaluate, "arena.seed=5"]) == 0
    assert len(runs(store, "evaluation")) == 2, "other deals are another result"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # the thread that sends
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["evaluation", "tournament"])
def test_a_command_that_is_killed_while_it_records_and_repeated_leaves_one_run(
    store: Store, trained: tuple[Path, str], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy, training = trained
    monkeypatch.setattr("cardlab.tracking.run._SECONDS_AT_END", 1.0)
    monkeypatch.setattr("cardlab.tracking.run.time.sleep", lambda _: None)  # who is dead does not come back
    client, calls, kills = store.client, 0, 0
    commands = {
        "evaluation": ["evaluate", f"policy={policy}", *DEALS],
        "tournament": ["tournament", f"agents=[random,{policy}]", *DEALS],
    }
    while True:
        dying = Dying(client, calls)
        monkeypatch.setattr("cardlab.tracking.store.connect", lambda *_, **__: dying)  # noqa: B023  used in this turn
        try:
            assert main(commands[kind]) == 0
        except Killed:
            kills += 1
        calls += 1
        if dying.calls >= 0:
            break
    assert kills > 10
    check_one_run(store, kind)
    if kind == "evaluation":
        assert len(store.client.get_metric_history(training, "score/evaluation")) == 1


@pytest.mark.usefixtures("root")
def test_without_a_store_the_result_is_printed_before_one_warning(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    assert main(["evaluate", "policy=greedy", "game=thirty_one", *DEALS]) == 0
    out, err = capsys.readouterr()
    assert "random" in out
    assert err.startswith("warning: the evaluation is not recorded in MLflow: tracking store http://127.0.0.1:9")
    assert err.count("\n") == 1


def test_a_champion_of_a_fresh_clone_is_registered_at_its_first_use(
    store: Store, untrained: Callable[..., Path]
) -> None:
    game = make_game("poker_squares")
    folder = write_champion(Path("champions"), game, untrained("squares"), {"README.md": "card", "lineage.json": {}})
    shutil.copytree(untrained("belief"), "champions/beliefs/thirty_one")
    registry = Registry(store)
    assert policy_digest(registry.fetch("models:/cardlab-poker_squares@champion")) == policy_digest(folder)
    version = registry.champion("poker_squares")
    assert version is not None
    assert (version.description, version.tags["name"]) == ("card", "champion")
    assert [registry.register_champion(name) for name in ("poker_squares", "thirty_one")] == [None, None]
    with pytest.raises(NotRegistered):
        registry.fetch("models:/cardlab-thirty_one@champion")
