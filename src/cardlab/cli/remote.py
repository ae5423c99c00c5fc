"""`cardlab remote`: the DVC remote for files that are too large for git."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cardlab.cli.verbs import Request
from cardlab.core.options import InvalidOption, Text
from cardlab.experiments.config.options import InvalidConfiguration, convert

NAME = "shared"
_PLUGINS = {"s3": "dvc_s3", "ssh": "dvc_ssh"}  # scheme → DVC's module for it, which the extra `remote` installs


def run(request: Request) -> int:
    """Write the address to .dvc/config.local, which is not in git, and print the address that DVC uses.

    A committed address would be wrong on other machines, and a relative one in other clones.
    """
    given = convert("url", request.config["url"], Text | None)
    address = None if given is None else remote_address(given)
    config = _dvc_config()
    if address is not None:
        local: Any
        with config.edit("local") as local:
            local["remote"][NAME] = {**local["remote"].get(NAME, {}), "url": address}
            local["core"]["remote"] = NAME
        config.load()
    default = config["core"].get("remote")
    if default is None:
        raise InvalidOption("url", None, "the address of a folder that clones share, or set CARDLAB_DVC_REMOTE")
    print(f"remote: {config['remote'][default]['url']}\nnext:   dvc push, and in another clone dvc pull")
    return 0


def remote_address(url: str) -> str:
    """The address for DVC, with an absolute folder; raises InvalidOption for schemes that DVC cannot use here."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        return str(_folder(url))
    if scheme not in _PLUGINS or not rest:
        raise InvalidOption("url", url, "a folder, s3://BUCKET/PATH or ssh://HOST/PATH")
    if find_spec(_PLUGINS[scheme]) is None:
        raise InvalidOption("url", url, f"a folder; for addresses of {scheme} run pip install 'cardlab[remote]'")
    return url


def _dvc_config() -> Any:
    """DVC's configuration of this clone; raises InvalidConfiguration outside of a clone."""
    from dvc.config import Config  # noqa: PLC0415  slow import
    from dvc.exceptions import NotDvcRepoError  # noqa: PLC0415
    from dvc.repo import Repo  # noqa: PLC0415

    try:
        return Config(Repo.find_dvc_dir())
    except NotDvcRepoError as error:
        raise InvalidConfiguration("no DVC project here; run this command in a clone of cardlab") from error


def _folder(url: str) -> Path:
    """The absolute folder, which need not exist; raises InvalidOption if it or a parent is a file."""
    try:
        folder = Path(url).expanduser().resolve()
        existing = next(path for path in (folder, *folder.parents) if path.exists())
        if url and existing.is_dir():
            return folder
    except (OSError, RuntimeError) as error:  # RuntimeError: unknown user behind ~
        raise InvalidOption("url", url, f"a folder ({error})") from error
    raise InvalidOption("url", url, "a folder, not a file")
