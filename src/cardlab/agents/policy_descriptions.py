"""Descriptions of trained policies and belief networks, and digests of policies; no torch is imported."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, cast

from cardlab.agents.policy_paths import policy_hint
from cardlab.core.files import load_json, write_atomically
from cardlab.core.options import InvalidOption
from cardlab.games.catalogue import make_game
from cardlab.games.protocol import Game

WEIGHTS = "weights.safetensors"
FORMAT = 2
DESCRIPTION = "policy.json"
GAME_FILE = "game.json"  # in the folder of a registered policy: the game with all its options
BELIEF = "belief.json"
POLICY_FILES, BELIEF_FILES = (DESCRIPTION, WEIGHTS), (BELIEF, WEIGHTS)


class PolicyError(ValueError):
    """A folder holds no policy, or no belief network, for this game; the message is one line that names the folder."""


@dataclass(frozen=True)
class PolicyDescription:
    """A policy, or a belief network, without its weights."""

    game: str
    game_options: Mapping[str, Any]  # the options that the network depends on
    network: str  # registry key
    network_options: Mapping[str, Any]
    policy_kind: str = ""  # registry key of the kind of agent; empty for a belief network
    policy_options: Mapping[str, Any] = field(default_factory=dict[str, Any])


def write_description(path: Path, version: int, description: PolicyDescription) -> None:
    """Write policy.json or belief.json, the same bytes for the same description."""
    given = {key: value for key, value in asdict(description).items() if description.policy_kind or "policy" not in key}
    write_atomically(path, json.dumps({"format": version, **given}, indent=2, sort_keys=True) + "\n")


def parse_description(path: Path, version: int) -> PolicyDescription:
    """The content of policy.json or belief.json; PolicyError when it is missing, damaged or of another format."""
    what = path.stem
    try:
        data = load_json(path)
        written = data.pop("format")
        description = PolicyDescription(**data) if written == version else None
    except OSError as error:
        raise _not_a_folder(path, what) from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise PolicyError(f"{path}: is not a {what}'s description ({error!r})") from error
    if description is None:
        raise PolicyError(f"{path}: format {written}, this version reads {version}; train the {what} again")
    for key, value in vars(description).items():
        wanted, name = (Mapping, "a mapping") if key.endswith("options") else (str, "text")
        if not isinstance(value, wanted):
            raise PolicyError(f"{path}: is not a {what}'s description ({key} is not {name})")
    return description


def check_game(folder: Path, game: Game, trained_for: Mapping[str, Any]) -> None:
    """PolicyError unless name and options of `game` are those that the network in `folder` was trained for."""
    for key, value in {"game": game.spec.name, **game.spec.options}.items():
        if _plain(trained_for.get(key)) != _plain(value):
            raise PolicyError(f"{folder}: was trained for {key}={trained_for.get(key)}, the game has {key}={value}")


def described_game(path: Path, name: str, options: Mapping[str, Any]) -> Game:
    """The game that the description `path` names; PolicyError when there is none."""
    try:
        return make_game(name, **options)
    except (InvalidOption, TypeError) as error:
        raise PolicyError(f"{path}: {error}") from error


def policy_digest(folder: Path) -> str:
    """SHA-256 over the two files of a policy, or of a belief network, hexadecimal."""
    digest = hashlib.sha256()
    for name in BELIEF_FILES if (folder / BELIEF).is_file() else POLICY_FILES:
        try:
            digest.update(name.encode() + b"\0" + (folder / name).read_bytes())
        except OSError as error:
            raise _not_a_folder(folder / name) from error
    return digest.hexdigest()


def read_description(folder: Path) -> PolicyDescription:
    """The content of policy.json; PolicyError when it is missing, damaged or of another format."""
    return parse_description(folder / DESCRIPTION, FORMAT)


def policy_game(folder: Path, **options: Any) -> Game:
    """The game that the policy in `folder` was trained on, with `options` that the policy does not depend on."""
    description = read_description(folder)
    return described_game(folder / DESCRIPTION, description.game, {**description.game_options, **options})


def default_game(folder: Path) -> Game:
    """The game that the policy in `folder` was trained on, with default options."""
    return described_game(folder / DESCRIPTION, read_description(folder).game, {})


def game_for(policy: Path, game: Game) -> Game:
    """`game` with the features that the policy in this folder was trained on; the rules stay.

    InfoStates do not depend on features, so that agents with different features can play together.
    """
    description = read_description(policy)
    features = description.game_options.get("features", default_features(game))
    if description.game != game.spec.name or features is None or game.spec.options.get("features") == features:
        return game  # load_policy raises for what does not fit
    return replace(cast(Any, game), features=features)


def default_features(game: Game) -> str | None:
    """The default of the option `features`; None for a game without it."""
    return next((cast(str, entry.default) for entry in fields(cast(Any, game)) if entry.name == "features"), None)


def _not_a_folder(missing: Path, what: str = "policy") -> PolicyError:
    """The error for a folder without the file `missing`."""
    folder = missing.parent
    return PolicyError(f"{folder}: is not a {what}'s folder: no {missing.name} in it{policy_hint(folder)}")


def _plain(value: Any) -> Any:
    """Tuples as lists, as JSON stores them."""
    return list(value) if isinstance(value, tuple) else value
