"""Servers for DVC's remotes on this machine: one that speaks s3, and a private sshd."""

import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from getpass import getuser
from pathlib import Path

from services import free_port, missing

_SECONDS_TO_START = 30.0
_SSHD = """Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/authorized_keys
PidFile none
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
StrictModes no
UsePAM no
Subsystem sftp internal-sftp
"""


@dataclass(frozen=True)
class Remote:
    """Where a remote is, and what a user who may use it has in the environment."""

    address: str
    environment: Mapping[str, str] = field(default_factory=dict[str, str])


@contextmanager
def s3_remote() -> Generator[Remote]:
    """An empty bucket on a server of this process's own."""
    import boto3  # noqa: PLC0415  a second, and only who asks for it needs it
    from moto.server import ThreadedMotoServer  # noqa: PLC0415

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        access = {
            "AWS_ACCESS_KEY_ID": secrets.token_hex(8),
            "AWS_SECRET_ACCESS_KEY": secrets.token_hex(8),
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        }
        client = boto3.client(
            "s3",
            endpoint_url=access["AWS_ENDPOINT_URL"],
            region_name=access["AWS_DEFAULT_REGION"],
            aws_access_key_id=access["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=access["AWS_SECRET_ACCESS_KEY"],
        )
        client.create_bucket(Bucket="cardlab")
        yield Remote("s3://cardlab/cache", access)
    finally:
        server.stop()


@contextmanager
def ssh_remote(folder: Path) -> Generator[Remote]:
    """A folder behind an sshd that takes one key, which lies in a home of its own."""
    program = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin")
    if program is None:
        missing("sshd (Debian's openssh-server)")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # where sshd locks itself in; a service would make it
    home = folder / "home"
    (home / ".ssh").mkdir(parents=True, mode=0o700)
    for key in (folder / "host_key", home / ".ssh" / "id_ed25519"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    shutil.copyfile(home / ".ssh" / "id_ed25519.pub", folder / "authorized_keys")
    port = free_port()
    host_key = (folder / "host_key.pub").read_text()
    (home / ".ssh" / "known_hosts").write_text(f"[127.0.0.1]:{port} {host_key}")
    (folder / "sshd_config").write_text(_SSHD.format(port=port, folder=folder))
    log = folder / "sshd.log"
    process = subprocess.Popen([program, "-D", "-f", folder / "sshd_config", "-E", log])
    try:
        _wait(port, process, log)
        address = f"ssh://{getuser()}@127.0.0.1:{port}{folder}/cache"
        yield Remote(address, {"HOME": str(home), "SSH_AUTH_SOCK": ""})
    finally:
        process.terminate()
        process.wait()


def _wait(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + _SECONDS_TO_START
    while process.poll() is None and time.monotonic() < deadline:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1.0):
                return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"sshd did not start: {log.read_text() if log.exists() else ''}")
