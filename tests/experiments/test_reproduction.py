"""`cardlab reproduce`: same bytes, or the first thing that is not as recorded."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cardlab.agents.policy_descriptions import policy_digest
from cardlab.experiments import reproduction
from cardlab.experiments.config.composition import compose_experiment
from cardlab.experiments.reproduction import DIFFERS, LINK_MISSING, MISSING, SAME, reproduce
from cardlab.experiments.training_records import TrainingRecord, compare_runs, differences_now, find_records
from cardlab.tracking import Store
from cardlab.tracking.lineage import lineage

SHORT = [
    "game=poker_squares", "agent=td", "network=mlp", "network.widths=[16]", "agent.decisions_per_iteration=512",
    "trainer=smoke", "trainer.decisions=1024", "trainer.parallel_games=16", "trainer.evaluations=1",
    "trainer.evaluation_deals=4", "trainer.snapshots=1",
]  # fmt: skip
CURVE = "iteration,decisions,score/self\n1,512,{}\n"


@pytest.fixture
def record(root: Path, untrained: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> TrainingRecord:
    """A training whose code is that of this process."""
    monkeypatch.chdir(root)
    monkeypatch.setattr(reproduction, "_run", lambda *_, **__: "c0de")
    for module in ("experiment", "recorded_training"):
        monkeypatch.setattr(f"cardlab.training.{module}.training_code", lambda _: "c0de")
    policy = untrained("made")
    config = compose_experiment(SHORT)
    tags = {**lineage(), "code": "c0de", "git.commit": "0" * 40}
    return TrainingRecord("made", policy_digest(policy), config, tags, policy, curve=CURVE.format(1))


def checked(record: TrainingRecord, store: Store, *, train: bool = False) -> tuple[int, str]:
    lines: list[str] = []
    return reproduce(record, store, train=train, report=lines.append), "\n".join(lines)


def test_what_is_recorded_is_checked_without_training(
    record: TrainingRecord, store: Store, untrained: Callable[..., Path]
) -> None:
    assert checked(record, store)[0] == SAME
    assert record.policy is not None
    weights = record.policy / "weights.safetensors"
    content = weights.read_bytes()
    weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    status, said = checked(record, store)
    assert (status, "recorded is" in said) == (DIFFERS, True)
    weights.write_bytes(content)
    status, said = checked(replace(record, tags={**record.tags, "code": "other"}), store)
    assert status == MISSING
    assert f"commit {'0' * 40} is not in this repository, and the code here is c0de, recorded is other" in said
    versions = json.dumps({"torch": "1.0", "numpy": "1.0"})
    status, said = checked(replace(record, tags={**record.tags, "versions": versions}), store)
    assert (status, "versions: torch 1.0, here " in said) == (MISSING, True)


def test_a_policy_that_it_starts_from_is_found_by_its_digest(
    record: TrainingRecord, store: Store, untrained: Callable[..., Path]
) -> None:
    start = untrained("start", seed=3)
    linked = replace(record, tags={**record.tags, "links": json.dumps({str(start): policy_digest(start)})})
    assert checked(linked, store)[0] == SAME
    (start / "policy.json").write_text((start / "policy.json").read_text() + " ")
    status, said = checked(linked, store, train=True)
    assert (status, f"link {start}: no policy here has its digest" in said) == (LINK_MISSING, True)


def test_the_first_point_that_differs_is_named(
    record: TrainingRecord, store: Store, untrained: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(record: TrainingRecord, place: Path, folder: Path, store: Store, *, train: bool) -> str:
        if train:
            untrained("other", seed=5).rename(folder / "policy")
            (folder / "curve.csv").write_text(CURVE.format(2))
        folder.mkdir(parents=True, exist_ok=True)
        return "c0de"

    monkeypatch.setattr(reproduction, "_run", run)
    status, said = checked(record, store, train=True)
    assert status == DIFFERS
    assert "the first difference is after 512 decisions: score/self 2, was 1" in said


def test_a_seed_of_the_benchmark_has_its_own_curve(record: TrainingRecord, store: Store) -> None:
    results = Path("results", "squares")
    results.mkdir(parents=True)
    by_seed = {seed: {"policy_digest": seed * 64} for seed in ("7", "8")}
    (results / "evaluation.json").write_text(json.dumps({"by_seed": by_seed}))
    (results / "seed_curves.csv").write_text("seed,iteration,decisions,score/self\n7,1,512,3\n8,1,512,4\n")
    Path("params.yaml").write_text(json.dumps({"experiments": {"squares": {**record.config, "name": "squares"}}}))
    assert [found.curve for found in find_records("squares", store)] == [CURVE.format(3), CURVE.format(4)]


@pytest.fixture
def clone(record: TrainingRecord, root: Path, untrained: Callable[..., Path]) -> Path:
    """A clone whose stage in papers/mine has kept/start as its reference; the stage's policy."""
    mine, arena = root / "papers" / "mine", {**record.config["arena"], "references": ["../../kept/start"]}
    config = {**record.config, "name": "squares", "arena": arena}
    (mine / "results" / "squares").mkdir(parents=True)
    (mine / "params.yaml").write_text(json.dumps({"experiments": {"squares": config}}))
    by_seed = {"by_seed": {"7": {"policy_digest": record.digest}}}
    (mine / "results" / "squares" / "evaluation.json").write_text(json.dumps(by_seed))
    (root / "docs").mkdir()
    shutil.copytree(untrained("start", seed=3), root / "kept" / "start")
    subprocess.run(["git", "init", "-q"], check=True)
    subprocess.run(["git", "add", "papers", "kept"], check=True)
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "first"], check=True)
    return Path(shutil.copytree(untrained("made"), mine / "models" / "squares" / "seed_7"))


