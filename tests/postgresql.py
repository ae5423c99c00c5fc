"""A throw-away PostgreSQL server for a session of tests, and a database of its own for each test that asks for one.

A test takes the fixture `postgresql` and gets an address for MLflow and Optuna: `postgresql://cardlab:…@127.0.0.1:PORT/test_N`.
"""

import itertools
import os
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from services import free_port, missing

_USER = "cardlab"
_SERVER_USERS = ("postgres", "nobody")  # PostgreSQL refuses to run as root
_SECONDS_TO_START = 60.0
_numbers = itertools.count()


@dataclass(frozen=True)
class Server:
    """A running server; `address` has no database yet."""

    address: str

    def execute(self, statement: str) -> None:
        """Run one statement on the server's own database."""
        import psycopg  # noqa: PLC0415  an extra: only who uses the fixture needs it

        with psycopg.connect(f"{self.address}/postgres", autocommit=True) as connection:
            connection.execute(statement)  # pyright: ignore[reportArgumentType]


@pytest.fixture(scope="session")
def postgresql_server() -> Generator[Server]:
    """PostgreSQL on a free port of this machine, for as long as the session of tests lasts."""
    programs = find_programs()
    if programs is None:
        missing("PostgreSQL")
    with tempfile.TemporaryDirectory(prefix="cardlab-postgresql-") as name, _running(programs, Path(name)) as server:
        yield server


@pytest.fixture
def postgresql(postgresql_server: Server) -> Generator[str]:
    """The address of an empty database, dropped after the test with whoever is still connected to it."""
    name = f"test_{next(_numbers)}"
    postgresql_server.execute(f"CREATE DATABASE {name}")
    yield f"{postgresql_server.address}/{name}"
    postgresql_server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def _running(programs: Path, folder: Path) -> Generator[Server]:
    user = other_user(folder)
    password = secrets.token_hex(8)
    secret = folder / "password"
    secret.write_text(password)
    secret.chmod(0o644)
    data = folder / "data"
    initdb = [programs / "initdb", "--pgdata", data, "--username", _USER, "--pwfile", secret, "--auth", "scram-sha-256"]
    subprocess.run([*initdb, "--no-sync", "--encoding", "UTF8"], check=True, capture_output=True, cwd=folder, **user)
    port = free_port()
    settings = {"listen_addresses": "127.0.0.1", "port": port, "unix_socket_directories": folder, "fsync": "off"}
    command = [programs / "postgres", "-D", data, *(f"--{key}={value}" for key, value in settings.items())]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, **user)
    try:
        server = Server(f"postgresql://{_USER}:{password}@127.0.0.1:{port}")
        _wait(server, process, folder / "log")
        yield server
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.send_signal(3)  # SIGQUIT: at once, without waiting for clients
            process.wait()


def _wait(server: Server, process: "subprocess.Popen[bytes]", log: Path) -> None:
    """Return when the server answers; RuntimeError with its last words when it does not."""
    import psycopg  # noqa: PLC0415  as above

    deadline = time.monotonic() + _SECONDS_TO_START
    while process.poll() is None and time.monotonic() < deadline:
        try:
            server.execute("SELECT 1")
            return
        except psycopg.OperationalError:
            time.sleep(0.1)
    raise RuntimeError(f"PostgreSQL did not start: {log.read_text()[-1000:]}")


def find_programs() -> Path | None:
    """The folder of initdb and postgres: on the path, or where Debian keeps the newest."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return debian[-1].parent if debian else None


def other_user(folder: Path) -> Mapping[str, Any]:
    """For root: the arguments of Popen that make another user of it, who then owns the folder."""
    if os.geteuid() != 0:
        return {}
    import pwd  # noqa: PLC0415  not on Windows

    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = next((known[name] for name in _SERVER_USERS if name in known), None)
    if entry is None:
        missing(f"a user to run PostgreSQL as ({' or '.join(_SERVER_USERS)})")
    os.chown(folder, entry.pw_uid, entry.pw_gid)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
