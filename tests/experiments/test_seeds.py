"""Trainings with several seeds: each is that of its seed alone, and one run has their mean curve."""

import os
import re
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from cardlab.agents.policy_descriptions import policy_digest
from cardlab.cli import main
from cardlab.core.messages import InvalidOption
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.composition import compose_experiment
from cardlab.experiments.config.seed_options import parse_seeds
from cardlab.experiments.learning_curves import mean_curve, read_columns, write_mean_curve, write_seed_curves
from cardlab.experiments.seeds import SeedTraining, find_training, train_seed, train_seeds
from cardlab.tracking import Store
from failures.children import Child
from stores import root, store

__all__ = ["root", "store"]

SMALL = [
    "game=thirty_one",
    "agent=dqn",
    "agent.decisions_per_iteration=200",
    "network=mlp",
    "network.widths=[8]",
    "trainer.decisions=4000",
    "trainer.parallel_games=8",
    "trainer.evaluations=10",
    "trainer.evaluation_deals=4",
    "trainer.checkpoint_seconds=0",
    "name=small",
]
STEPS = list(range(400, 4001, 400))  # of the evaluations


@pytest.mark.parametrize(("value", "seeds"), [(1, (7,)), (3, (7, 8, 9)), ([3, 1], (1, 3)), ((0,), (0,))])
def test_seeds_are_a_number_or_a_list(value: object, seeds: tuple[int, ...]) -> None:
    assert parse_seeds(value, 7) == seeds


@pytest.mark.parametrize("value", [0, -1, 2.5, True, "3", [], [1, 1], [1, -1], [1, "2"], 10_000])
def test_other_seeds_are_refused_in_one_line(value: object) -> None:
    with pytest.raises(InvalidOption, match=r"^seeds="):
        parse_seeds(value, 7)


