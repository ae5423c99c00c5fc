"""`cardlab remote`: where DVC keeps what is too large for git."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cardlab.cli.verbs import Request
from cardlab.core.options import InvalidOption, Text
from cardlab.experiments.config.options import InvalidConfiguration, convert

NAME = "shared"
_PLUGINS = {"s3": "dvc_s3", "ssh": "dvc_ssh"}  # scheme → the module that DVC needs for it, of the extra `remote`


def run(request: Request) -> int:
    """Tell this clone the remote's address, in .dvc/config.local, which git does not see; print what holds now.

    An address that only this machine or this person knows does not belong into the committed configuration, and a
    relative one would mean another folder in every clone.
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


def _dvc_config() -> Any:
    """DVC's configuration of this clone; InvalidConfiguration outside of one."""
    from dvc.config import Config  # noqa: PLC0415  takes a second
    from dvc.exceptions import NotDvcRepoError  # noqa: PLC0415
    from dvc.repo import Repo  # noqa: PLC0415

    try:
        return Config(Repo.find_dvc_dir())
    except NotDvcRepoError as error:
        raise InvalidConfiguration("there is no DVC project here: a remote belongs to a clone of cardlab") from error


def remote_address(url: str) -> str:
    """The address as DVC takes it, a folder absolute; InvalidOption for other schemes, and where DVC lacks its part."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        return str(_folder(url))
    if scheme not in _PLUGINS or not rest:
        raise InvalidOption("url", url, "a folder, s3://BUCKET/PATH or ssh://HOST/PATH")
    if find_spec(_PLUGINS[scheme]) is None:
        raise InvalidOption("url", url, f"a folder, or after pip install 'cardlab[remote]' an address of {scheme}")
    return url


def _folder(url: str) -> Path:
    """The folder, which DVC makes when it is first used."""
    try:
        folder = Path(url).expanduser().resolve()
        above = next(path for path in (folder, *folder.parents) if path.exists())
        if url and above.is_dir():
            return folder
    except (OSError, RuntimeError) as error:  # the latter for the home of nobody
        raise InvalidOption("url", url, f"a folder ({error})") from error
    raise InvalidOption("url", url, "a folder, and no file")
