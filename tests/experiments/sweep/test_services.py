"""The page docs/services.md: its commands start the services, and two clones run one sweep on them."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from pathlib import Path
from urllib.request import urlopen

import boto3
import optuna
import pytest

from cardlab.tracking import Store
from experiments.sweep.tiny import PROGRAM, TINY
from postgresql import find_programs, other_user
from services import free_port, missing

PAGE = Path(__file__).parents[3] / "docs" / "services.md"
PORTS = ("5433", "5555", "5000")  # of PostgreSQL, S3 and MLflow on the page
WORKING = ("PGPASSFILE", "MLFLOW_TRACKING_URI", "OPTUNA_STORAGE")


@pytest.fixture
def environment(tmp_path: Path) -> Generator[dict[str, str]]:
    """The environment of a shell in which the commands of the page were run, on free ports."""
    found = find_programs()
    if found is None:
        missing("PostgreSQL")
    text = PAGE.read_text()
    for port in PORTS:
        text = text.replace(port, str(free_port()))
    addresses, start_database, start_servers = re.findall(r"```bash\n(.*?)```", text, re.DOTALL)[:3]
    folder = tmp_path / "server"
    folder.mkdir()
    tmp_path.chmod(0o755)
    paths = os.pathsep.join([str(Path(sys.executable).parent), str(found), os.environ["PATH"]])
    before = {**os.environ, "PATH": paths, "HOME": str(folder), "MLFLOW_DISABLE_TELEMETRY": "true"}
    user = other_user(folder)
    subprocess.run(["bash", "-e"], input=start_database, text=True, check=True, cwd=folder, env=before, **user)
    before["PGPASSFILE"] = str(folder / "services" / "pgpass")
    script = f"{start_servers}\n{addresses.replace('server:', '127.0.0.1:')}\nenv -0 > environment\nwait\n"
    with (folder / "log").open("wb") as log:
        servers = subprocess.Popen(["bash", "-c", script], cwd=folder, env=before, stderr=log, start_new_session=True)
    try:
        yield _when_ready(folder)
    finally:
        os.killpg(servers.pid, 9)
        servers.wait()
        stop = [found / "pg_ctl", "--pgdata", folder / "services" / "postgresql", "--mode", "immediate", "stop"]
        subprocess.run(stop, check=True, capture_output=True, cwd=folder, **user)


def _when_ready(folder: Path) -> dict[str, str]:
    """The environment, once MLflow answers."""
    for _ in range(600):
        time.sleep(0.1)
        try:
            pairs = (folder / "environment").read_text().split("\0")
            found = dict(pair.split("=", 1) for pair in pairs if pair)
            with urlopen(f"{found['MLFLOW_TRACKING_URI']}/health"):  # noqa: S310  a server of this test
                return found
        except (OSError, KeyError):
            continue
    raise TimeoutError((folder / "log").read_text()[-2000:])


def start(folder: Path, environment: Mapping[str, str], *arguments: str) -> "subprocess.Popen[str]":
    """A command in a clone, which has the two addresses and the password of PostgreSQL, and no key of S3."""
    (folder / ".dvc").mkdir(parents=True)
    kept = {key: value for key, value in os.environ.items() if not key.startswith("AWS_")}
    return subprocess.Popen(
        [*PROGRAM, *arguments],
        cwd=folder,
        env=kept | {key: environment[key] for key in WORKING},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.slow
def test_two_clones_run_one_sweep_on_shared_services(
    tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    password = Path(environment["PGPASSFILE"]).read_text().strip().rsplit(":", 1)[1]
    shown = environment["OPTUNA_STORAGE"].replace("cardlab@", f"cardlab:{password}@")
    first = start(tmp_path / "one", environment, "sweep", *TINY, "sweep.trials=6", "sweep.study=shared")
    for _ in range(600):  # the study exists when the first trial runs
        time.sleep(0.1)
        with monkeypatch.context() as patch:
            for key in WORKING:
                patch.setenv(key, environment[key])
            if "shared" in optuna.get_all_study_names(environment["OPTUNA_STORAGE"]):
                break
    second = start(
        tmp_path / "two", environment, "sweep", "worker", "sweep.study=shared", f"sweep.storage='{shown}'"
    )
    outputs = [process.communicate(timeout=300)[0] for process in (first, second)]
    assert [first.returncode, second.returncode] == [0, 0], outputs
    assert "study:   shared, 6 trials" in outputs[1]
    for key, value in environment.items():
        monkeypatch.setenv(key, value)
    trials = optuna.load_study(study_name="shared", storage=environment["OPTUNA_STORAGE"]).trials
    assert len({trial.user_attrs["worker"] for trial in trials}) == 2
    store = Store(root=tmp_path / "two")
    runs = [run for _, run in store.search_runs("tags.kind = 'trial'", "thirty_one", 9)]
    assert [run.info.status for run in runs] == ["FINISHED"] * 6
    keys = [item["Key"] for item in boto3.client("s3").list_objects_v2(Bucket="cardlab")["Contents"]]
    assert all(any(run.info.run_id in key and "policy/weights" in key for key in keys) for run in runs)
    texts = [*outputs, str([run.data for run in runs]), str([trial.user_attrs for trial in trials])]
    assert not any(password in text for text in texts)
