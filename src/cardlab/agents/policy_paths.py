"""Where trained policies and beliefs are found: folders, `champion`, and addresses of a policy store."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

CHAMPION = "champion"
CHAMPIONS = Path("champions")
BELIEFS = Path("beliefs")  # in champions/: belief networks trained on games of each champion
ADDRESS = "models:/"
RUN_ADDRESS = "runs:/"
ADDRESSES = (ADDRESS, RUN_ADDRESS)
"""Beginnings of addresses in MLflow: of its registry, and of the artifacts of a run."""
SEED = "seed_"  # beginning of the name of a policy's folder in the folder of an experiment: models/NAME/seed_7
_PACKAGE = Path(__file__).parents[1]
_POLICY = "policy.json"  # DESCRIPTION in policy_descriptions, which imports this module


class PolicyStore(Protocol):
    """Fetches registered policies, such as those in MLflow's model registry."""

    def fetch(self, address: str) -> Path:
        """The folder of the policy at an address such as models:/cardlab-big2@champion or runs:/ID/policy."""
        ...

    def fetch_champion(self, game: str) -> Path | None:
        """The folder of the registered champion of `game`; None without one."""
        ...


_open_store: Callable[[], PolicyStore] | None = None


def use_policy_store(open_store: Callable[[], PolicyStore]) -> None:
    """Fetch addresses from the store that `open_store` returns; it is called at the first address."""
    global _open_store  # noqa: PLW0603 - set once, by the package itself
    _open_store = open_store


def policy_folder(text: str, game: str) -> Path | None:
    """The folder of the policy that `text` names, fetched if need be; None when it names none.

    `champion` of a `game` is looked up in champions/ here, then in the installed package, then in the policy store.
    """
    if text.startswith(ADDRESSES):
        return _store().fetch(text)
    if text != CHAMPION or os.path.isdir(text):
        return Path(text) if os.path.isdir(text) else None
    return champion_folder(game) or _store().fetch_champion(game)


def is_policy_folder(text: str | Path) -> bool:
    """Whether a folder of this name holds the description of a policy."""
    return os.path.isfile(os.path.join(text, _POLICY))


def seed_number(policy: Path) -> int | None:
    """The seed in the name of a policy's folder such as models/NAME/seed_7; None for another name."""
    digits = policy.name.removeprefix(SEED)
    return int(digits) if policy.name.startswith(SEED) and digits.isdecimal() else None


def policy_hint(text: str | Path) -> str:
    """What to do where `text` is not the folder of a policy, behind a semicolon; empty if there is no advice."""
    folder = Path(text)
    for inner in (folder, Path("runs", text)):
        for policy in (inner / "latest" / "policy", inner / "policy"):
            if is_policy_folder(policy):
                return f"; did you mean {policy}?"
    paths = folder.glob(f"{SEED}*") if os.path.isdir(folder) else ()
    if seeds := sorted(seed for path in paths if (seed := seed_number(path)) is not None):
        return f"; it has those of seeds {', '.join(map(str, seeds))}: choose one, as in {folder / SEED}{seeds[0]}"
    if folder.parent.name == "models" and f"\n  {folder.name}:\n" in _text_of(Path("params.yaml")):
        return f"; dvc repro train@{folder.name} makes it"
    return ""


def champion_folder(game: str) -> Path | None:
    """The folder of the champion of `game`: the working directory's before the installed package's."""
    return _find(Path(game), _POLICY)


def belief_folder(game: str) -> Path | None:
    """The folder of the belief network for the champion of `game`, found like the champion; None without one."""
    return _find(BELIEFS / game, "belief.json")


def _store() -> PolicyStore:
    assert _open_store is not None, "cardlab/__init__.py sets it"
    return _open_store()


def _find(entry: Path, file: str) -> Path | None:
    for champions in (CHAMPIONS, _PACKAGE / CHAMPIONS, _PACKAGE.parents[1] / CHAMPIONS):
        if os.path.isfile(champions / entry / file):
            return champions / entry
    return None


def _text_of(file: Path) -> str:
    """The text of a file; empty if it cannot be read."""
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