def test_wrong_seeds_are_refused_before_anything_is_written(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(root)
    assert main(["train", *SMALL, "seeds=0"]) == 2
    assert main(["train", *SMALL, "seeds=2", "resume=abcd1234"]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert "seeds=0: must be" in first
    assert "resume=abcd1234: must be left out with seeds" in second
    assert not (root / "runs").exists()


def test_whole_floats_are_seeds() -> None:
    assert parse_seeds(2.0, 7.0) == (7, 8)
    assert parse_seeds([3.0, 1], 7) == (1, 3)


def test_the_seeds_are_printed_first_and_the_next_commands_last(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(root)
    monkeypatch.setattr(
        "cardlab.experiments.seeds.train_seeds", lambda *_, **__: [SeedTraining(3, Path("runs/small/a"), "a")]
    )
    monkeypatch.setattr("cardlab.experiments.group_evaluation.evaluate_group", lambda *_, **__: {})
    monkeypatch.setattr("cardlab.evaluation.evaluate.evaluation_table", lambda _: "table")
    assert main(["train", *SMALL, "seeds=[3]"]) == 0
    policy = "policy: runs/small/a/policy  (seed 3)"
    following = "next:   cardlab compare small OTHER  (another method)\n        cardlab ui"
    assert capsys.readouterr().out == f"training 1 seed: 3\ntable\n{policy}\n{following}\n"


def test_the_mean_curve_is_within_the_range_of_all_curves() -> None:
    curves = [
        {"decisions": np.array([10.0, 20.0, 30.0]), "score/mean": np.array([0.0, 2.0, 4.0])},
        {"decisions": np.array([12.0, 20.0, 32.0]), "score/mean": np.array([2.0, 4.0, 6.0])},
    ]
    band = mean_curve(curves)["score/mean"]
    assert band.at.tolist() == [12.0, 20.0, 30.0]
    assert band.mean[1] == 3.0
    assert band.low[1] < 2.0
    assert band.high[1] > 4.0


def test_the_files_of_the_curves_have_the_mean_and_every_seed(tmp_path: Path) -> None:
    curve = {"iteration": np.array([1.0, 2.0]), "decisions": np.array([10.0, 20.0]), "score/a": np.array([0.0, 2.0])}
    curves = {7: curve, 9: {**curve, "score/a": np.array([2.0, 4.0])}}
    write_mean_curve([*curves.values()], tmp_path / "curve.csv")
    header, first, _ = (tmp_path / "curve.csv").read_text().splitlines()
    assert header == "iteration,decisions,score/a,interval/score/a_low,interval/score/a_high"
    assert first.startswith("1,10,1,-")
    write_mean_curve([curve], tmp_path / "curve.csv")
    assert (tmp_path / "curve.csv").read_text() == "iteration,decisions,score/a\n1,10,0\n2,20,2\n"
    write_seed_curves(curves, tmp_path / "seeds.csv")
    assert (tmp_path / "seeds.csv").read_text().splitlines()[-1] == "9,2,20,4"


def test_a_training_has_the_tags_and_is_not_repeated(store: Store) -> None:
    config = compose_experiment(SMALL)
    lines: list[str] = []
    training = find_training(build_experiment(config), store.root)
    train_seed(training, config, store.address, store.root, {"group": "a"}, "", lines.append)
    assert training.is_finished
    assert set(read_columns(training.curve)) >= {"decisions", "score/mean"}
    train_seed(training, config, store.address, store.root, {"group": "b"}, "", lines.append)
    assert lines[-1] == f"finished before: {training.policy}"
    runs = store.search_runs("tags.kind = 'training'")
    assert [run.data.tags["group"] for _, run in runs] == ["b"]
    # MLflow averages seeds at equal steps: multiples of decisions_per_iteration, not the decisions made.
    assert steps_of(store, runs[0][1].info.run_id) == STEPS


@pytest.mark.usefixtures("seeds_here")
def test_a_group_of_one_seed_is_named_so(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(store.root)
    train_seeds(compose_experiment([*SMALL, "trainer.decisions=400", "trainer.evaluations=2"]), (7,), store)
    assert [run.info.run_name for _, run in store.search_runs("tags.kind = 'seeds'")] == ["small · 1 seed"]
    train_seeds(compose_experiment([*SMALL, "trainer.decisions=400", "trainer.evaluations=2"]), (8,), store)
    groups = {run.data.tags["seeds"] for _, run in store.search_runs("tags.kind = 'seeds'")}
    assert groups == {"7", "8"}, "one with other seeds stays"


def test_trainings_of_other_code_are_under_another_run(
    store: Store, monkeypatch: pytest.MonkeyPatch, seeds_here: None
) -> None:
    monkeypatch.chdir(store.root)
    config = compose_experiment([*SMALL, "trainer.decisions=400", "trainer.evaluations=2"])
    train_seeds(config, (7,), store)
    monkeypatch.setattr("cardlab.training.experiment.code_digest", lambda *_: "edited")
    train_seeds(config, (7,), store)
    parents = store.search_runs("tags.kind = 'seeds'")
    assert len({run.data.tags["group"] for _, run in parents}) == 2
    for _, run in store.search_runs("tags.kind = 'training'"):
        (group,) = [group for _, group in parents if group.info.run_id == run.data.tags["mlflow.parentRunId"]]
        assert run.data.tags["group"] == group.data.tags["group"]
        assert steps_of(store, group.info.run_id) == steps_of(store, run.info.run_id)


def steps_of(store: Store, run_id: str) -> list[int]:
    return sorted(metric.step for metric in store.client.get_metric_history(run_id, "score/mean"))


def process_children(parent: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


@pytest.mark.usefixtures("seeds_here")
def test_combinations_are_trained_and_compared(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(root)
    command = ["train", "-m", *SMALL, "trainer.decisions=400", "trainer.evaluations=1", "agent.gamma=0.8,0.9,1"]
    assert main([*command, "agent.gamma=2,3"]) == 2
    assert main([*command, "arena.deals=20", "arena.processes=1"]) == 0
    said = capsys.readouterr().out
    for name in ("small@gamma:0.8", "small@gamma:0.9", "small@gamma:1"):
        assert f"{name} seed 7: run:" in said
    assert re.search(r"^agent\.gamma: ", said, re.MULTILINE), "its effect"
    assert main([*command, "arena.deals=20", "arena.processes=1", "record=false"]) == 2, "no key of train"
    lists = [*command[:-1], "network.widths=[8,8],[9,9]", "seed=1,2", "name=lists", "arena.deals=20"]
    assert main([*lists, "arena.processes=1"]) == 0
    said = capsys.readouterr().out
    for label in ("lists#1 seed 1", "lists#1 seed 2", "lists#2 seed 1", "lists#2 seed 2"):
        assert f"{label}: run:" in said, "two methods of one name have numbers; the seeds of a method share its number"
    assert main(["compare", "small@gamma:0.8", "small", "arena.deals=20", "record=false"]) == 0
    assert "warning: small stands for its newest training" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.usefixtures("quick_children", "seeds_here")
def test_seeds_are_added_and_interrupted_ones_resume(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(store.root)
    config = compose_experiment(SMALL)
    first = train_seeds(config, (7,), store)
    before = first[0].curve.stat().st_mtime_ns

    for blow, status in ((signal.SIGINT, 130), (signal.SIGKILL, -9)):
        log = store.root / f"{blow.name}.log"
        command = Child(store.root, ["train", *SMALL, "seeds=2"], log=log, halt_at="seed 8: iteration")
        children = process_children(command.wait_until_halted())
        assert children
        os.kill(command.process.pid or 0, blow)
        command.resume()
        assert command.wait(60) == status
        deadline = time.monotonic() + 5
        while any(Path(f"/proc/{child}").exists() for child in children):
            assert time.monotonic() < deadline, "a child outlives its parent"
            time.sleep(0.1)
    trainings = train_seeds(config, (7, 8), store)
    assert [training.seed for training in trainings] == [7, 8]
    alone = find_training(build_experiment({**config, "seed": 8}), store.root / "alone")
    train_seed(alone, config, store.address, store.root / "alone", {}, "", print)
    assert policy_digest(trainings[1].policy) == policy_digest(alone.policy)
    assert trainings[0].curve.stat().st_mtime_ns == before
    groups = store.search_runs("tags.kind = 'seeds'")
    assert [run.data.tags["seeds"] for _, run in groups] == ["7,8"]
    parent = groups[0][1]
    assert parent.info.status == "FINISHED"
    assert "interval/score/mean_low" in parent.data.metrics
    children = store.search_runs(f"tags.`mlflow.parentRunId` = '{parent.info.run_id}'")
    assert sorted(run.data.tags["seed"] for _, run in children) == ["7", "8"]
    assert {run.info.status for _, run in children} == {"FINISHED"}
    assert {tuple(steps_of(store, run.info.run_id)) for _, run in (*children, groups[0])} == {tuple(STEPS)}
