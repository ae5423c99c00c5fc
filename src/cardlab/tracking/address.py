"""Where runs are kept: the root of the project and the address of the MLflow store."""

import os
import re
from pathlib import Path

from cardlab.core.options import InvalidOption

_SQLITE = "sqlite:///"
_SCHEME = re.compile(r"(sqlite|postgresql|mysql|mssql|https?|databricks)(\+\w+)?:.+|databricks")
_PASSWORD = re.compile(r"(?<=:)[^:/@]+(?=@)")


def project_root() -> Path:
    """The folder that holds `mlflow.db` and `runs/`: DVC_ROOT, else the nearest folder above with DVC, else here.

    DVC runs `--temp` and `--queue` experiments in a copy elsewhere, which it deletes; DVC_ROOT then names the original.
    """
    root = os.environ.get("DVC_ROOT")
    if root:
        return Path(root).resolve()
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / ".dvc").is_dir()), here)


def store_address(root: Path) -> str:
    """The address in MLFLOW_TRACKING_URI, else `mlflow.db` at `root`; a relative sqlite file is taken from `root`.

    Raises InvalidOption for a folder: MLflow's file store is gone, and it has no transactions.
    """
    address = os.environ.get("MLFLOW_TRACKING_URI") or f"{_SQLITE}mlflow.db"
    if not _SCHEME.fullmatch(address):
        allowed = f"the address of a database or server, e.g. {_SQLITE}mlflow.db, postgresql://… or http://…"
        raise InvalidOption("MLFLOW_TRACKING_URI", address, allowed)
    file = sqlite_file(address, root)
    return f"{_SQLITE}{file}" if file else address


def sqlite_file(address: str, root: Path) -> Path | None:
    """The file behind a sqlite address, None for any other address."""
    return root / address.removeprefix(_SQLITE) if address.startswith(_SQLITE) else None


def artifact_folder(address: str, root: Path, experiment: str) -> str | None:
    """Where the files of a new experiment go, as an address; None where a server decides.

    Below MLFLOW_DEFAULT_ARTIFACT_ROOT (s3://… for machines that share a database), else below `mlartifacts` beside
    the sqlite file or at `root`: MLflow's own default is the working directory of whoever comes first.
    """
    if address.startswith(("http", "databricks")):
        return None
    chosen = os.environ.get("MLFLOW_DEFAULT_ARTIFACT_ROOT")
    if chosen:
        return f"{chosen.rstrip('/')}/{experiment}"
    file = sqlite_file(address, root)
    return ((file.parent if file else root).absolute() / "mlartifacts" / experiment).as_uri()


def without_password(address: str) -> str:
    """The address as it may be shown."""
    return _PASSWORD.sub("…", address)