@pytest.mark.parametrize("here", [".", "docs", "papers/mine"])
def test_a_stage_in_a_folder_of_its_own_is_checked_from_any_folder_of_the_clone(
    clone: Path, store: Store, monkeypatch: pytest.MonkeyPatch, here: str
) -> None:
    monkeypatch.chdir(here)
    (found,) = find_records(os.path.relpath(clone), store)
    assert found.links == {"../../kept/start": policy_digest(store.root / "kept" / "start")}
    status, said = checked(found, store)
    assert status == SAME, said


@pytest.mark.parametrize("here", [".", "docs", "papers/mine"])
def test_a_moved_policy_above_the_folder_of_the_training_is_put_back_in_its_checkout(
    record: TrainingRecord, clone: Path, store: Store, monkeypatch: pytest.MonkeyPatch, here: str
) -> None:
    commit = subprocess.run(["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    links = {"../../kept/start": policy_digest(store.root / "kept" / "start")}
    tags = {**record.tags, "git.commit": commit, "git.folder": "papers/mine", "git.dirty": "false"}
    shutil.move(store.root / "kept" / "start", store.root / "models" / "moved")
    places: list[Path] = []

    def run(record: TrainingRecord, place: Path, folder: Path, store: Store, *, train: bool) -> str:
        assert policy_digest(place / "../../kept/start") == links["../../kept/start"]
        places.append(place)
        return "c0de"

    monkeypatch.setattr(reproduction, "_run", run)
    monkeypatch.chdir(here)
    assert checked(replace(record, policy=None, tags={**tags, "links": json.dumps(links)}), store)[0] == SAME
    assert places[0].parts[-2:] == ("papers", "mine")
    assert not places[0].is_relative_to(store.root)


def test_the_difference_of_two_trainings_is_shown(record: TrainingRecord) -> None:
    other = replace(
        record,
        config={**record.config, "seed": 8},
        tags={**record.tags, "code": "other", "versions": json.dumps({"torch": "1.0"})},
        curve=CURVE.format(3),
    )
    sections = compare_runs(record, other).sections
    assert sections["configuration"] == [("seed", "7", "8")]
    assert sections["code"] == [("code", "c0de", "other")]
    assert sections["scores"] == [("score/self", "1", "3")]
    assert ("policies that they start from or meet", []) in sections.items()
    assert [line for line in differences_now(other) if "the code of made was other, here it is" in line]


def test_a_policy_that_was_replaced_since_is_the_one_of_the_commit(
    clone: Path, store: Store, untrained: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    head = subprocess.run(["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    (found,) = find_records(str(clone), store)
    start = store.root / "kept" / "start"
    digest = policy_digest(start)
    tags = {**found.tags, "code": "c0de", "git.commit": head, "links": json.dumps(dict(found.links))}
    for folder in (start, untrained("start", seed=3)):  # the copy in the commit is the only one
        shutil.rmtree(folder)
    shutil.copytree(untrained("later", seed=4), start)
    met: list[str] = []

    def run(record: TrainingRecord, place: Path, *_: object, **__: object) -> str:
        met.append(policy_digest(place / "../../kept/start"))
        return "c0de"

    monkeypatch.setattr(reproduction, "_run", run)
    status, said = checked(replace(found, tags=tags), store)
    assert (status, met) == (SAME, [digest]), said
    status, said = checked(replace(found, tags={**tags, "git.commit": "0" * 40}), store)
    assert (status, "link ../../kept/start: no policy here" in said) == (LINK_MISSING, True), said
