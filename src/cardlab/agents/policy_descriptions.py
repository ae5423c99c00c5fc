"""Descriptions of trained policies and belief networks, and digests of policies; no torch is imported."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, cast

from cardlab.agents.specs import policy_hint
from cardlab.core.files import LARGEST_DATA, check_regular, load_json, write_atomically
from cardlab.core.messages import ConfigurationError, InvalidOption
from cardlab.core.parts import NAME, TARGET, build_part, check_targets, find_object
from cardlab.games.make_game import FORMER_OPTIONS
from cardlab.games.protocol import Game

WEIGHTS = "weights.safetensors"
DESCRIPTION = "policy.json"
GAME_FILE = "game.json"  # in the folder of a registered policy: the game with all its options
BELIEF = "belief.json"
FORMATS = {DESCRIPTION: 3, BELIEF: 2}
_METHODS = {"game": "deal", "network": "build", "policy": "act"}  # that each class has
POLICY_FILES, BELIEF_FILES = (DESCRIPTION, WEIGHTS), (BELIEF, WEIGHTS)


_FORMER_NAMES = {
    **{
        name: f"cardlab.games.{name}.game.{made}"
        for name, made in (
            ("big2", "Big2"),
            ("five_o", "FiveO"),
            ("open_face", "OpenFace"),
            ("poker_squares", "PokerSquares"),
            ("thirty_one", "ThirtyOne"),
        )
    },
    **{
        name: f"cardlab.networks.{name}_options.{made}Options"
        for name, made in (
            ("mlp", "MLP"),
            ("lines", "Lines"),
            ("sparse_lines", "SparseLines"),
            ("actions", "Actions"),
            ("proto_action", "ProtoAction"),
            ("abstract_actions", "AbstractActions"),
            ("trunks", "Trunks"),
            ("belief", "Belief"),
        )
    },
    **{
        name: f"cardlab.agents.network_agents.{made}Agent"
        for name, made in (
            ("softmax", "Softmax"),
            ("action_value", "ActionValue"),
            ("afterstate", "Afterstate"),
        )
    },
}
"""What the names of policies of 1.0.0 mean."""


class PolicyError(ValueError):
    """A folder holds no policy, or no belief network, for this game; the message is one line that names the folder."""


@dataclass(frozen=True)
class PolicyDescription:
    """A policy, or a belief network, without its weights. Classes are given by their `_target_`."""

    game: str  # GameSpec.name
    game_target: str
    game_options: Mapping[str, Any]  # the options that the network depends on
    network: str  # class of its options
    network_options: Mapping[str, Any]
    policy: str = ""  # class of the agent that plays it; empty for a belief network
    policy_options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def words(self) -> str:
        """Network and agent in words, such as `Actions, played by Softmax`."""
        network, policy = (name.rpartition(".")[2] for name in (self.network, self.policy))
        return f"{network.removesuffix('Options')}, played by {policy.removesuffix('Agent')}"


def write_description(path: Path, description: PolicyDescription) -> None:
    """Write policy.json or belief.json, the same bytes for the same description."""
    one = description
    content: dict[str, Any] = {
        "format": FORMATS[path.name],
        "game": {TARGET: one.game_target, NAME: one.game, **one.game_options},
        "network": {TARGET: one.network, **one.network_options},
    }
    if one.policy:
        content["policy"] = {TARGET: one.policy, **one.policy_options}
    write_atomically(path, json.dumps(content, indent=2, sort_keys=True) + "\n")


def parse_description(path: Path) -> PolicyDescription:
    """The content of policy.json or belief.json.

    PolicyError when it is missing, damaged or of another format.
    """
    what = path.stem
    try:
        data = load_json(path)
        written = data.pop("format")
        if written == FORMATS[path.name] - 1:
            data = _from_former(data)
        elif written != FORMATS[path.name]:
            raise PolicyError(f"{path}: format {written}, this version reads {FORMATS[path.name]}; train it again")
        game, network, policy = ({**data.pop(key, {})} for key in ("game", "network", "policy"))
        targets = [str(part.pop(TARGET, "")) for part in (game, network, policy)]
        description = PolicyDescription(str(game.pop(NAME)), targets[0], game, targets[1], network, targets[2], policy)
        if data or not targets[0] or not targets[1]:
            raise ValueError(f"it has {', '.join(data) or 'no class'}")
    except OSError as error:
        raise _not_a_folder(path, what) from error
    except PolicyError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise PolicyError(f"{path}: is not a {what}'s description ({error!r})") from error
    return description


def find_class(path: Path, what: str, target: str) -> Any:
    """The class that the description at `path` names for `what`: game, network or policy.

    PolicyError for code that is not trusted, or missing, or for another class.
    """
    try:
        check_targets({TARGET: target}, str(path))
        found = find_object(f"{what}.{TARGET}", target)
    except InvalidOption as error:
        raise PolicyError(f"{path}: {error}") from error
    except ConfigurationError as error:
        raise PolicyError(str(error)) from error
    if not isinstance(found, type) or not hasattr(found, _METHODS[what]):
        raise PolicyError(f"{path}: {what}.{TARGET}={target}: must be a class with the method {_METHODS[what]}")
    return found


def _from_former(data: Mapping[str, Any]) -> dict[str, Any]:
    """The content of a description of the format before, which names classes by words."""
    game, network = data["game"], data["network"]
    options = {key: value for key, value in data["game_options"].items() if key not in FORMER_OPTIONS}
    made = {
        "game": {TARGET: _FORMER_NAMES[game], NAME: game, **options},
        "network": {TARGET: _FORMER_NAMES[network], **data["network_options"]},
    }
    if "policy_kind" in data:
        made["policy"] = {TARGET: _FORMER_NAMES[data["policy_kind"]], **data["policy_options"]}
    return made


def check_game(folder: Path, game: Game, trained_for: Mapping[str, Any]) -> None:
    """PolicyError unless name and options of `game` are those that the network in `folder` was trained for."""
    for key, value in {"game": game.spec.name, **game.spec.options}.items():
        if _plain(trained_for.get(key)) != _plain(value):
            raise PolicyError(f"{folder}: was trained for {key}={trained_for.get(key)}, the game has {key}={value}")


def described_game(path: Path, description: PolicyDescription, options: Mapping[str, Any]) -> Game:
    """The game that the description at `path` names, with `options`; PolicyError for wrong ones."""
    find_class(path, "game", description.game_target)
    try:
        return cast(Game, build_part("game", {TARGET: description.game_target, **options}))
    except InvalidOption as error:
        raise PolicyError(f"{path}: game: {error}") from error


def policy_digest(folder: Path) -> str:
    """SHA-256 over the two files of a policy, or of a belief network, hexadecimal."""
    digest = hashlib.sha256()
    for name in BELIEF_FILES if (folder / BELIEF).is_file() else POLICY_FILES:
        try:
            check_regular(folder / name, LARGEST_DATA)
            digest.update(name.encode() + b"\0" + (folder / name).read_bytes())
        except (OSError, ValueError) as error:
            raise _not_a_folder(folder / name) from error
    return digest.hexdigest()


def read_description(folder: Path) -> PolicyDescription:
    """The content of policy.json; PolicyError when it is missing, damaged or of another format."""
    return parse_description(folder / DESCRIPTION)


def policy_game(folder: Path, **options: Any) -> Game:
    """The game that the policy in `folder` was trained on, with `options` that the policy does not depend on."""
    description = read_description(folder)
    return described_game(folder / DESCRIPTION, description, {**description.game_options, **options})


def default_game(folder: Path) -> Game:
    """The game that the policy in `folder` was trained on, with default options."""
    return described_game(folder / DESCRIPTION, read_description(folder), {})


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
    options = fields(cast(Any, game)) if is_dataclass(game) else ()
    return next((cast(str, entry.default) for entry in options if entry.name == "features"), None)


def _not_a_folder(missing: Path, what: str = "policy") -> PolicyError:
    """The error for a folder without the file `missing`."""
    folder = missing.parent
    return PolicyError(f"{folder}: is not a {what}'s folder: no {missing.name} in it{policy_hint(folder)}")


def _plain(value: Any) -> Any:
    """Tuples as lists, as JSON stores them."""
    return list(value) if isinstance(value, tuple) else value
