"""The address of the shared cache: kept out of git, absolute, and handed to DVC as it stands."""

from pathlib import Path

import pytest
from dvc.config import Config
from dvc.repo import Repo

from cardlab.cli import main
from cardlab.cli.remote import remote_address
from cardlab.core.options import InvalidOption

ROOT = Path(__file__).parents[2]


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CARDLAB_DVC_REMOTE", raising=False)
    monkeypatch.setenv("DVC_GLOBAL_CONFIG_DIR", str(tmp_path / "nobody"))
    Repo.init(no_scm=True).close()
    return tmp_path


def handed_to_dvc(folder: Path) -> dict[str, str]:
    """The default remote as `dvc push` finds it."""
    config = Config(str(folder / ".dvc"))
    return dict(config["remote"][config["core"]["remote"]])


def test_a_folder_is_kept_absolute_where_git_does_not_see_it(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    committed = (clone / ".dvc" / "config").read_bytes()
    assert main(["remote", "url=../shared"]) == 0
    assert handed_to_dvc(clone)["url"] == str(clone.parent / "shared")
    assert (clone / ".dvc" / "config").read_bytes() == committed
    assert "/config.local" in (ROOT / ".dvc" / ".gitignore").read_text()
    assert main(["remote"]) == 0
    assert capsys.readouterr().out.count(f"remote: {clone.parent / 'shared'}") == 2


def test_the_environment_names_it_and_the_command_line_goes_first(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARDLAB_DVC_REMOTE", "/mnt/cardlab")
    assert main(["remote"]) == 0
    assert handed_to_dvc(clone)["url"] == "/mnt/cardlab"
    assert main(["remote", "url=/mnt/other"]) == 0
    assert handed_to_dvc(clone)["url"] == "/mnt/other"


@pytest.mark.parametrize(("module", "address"), [("dvc_s3", "s3://bucket/cardlab"), ("dvc_ssh", "ssh://me@host/data")])
def test_s3_and_ssh_are_handed_on_where_dvc_has_their_part(
    clone: Path, monkeypatch: pytest.MonkeyPatch, module: str, address: str
) -> None:
    found = {module}
    monkeypatch.setattr("cardlab.cli.remote.find_spec", lambda name: found if name in found else None)
    assert main(["remote", f"url={address}"]) == 0
    assert handed_to_dvc(clone)["url"] == address
    found.clear()
    with pytest.raises(InvalidOption, match=r"pip install 'cardlab\[remote\]'"):
        remote_address(address)


def test_what_was_set_beside_the_address_stays(clone: Path) -> None:
    with Config(str(clone / ".dvc")).edit("local") as local:
        local["remote"]["shared"] = {"url": "/old", "verify": True}
    assert main(["remote", "url=/new"]) == 0
    assert (handed_to_dvc(clone)["url"], handed_to_dvc(clone)["verify"]) == ("/new", True)


def test_a_clone_without_one_says_what_to_give(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["remote"]) == 2
    assert "url=null: must be the address of a folder that clones share, or set CARDLAB_DVC_REMOTE" in (
        capsys.readouterr().err
    )
