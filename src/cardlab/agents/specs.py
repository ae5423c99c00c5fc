"""Agents as texts, e.g. `threshold:level:30`, and where trained policies are found.

A text is `name` or `name:key:value…`. A value that is itself such a text is written in brackets:
`monte_carlo:rollout:[threshold:level:30]`. Policies and beliefs are named by folders, `champion`, or addresses of a
policy store.
"""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

from cardlab.core.messages import InvalidOption

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


SEARCHES = ("monte_carlo", "expectimax", "tree", "puct")


class InvalidAgent(InvalidOption):
    """An option in the text of an agent has a value that it cannot take; key and value are those of the option."""

    def __init__(self, text: str, key: str, value: object, allowed: str) -> None:
        super().__init__(key, value, allowed)
        self.text = text

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by its parts, as InvalidOption does."""
        return (type(self), (self.text, self.key, self.value, self.allowed))


def no_agent(text: object, allowed: str) -> InvalidOption:
    """The refusal of a text that names no agent."""
    return InvalidOption("agent", text, allowed)


def split_name(text: str) -> tuple[str, dict[str, Any]]:
    """`threshold:level:30` as ("threshold", {"level": 30}), an address of a policy as it is without options.

    Raises InvalidOption when keys and values do not pair up.
    """
    if text.startswith(ADDRESSES):
        return text, {}
    name, *rest = _split(text)
    if len(rest) % 2:
        raise no_agent(text, "name or name:key:value…")
    return name, {key: _parse(value) for key, value in zip(rest[::2], rest[1::2], strict=True)}


def name_and_options(text: str) -> tuple[str, dict[str, Any]]:
    """As `split_name`, but ("", {}) for the folder of a policy, and for a path that exists and holds colons."""
    is_path = is_policy_folder(text) or (":" in text and os.path.exists(text))
    return ("", {}) if is_path else split_name(text)


def is_searching(text: str) -> bool:
    """Whether the agent, or one that its options name, is a search."""
    name, _ = name_and_options(text)
    return name in SEARCHES or name.endswith("_search") or any(map(is_searching, _inner(text)))


def is_timed(text: str) -> bool:
    """Whether the agent, or one that its options name, has a time for each decision."""
    name, given = name_and_options(text)
    timed = bool({"seconds", "game_seconds"} & given.keys()) or (
        name.endswith("_search") and "simulations" not in given
    )
    return timed or any(map(is_timed, _inner(text)))


def is_learning(text: str) -> bool:
    """Whether the agent, or one that its options name, learns from its searches."""
    return bool(name_and_options(text)[1].get("learn")) or any(map(is_learning, _inner(text)))


def _inner(text: str) -> list[str]:
    """The agents with options that the options of an agent name."""
    return [value for value in name_and_options(text)[1].values() if isinstance(value, str) and ":" in value]


def _split(text: str) -> Iterator[str]:
    """The parts of `text` between colons outside brackets."""
    depth = start = 0
    for place, sign in enumerate(text):
        depth += (sign == "[") - (sign == "]")
        if sign == ":" and depth == 0:
            yield text[start:place]
            start = place + 1
    yield text[start:]


def _parse(text: str) -> bool | int | float | str:
    if text.startswith("[") and text.endswith("]"):
        return text[1:-1]
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def metric_name(text: str) -> str:
    """An agent's text as part of a metric's name, without characters that MLflow refuses."""
    return re.sub(r"[^\w\-. /]", ".", text).strip("./")
