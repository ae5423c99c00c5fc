"""The page docs/services.md: its commands start the services, and two clones run one sweep on them.

No credential is printed, tracked or written: not in a clone, nor in a database, nor in the S3 store.
"""

import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import boto3
import optuna
import pytest
import yaml

from experiments.sweep.tiny import PROGRAM, TINY
from postgresql import find_programs, other_user
from services import free_port, missing

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "services.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL)
PORTS = ("5433", "5555", "5000")  # of PostgreSQL, S3 and MLflow on the page
AWS = "AWS_"
PASSWORD, TOKEN = (f"{text}{secrets.token_hex(8)}" for text in ("pa/ss", "token"))
TRIALS = 4


def _on_ports(text: str, ports: Mapping[str, int]) -> str:
    return re.sub("|".join(PORTS), lambda found: str(ports[found[0]]), text).replace("server:", "127.0.0.1:")


@pytest.fixture(scope="module")
def environment() -> Generator[dict[str, str]]:
    """The environment of a shell in which the commands of the page were run, on free ports."""
    programs = find_programs()
    if programs is None:
        missing("PostgreSQL")
    with tempfile.TemporaryDirectory(prefix="cardlab-services-") as name, _running(programs, Path(name)) as found:
        yield found


@contextmanager
def _running(programs: Path, folder: Path) -> Generator[dict[str, str]]:
    ports = {port: free_port() for port in PORTS}
    addresses, start_database, start_servers = (_on_ports(text, ports) for text in BLOCKS[:3])
    start_database = start_database.replace("openssl rand -hex 16", f"echo {PASSWORD}", 1)
    before = {**os.environ, "HOME": str(folder), "MLFLOW_DISABLE_TELEMETRY": "true"}
    before["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), str(programs), os.environ["PATH"]])
    user = other_user(folder)
    subprocess.run(["bash", "-e"], input=start_database, text=True, check=True, cwd=folder, env=before, **user)
    before["PGPASSFILE"] = str(folder / "services" / "pgpass")
    command = ["bash", "-c", f"{start_servers}\n{addresses}\nenv -0 > environment\nwait\n"]
    with (folder / "log").open("wb") as log:
        servers = subprocess.Popen(command, cwd=folder, env=before, stdout=log, stderr=log, start_new_session=True)
    try:
        yield _when_ready(folder)
    finally:
        os.killpg(servers.pid, 9)
        servers.wait()
        stop = [programs / "pg_ctl", "--pgdata", folder / "services" / "postgresql", "--mode", "immediate", "stop"]
        subprocess.run(stop, check=True, cwd=folder, **user)


def _when_ready(folder: Path) -> dict[str, str]:
    """The environment, once MLflow answers."""
    for _ in range(3000):
        time.sleep(0.1)
        try:
            pairs = (folder / "environment").read_text().split("\0")
            found = dict(pair.split("=", 1) for pair in pairs if pair)
            with urlopen(f"{found['MLFLOW_TRACKING_URI']}/health"):
                return found
        except (OSError, KeyError):
            continue
    raise TimeoutError((folder / "log").read_text()[-2000:])


class Clone:
    """A project folder of a user who has the two addresses and the password of PostgreSQL, and no key of S3."""

    def __init__(self, root: Path, environment: Mapping[str, str], programs: Path, **changed: str) -> None:
        names = ("PGPASSFILE", "MLFLOW_TRACKING_URI", "OPTUNA_STORAGE")
        kept = {key: value for key, value in os.environ.items() if not key.startswith(AWS) and key != "DVC_ROOT"}
        self.root = root
        self.environment = kept | {key: environment[key] for key in names} | changed
        self.keys = {key: value for key, value in environment.items() if key.startswith(AWS)}
        self.printed = ""
        self.programs = programs  # of quick_python
        root.mkdir()
        self.dvc("init", "--no-scm", "--quiet")

    def start(self, *command: str) -> "subprocess.Popen[str]":
        merged: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return subprocess.Popen(command, cwd=self.root, env=self.environment, **merged)

    def end(self, process: "subprocess.Popen[str]", status: int = 0) -> str:
        output = process.communicate(timeout=400)[0]
        self.printed += output
        assert process.returncode == status, output
        return output

    def read_until(self, process: "subprocess.Popen[str]", text: str) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self.printed += line
            if text in line:
                return
        pytest.fail(self.printed)

    def run(self, *arguments: str, status: int = 0) -> str:
        return self.end(self.start(str(self.programs / "cardlab"), *arguments), status)

    def dvc(self, *arguments: str) -> str:
        environment = self.environment | self.keys | {"DVC_NO_ANALYTICS": "1"}
        done = subprocess.run(
            [self.programs / "dvc", *arguments],
            cwd=self.root,
            env=environment,
            check=False,
            capture_output=True,
            text=True,
        )
        self.printed += done.stdout + done.stderr
        assert done.returncode == 0, done.stderr
        return done.stdout


def contents(environment: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
    """Both databases as SQL, and the objects of the S3 store."""
    for database in ("studies", "mlflow"):
        address = re.sub(r"\w+$", database, environment["OPTUNA_STORAGE"].replace("+psycopg", ""))
        dump = subprocess.run(["pg_dump", address], check=True, capture_output=True, env={**environment})
        yield database, dump.stdout
    keys = {key.lower(): environment[key] for key in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")}
    store = boto3.client("s3", endpoint_url=environment["AWS_ENDPOINT_URL"], region_name="us-east-1", **keys)
    for item in store.list_objects_v2(Bucket="cardlab")["Contents"]:
        yield item["Key"], store.get_object(Bucket="cardlab", Key=item["Key"])["Body"].read()


def _slow_down(process: "subprocess.Popen[str]", done: threading.Event) -> None:
    """Let the process run for a tenth of the time, so that its trials last until another command has started."""
    while process.poll() is None and not done.is_set():
        process.send_signal(signal.SIGSTOP)
        done.wait(0.9)
        process.send_signal(signal.SIGCONT)
        time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_two_clones_share_a_sweep_and_no_credential_is_shown(
    tmp_path: Path, environment: dict[str, str], quick_python: Path
) -> None:
    """The first has no password in an address; the second has one in user info, in a query, and a token."""
    inside = environment["OPTUNA_STORAGE"].replace("cardlab@", f"cardlab:{PASSWORD}@")
    in_query = f"{environment['OPTUNA_STORAGE']}?password={PASSWORD}"
    tracking = environment["MLFLOW_TRACKING_URI"].replace("://", f"://{TOKEN}@")
    one = Clone(tmp_path / "one", environment, quick_python)
    addresses = {"MLFLOW_TRACKING_URI": tracking, "OPTUNA_STORAGE": inside}
    two = Clone(tmp_path / "two", environment, quick_python, **addresses, PGPASSFILE="")
    first = one.start(*PROGRAM, "sweep", *TINY, f"sweep.trials={TRIALS}", "sweep.study=shared", "sweep.heartbeat=60")
    one.read_until(first, "trial 0 begins")
    slow = threading.Event()
    threading.Thread(target=_slow_down, args=(first, slow)).start()
    try:
        second = two.run("sweep", "worker", "sweep.study=shared", f"sweep.storage='{in_query}'")
    finally:
        slow.set()
    assert all(f"study:   shared, {TRIALS} trials" in printed for printed in (one.end(first), second))
    trials = optuna.load_study(study_name="shared", storage=inside).trials
    assert len({trial.user_attrs["worker"] for trial in trials}) == 2
    for clone in (one, two):
        assert len(re.findall(r"^trial \d+ ", clone.run("runs", "kind=trial"), re.MULTILINE)) == TRIALS

    one.run("train", *[option for option in TINY if not option.startswith("sweep")], "name=tiny")
    one.run("promote", "policy=tiny", "arena.deals=100")
    found = two.run("evaluate", "policy=models:/cardlab-thirty_one/1", "arena.deals=4")
    assert "against" in found

    (one.root / "data.txt").write_text("data")
    one.dvc("add", "data.txt")
    for clone in (one, two):
        clone.dvc("remote", "add", "--local", "--default", "shared", "s3://cardlab/dvc")
    one.dvc("push")
    (two.root / "data.txt.dvc").write_bytes((one.root / "data.txt.dvc").read_bytes())
    two.dvc("pull")
    assert (two.root / "data.txt").read_text() == "data"

    hidden = [PASSWORD, TOKEN, environment["AWS_SECRET_ACCESS_KEY"]]
    texts = [(clone.root.name, clone.printed.encode()) for clone in (one, two)]
    texts += [(str(path), path.read_bytes()) for path in tmp_path.rglob("*") if path.is_file()]
    texts += contents(environment)
    assert len([name for name, _ in texts if name.endswith("weights.safetensors")]) > TRIALS
    assert not [name for name, text in texts if any(secret.encode() in text for secret in hidden)]


@pytest.mark.slow
def test_a_service_that_is_away_is_named_in_one_line(
    tmp_path: Path, environment: dict[str, str], quick_python: Path
) -> None:
    nothing = f"127.0.0.1:{free_port()}"
    tracking, storage = f"http://{TOKEN}@{nothing}", f"postgresql+psycopg://me:{PASSWORD}@{nothing}/studies"
    for changed, line in (
        ({"MLFLOW_TRACKING_URI": tracking}, f"tracking store http://…@{nothing}: does not answer (Connection refused)"),
        ({"OPTUNA_STORAGE": storage}, f"postgresql+psycopg://me:…@{nothing}/studies: cannot be used ("),
        ({"PGPASSFILE": "/nowhere"}, "/studies: cannot be used ("),
    ):
        clone = Clone(tmp_path / next(iter(changed)), environment, quick_python, **changed)
        printed = clone.run("sweep", *TINY, "sweep.trials=1", status=1).splitlines()
        assert printed[-1].startswith("cardlab: error: "), printed
        assert line in printed[-1]
        assert len(printed) <= 2, "one line after what is starting"
        assert not any(secret in "".join(printed) for secret in (TOKEN, PASSWORD))


def test_the_compose_file_starts_what_the_page_starts() -> None:
    """The same databases, bucket, ports and user; every variable that it asks for is named on the page."""
    text = (ROOT / "tools" / "services.yaml").read_text(encoding="utf-8")
    compose = yaml.safe_load(text)
    services, shell = compose["services"], "\n".join(BLOCKS[:3])
    ports = [port.split(":")[0] for service in services.values() for port in service["ports"]]
    assert sorted(ports) == sorted(PORTS)
    assert {*re.findall(r"\$\{(\w+)", text)} == {*re.findall(r"`(POSTGRES_PASSWORD|AWS_\w+KEY\w*)`", PAGE)}
    databases = {services["postgresql"]["environment"]["POSTGRES_DB"]}
    databases |= {*re.findall(r"CREATE DATABASE (\w+);", compose["configs"]["databases"]["content"])}
    assert databases == {*re.findall(r"createdb (\w+)", shell)}
    mlflow = services["mlflow"]["environment"]
    for variable, option in (
        ("BACKEND_STORE_URI", "backend-store-uri"),
        ("ARTIFACTS_DESTINATION", "artifacts-destination"),
    ):
        (shown,) = re.findall(rf"--{option} (\S+)", shell)
        assert mlflow[f"MLFLOW_{variable}"] == shown.replace("127.0.0.1:5433", "postgresql:5432")
    assert f"AWS_DEFAULT_REGION={mlflow['AWS_DEFAULT_REGION']}" in shell
    assert mlflow["AWS_ENDPOINT_URL"] == "http://s3:5555"
    assert "Bucket='cardlab'" in shell
    assert 'Bucket="cardlab"' in compose["configs"]["bucket.py"]["content"]
    compile(compose["configs"]["bucket.py"]["content"], "bucket.py", "exec")
    assert {source for service in services.values() for source in _configs(service)} == set(compose["configs"])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pinned = [*project["dependencies"], *project["optional-dependencies"]["postgresql"]]
    installed = re.findall(r'"([^"]+)"', services["mlflow"]["build"]["dockerfile_inline"])
    assert len(installed) == 2
    assert set(installed) <= set(pinned), "the versions of the project"


def _configs(service: Mapping[str, Any]) -> Iterator[str]:
    for one in service.get("configs", []):
        yield one if isinstance(one, str) else one["source"]
