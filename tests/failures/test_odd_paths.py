"""A project, HOME and TMPDIR whose names hold any characters, and a project that is moved or copied."""

import gc
import os
import shutil
import subprocess
import sys
from getpass import getuser
from pathlib import Path

import optuna
import pytest

from cardlab.core.exit_status import start_program
from cardlab.core.messages import InvalidOption
from cardlab.experiments.sweep.storages import open_storage, storage_address
from cardlab.games.make_game import game_data, make_game
from cardlab.tracking import Store
from cardlab.tracking.policy_lookup import find_origin
from cardlab.tracking.registry import Registry
from failures.children import Child
from failures.test_killed_training import TRAIN
from stores import untrained_policy

SQUARES = game_data(make_game("poker_squares"))
ODD = [
    "a?b",
    "a#b",
    "a%41b",
    "a b",
    "a'b\"c",
    "a\nb",
    "ä漢🂡",
    "{a}$b&c",
    "a;b|c<d>",
    "-a=b+c@d:e",
    "[a]*b\\c",
    "~a!,^`",
]


def files_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.fixture
def odd(fresh_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """A project with an odd name and an empty store."""
    root = tmp_path / request.param
    root.mkdir()
    shutil.copyfile(fresh_database, root / "mlflow.db")
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.delenv("MLFLOW_DEFAULT_ARTIFACT_ROOT", raising=False)
    monkeypatch.setenv("DVC_ROOT", str(root))
    monkeypatch.chdir(root)
    return root


@pytest.mark.parametrize("odd", ODD, indirect=True)
def test_runs_artifacts_models_and_studies_stay_in_the_project(odd: Path, tmp_path: Path) -> None:
    store = Store()
    assert store.file == odd / "mlflow.db"
    with store.start_run("poker_squares", "run", params={"seed": 1}) as run:
        run.log_metrics({"loss": 1.0}, 0)
    assert store.client.get_run(run.id).info.status == "FINISHED"
    with Path(store.client.download_artifacts(run.id, "config.json")).open() as file:
        assert "seed" in file.read()
    policy = untrained_policy(odd / "policy")
    registered = Registry(store).register(policy, SQUARES, run_id=run.id, card="", tags={})
    assert Registry(store).fetch(f"models:/{registered.name}/{registered.version}").is_dir()
    again = Store(store.address, odd)
    assert [found.info.run_id for _, found in again.search_runs()] == [run.id]
    address = storage_address(None, odd)
    optuna.create_study(study_name="study", storage=open_storage(address))
    assert (odd / "studies.db").stat().st_size
    assert {path.name for path in tmp_path.iterdir()} == {odd.name}, "something was written beside the project"
    assert {path.split("/")[0].split(".db")[0] for path in files_in(odd)} <= {
        "mlflow", "mlartifacts", "studies", "policy", "runs",
    }  # fmt: skip


def test_a_fresh_store_is_made_where_it_is_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "new?%41#"
    root.mkdir()
    monkeypatch.setenv("DVC_ROOT", str(root))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    Store().check()
    assert (root / "mlflow.db").stat().st_size
    assert [path.name for path in tmp_path.iterdir()] == [root.name]


@pytest.mark.slow
def test_a_training_in_odd_folders_with_an_odd_home_and_scratch(tmp_path: Path) -> None:
    """In a process of its own, which compiles nothing: the cache of kernels is the user's."""
    name = "a?b #%41 'c'\n漢{d}"
    root, home, scratch = (tmp_path / f"{part} {name}" for part in ("root", "home", "tmp"))
    for folder in (root, home, scratch):
        folder.mkdir()
    environment = {"HOME": str(home), "TMPDIR": str(scratch), "XDG_CACHE_HOME": str(home / ".cache")}
    child = Child(root, TRAIN, log=tmp_path / "log", **environment)
    assert child.wait() == 0, child.log.read_text()
    assert (root / "mlflow.db").stat().st_size
    assert next(root.glob("runs/squares/latest/policy/weights.safetensors")).stat().st_size
    assert {path.name for path in tmp_path.iterdir()} == {root.name, home.name, scratch.name, "log"}


def test_a_moved_project_keeps_its_artifacts_and_writes_none_to_the_old_place(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    policy = untrained_policy(store.root / "policy")
    with store.start_run("poker_squares", "old", tags={"kind": "training"}, params={"seed": 1}) as run:
        run.set_tags({"policy.digest": "abcd"})
    registered = Registry(store).register(policy, SQUARES, run_id=run.id, card="", tags={})
    moved = tmp_path / "moved ?"
    store.root.rename(moved)
    monkeypatch.setenv("DVC_ROOT", str(moved))
    monkeypatch.chdir(moved)
    after = Store()
    ((_, found),) = after.search_runs("tags.kind = 'training'")
    assert found.info.artifact_uri == f"{moved.as_uri()}/mlartifacts/poker_squares/{run.id}/artifacts"
    origin = find_origin(after, "abcd")
    assert origin is not None
    assert origin.config == {"seed": 1}
    assert "was moved" in caplog.text
    assert Registry(after).fetch(f"models:/{registered.name}/{registered.version}").is_dir()
    with after.start_run("poker_squares", "new", params={"seed": 2}) as new:
        pass
    assert (moved / "mlartifacts" / "poker_squares" / new.id / "artifacts" / "config.json").exists()
    assert not store.root.exists()


def test_a_copied_project_leaves_the_original_alone(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store.start_run("poker_squares", "old", params={"seed": 1}):
        pass
    before = files_in(store.root / "mlartifacts")
    shutil.copytree(store.root, tmp_path / "copy")
    monkeypatch.setenv("DVC_ROOT", str(tmp_path / "copy"))
    with Store().start_run("poker_squares", "new", params={"seed": 2}):
        pass
    assert files_in(store.root / "mlartifacts") == before
    assert len(files_in(tmp_path / "copy" / "mlartifacts")) > len(before)


def test_artifacts_elsewhere_stay_where_they_are(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = (tmp_path / "shared" / "mlartifacts").as_uri()
    monkeypatch.setenv("MLFLOW_DEFAULT_ARTIFACT_ROOT", shared)
    with store.start_run("poker_squares", "old", params={"seed": 1}) as run:
        pass
    store.root.rename(tmp_path / "moved")
    monkeypatch.setenv("DVC_ROOT", str(tmp_path / "moved"))
    monkeypatch.delenv("MLFLOW_DEFAULT_ARTIFACT_ROOT")
    assert Store().client.get_run(run.id).info.artifact_uri.startswith(f"{shared}/poker_squares/")


def test_an_address_with_a_query_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidOption, match="must be sqlite:///FILE, with %3F for a"):
        Store("sqlite:///file:mlflow.db?uri=true", tmp_path)


def test_a_name_that_is_no_text_is_one_line(tmp_path: Path) -> None:
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/a\xff")
    os.mkdir(folder)
    code = "import sys; from cardlab.cli import main; sys.exit(main(['runs']))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=os.environ | {"DVC_ROOT": folder},
        capture_output=True,
        check=False,
    )
    assert done.returncode in (0, 1, 2)
    assert b"Traceback" not in done.stderr


def test_a_user_id_without_a_name_gets_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 4242)
    thresholds = gc.get_threshold()
    start_program()
    gc.set_threshold(*thresholds)
    assert getuser() == "uid-4242"
    monkeypatch.delenv("LOGNAME")
