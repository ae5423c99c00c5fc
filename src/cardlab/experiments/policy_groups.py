"""The policies of one method, one for each seed, by the name of an experiment or a folder."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from shlex import quote
from typing import Any, cast

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from cardlab.agents.policy_descriptions import DESCRIPTION
from cardlab.agents.specs import ADDRESS, ADDRESSES, CHAMPION, SEED, policy_folder, policy_hint, seed_number
from cardlab.core.files import load_json, read_text
from cardlab.core.messages import InvalidOption
from cardlab.experiments.config.build_experiment import PARTS
from cardlab.experiments.run_paths import POLICY, SUMMARY, policy_name
from cardlab.tracking.champion_runs import LINEAGE
from cardlab.tracking.lineage import CONFIG
from cardlab.tracking.parameters import flatten
from cardlab.tracking.run_state import RunState, unfinished_runs

_MODELS, _RUNS, _PARAMS = "models", "runs", "params.yaml"
_AT = "@"
_ACCEPTED = (
    f"the name of an experiment in models/ or runs/, also NAME{_AT}KEY:VALUE; a folder of a policy, "
    "of policies seed_N or runs/NAME; "
    f"{CHAMPION} with game=NAME, or an address {ADDRESS}…"
)


@dataclass(frozen=True)
class PolicyGroup:
    """The policies of one method."""

    name: str
    policies: tuple[Path, ...]  # one for each seed, in the order of the seeds
    config: Mapping[str, Any]  # of the training with the first seed; empty if unknown


def find_group(text: str, root: Path, *, game: str = "", key: str = "policy") -> PolicyGroup:
    """The policies that `text` names; InvalidOption for `key` if there are none.

    An experiment's name: models/NAME of the pipeline, else runs/NAME in `root`. A folder: of one policy, of policies in
    subfolders seed_N, or runs/NAME. `champion` of `game`, and addresses of the policy store. Of runs/NAME, the group is
    the finished trainings with configuration and code of the newest but for the seed; of each seed the newest.
    NAME@KEY:VALUE is the group of the newest training of runs/NAME with this value, e.g. NAME@gamma:0.9.
    """
    if text.startswith(ADDRESSES) or (text == CHAMPION and game):
        folder = policy_folder(text, game)
        if folder is not None:
            return PolicyGroup(text, (folder,), policy_config(folder))
    for place in (Path(text), Path(_MODELS, text), root / _RUNS / text):
        if text and (policies := _policies(place)):
            return PolicyGroup(policy_name(place), policies, policy_config(policies[0]))
    if _AT in text and (policies := _trainings(root / _RUNS / text.partition(_AT)[0], _values(text))):
        return PolicyGroup(text, policies, policy_config(policies[0]))
    known = [path.name for folder in (Path(_MODELS), root / _RUNS) for path in folder.glob("*")]
    near = get_close_matches(text, known, n=1)
    accepted = _ACCEPTED + (policy_hint(text) or (f"; did you mean {near[0]}?" if near else ""))
    if states := unfinished_of(text, root):
        accepted = f"an experiment with a finished training; of {text} {resume_hint(states)}"
    raise InvalidOption(key, text, accepted)


def describe_other_groups(name: str, root: Path) -> str:
    """One line that names the further groups of runs/NAME, of which `name` is the newest; empty if there are none."""
    newest, others = None, dict[str, int]()
    for policy in _finished(root / _RUNS / name):
        _, config, code = _method(policy)
        newest = newest or (config, code)
        if (config, code) != newest:
            text = "other code"
            if config != newest[0]:  # one difference names it
                text = quote(method_text(name, flatten(config), [flatten(newest[0])]).partition(",")[0])
            others[text] = others.get(text, 0) + 1
    counted = [f"{text} ({count} seed{'s' if count > 1 else ''})" for text, count in others.items()]
    return f"{name} stands for its newest training; an earlier one is {', '.join(counted)}" if counted else ""


def method_text(name: str, own: Mapping[str, str], others: Sequence[Mapping[str, str]]) -> str:
    """NAME@KEY:VALUE,… with the options in which a flat configuration differs from `others`; NAME if in none.

    Where the name of a part is unlike that of all others, as agent.name:dqn, its options are left out.
    """
    others = [other for other in others if other != own]
    differing = [key for key in own if any(other.get(key) != own[key] for other in others) and "," not in own[key]]
    named = [key.partition(".")[0] for key in differing if key.endswith(".name") and key.count(".") == 1]
    renamed = {part for part in named if all(other.get(f"{part}.name") != own[f"{part}.name"] for other in others)}
    differing = [key for key in differing if key.partition(".")[0] not in renamed or key.endswith(".name")]
    last = [key.rpartition(".")[2] for key in own]
    shown = [(key.rpartition(".")[2] if last.count(key.rpartition(".")[2]) == 1 else key) for key in differing]
    pairs = [f"{short}:{own[key]}" for short, key in zip(shown, differing, strict=True)]
    return f"{name}{_AT}{','.join(pairs)}" if pairs else name


def unfinished_of(text: str, root: Path) -> list[RunState]:
    """The running and interrupted trainings of the experiment `text`, or of the folder runs/NAME or one below it."""
    parts = Path(text).parts
    name = parts[1] if len(parts) > 1 and parts[0] == _RUNS else Path(text).name
    return [state for folder, state in unfinished_runs(root / _RUNS) if folder.parent.name == name]


def resume_hint(states: Sequence[RunState]) -> str:
    """Which seeds are not finished, and what to do."""
    seeds = sorted({str(state.config.get("seed")) for state in states})
    are, them = ("s {} are", "them") if len(seeds) > 1 else (" {} is", "it")
    shown, stage = are.format(", ".join(seeds)), next((state.stage for state in states if state.stage), None)
    command = f"dvc repro {stage}" if stage else "the same cardlab train command"
    return f"seed{shown} not finished (running or interrupted); {command} resumes {them}"


def policy_config(policy: Path) -> Mapping[str, Any]:
    """The configuration of the training that made the policy; empty if unknown.

    It is known for runs/NAME/…/policy (config.json beside it), models/NAME with or without seed_N (params.yaml beside
    models/) and champions (lineage.json).
    """
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, YAMLError, OmegaConfBaseException):
        found = _read_config(policy)
        if all(isinstance(found.get(key, {}), Mapping) for key in PARTS) and int(found.get("seed", 0)) >= 0:
            return found
    return {}


def _read_config(policy: Path) -> Mapping[str, Any]:
    model = policy.parent if policy.name.startswith(SEED) else policy
    if model.parent.name == _MODELS and (beside := model.parent.with_name(_PARAMS)).is_file():
        params = cast(Mapping[str, Any], OmegaConf.to_container(OmegaConf.create(read_text(beside))))
        return params["experiments"][model.name]
    if (policy.parent / CONFIG).is_file():
        return load_json(policy.parent / CONFIG)
    return load_json(policy / LINEAGE)["config"]


def own_references(config: Mapping[str, Any]) -> tuple[str, ...]:
    """The references of the experiment with this configuration; empty if it names none.

    Paths that begin with `..` and are not found from here are left out: a stage names them from its own folder.
    """
    named = tuple(config.get("arena", {}).get("references", ()))
    return tuple(text for text in named if not text.startswith(os.pardir) or _is_policy(Path(text)))


def policies_by_seed(policies: Sequence[Path]) -> dict[int, Path]:
    """Seed → policy. A policy whose seed is unknown has its place, counted from 1."""
    return {_seed(policy, place): policy for place, policy in enumerate(policies, start=1)}


def _policies(place: Path) -> tuple[Path, ...]:
    """The policies of the group in a folder; none if it holds none."""
    if _is_policy(place):
        return (place,)
    if not os.path.isdir(place):
        return ()
    numbered = {path: seed_number(path) for path in place.glob(f"{SEED}*") if _is_policy(path)}
    seeds = {path: seed for path, seed in numbered.items() if seed is not None}
    return tuple(sorted(seeds, key=lambda path: seeds[path])) or _trainings(place)


def _values(text: str) -> Mapping[str, str]:
    """Key → value of the text NAME@KEY:VALUE,KEY:VALUE."""
    pairs = (each.partition(":") for each in text.partition(_AT)[2].split(","))
    return {key: value for key, _, value in pairs}


def _has_values(config: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    """Whether a flat configuration has the values; a key may be the end of a longer one."""
    return all(
        any(f".{known}".endswith(f".{key}") and _is_equal(has, value) for known, has in config.items())
        for key, value in wanted.items()
    )


def _is_equal(one: str, other: str) -> bool:
    """Whether two texts are equal, or two numbers: 1 and 1.0, 1e-3 and 0.001."""
    try:
        return float(one) == float(other)
    except ValueError:
        return one == other


def _finished(place: Path) -> list[Path]:
    """The policies of finished trainings in runs/NAME, the newest first."""
    finished = [path.parent / POLICY for path in place.glob(f"*/{CONFIG}") if not path.parent.is_symlink()]
    finished.sort(key=lambda policy: policy.with_name(CONFIG).stat().st_mtime_ns, reverse=True)
    return [policy for policy in finished if _is_policy(policy)]


def _trainings(place: Path, wanted: Mapping[str, str] = {}) -> tuple[Path, ...]:
    """The finished trainings in runs/NAME that belong to the newest that has the `wanted` values."""
    found = [(policy, *_method(policy)) for policy in _finished(place)]
    if wanted:
        found = [each for each in found if _has_values(flatten(each[2]), wanted)]
    by_seed: dict[int, Path] = {}
    for policy, seed, config, group in found:
        if (config, group) == found[0][2:]:
            by_seed.setdefault(seed, policy)
    return tuple(by_seed[seed] for seed in sorted(by_seed))


def _method(policy: Path) -> tuple[int, Mapping[str, Any], str | None]:
    """The seed, the configuration without it, and the hash of code and policies; None where an older version wrote."""
    config, group = {**policy_config(policy)}, None
    with suppress(OSError, ValueError, KeyError, AttributeError):
        group = load_json(policy.with_name(SUMMARY))["origin"].get("group")
    return config.pop("seed", 0), config, group


def _is_policy(folder: Path) -> bool:
    return os.path.isfile(folder / DESCRIPTION)


def _seed(policy: Path, place: int) -> int:
    seed = seed_number(policy)
    return int(policy_config(policy).get("seed", place)) if seed is None else seed
