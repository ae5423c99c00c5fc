"""The policies of one method, one for each seed, by the name of an experiment or a folder."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

from omegaconf import OmegaConf

from cardlab.agents.policy_descriptions import DESCRIPTION
from cardlab.agents.specs import ADDRESS, ADDRESSES, CHAMPION, policy_folder, policy_hint, seed_number
from cardlab.core.files import load_json
from cardlab.core.messages import InvalidOption
from cardlab.experiments.run_paths import CONFIG, POLICY, SEED, SUMMARY, policy_name
from cardlab.tracking.run_state import RunState, unfinished_runs

_MODELS, _RUNS, _PARAMS, _LINEAGE = "models", "runs", "params.yaml", "lineage.json"
_ACCEPTED = (
    "the name of an experiment in models/ or runs/; a folder of a policy, of policies seed_N or runs/NAME; "
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
    """
    if text.startswith(ADDRESSES) or (text == CHAMPION and game):
        folder = policy_folder(text, game)
        if folder is not None:
            return PolicyGroup(text, (folder,), policy_config(folder))
    for place in (Path(text), Path(_MODELS, text), root / _RUNS / text):
        if text and (policies := _policies(place)):
            return PolicyGroup(policy_name(place), policies, policy_config(policies[0]))
    known = [path.name for folder in (Path(_MODELS), root / _RUNS) for path in folder.glob("*")]
    near = get_close_matches(text, known, n=1)
    accepted = _ACCEPTED + (policy_hint(text) or (f"; did you mean {near[0]}?" if near else ""))
    if states := unfinished_of(text, root):
        accepted = f"an experiment with a finished training; of {text} {resume_hint(states)}"
    raise InvalidOption(key, text, accepted)


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

    It is known for runs/NAME/…/policy (config.json beside it), models/NAME with or without seed_N (params.yaml) and
    champions (lineage.json).
    """
    model = policy.parent if policy.name.startswith(SEED) else policy
    with suppress(OSError, ValueError, KeyError, TypeError):
        if model.parent.name == _MODELS and Path(_PARAMS).is_file():
            params = cast(Mapping[str, Any], OmegaConf.to_container(OmegaConf.load(_PARAMS)))
            return params["experiments"][model.name]
        if (policy.parent / CONFIG).is_file():
            return load_json(policy.parent / CONFIG)
        return load_json(policy / _LINEAGE)["config"]
    return {}


def own_references(config: Mapping[str, Any]) -> tuple[str, ...]:
    """The references of the experiment with this configuration; empty if it names none."""
    return tuple(config.get("arena", {}).get("references", ()))


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


def _trainings(place: Path) -> tuple[Path, ...]:
    """The finished trainings in runs/NAME that belong to the newest."""
    finished = [path.parent / POLICY for path in place.glob(f"*/{CONFIG}") if not path.parent.is_symlink()]
    finished.sort(key=lambda policy: policy.with_name(CONFIG).stat().st_mtime_ns, reverse=True)
    finished = [policy for policy in finished if _is_policy(policy)]
    found = [(policy, *_method(policy)) for policy in finished]
    by_seed: dict[int, Path] = {}
    for policy, seed, config, group in found:
        if (config, group) == found[0][2:]:
            by_seed.setdefault(seed, policy)
    return tuple(by_seed[seed] for seed in sorted(by_seed))


def _method(policy: Path) -> tuple[int, Mapping[str, Any], str | None]:
    """The seed, the configuration without it, and the hash of code and policies; None where an older version wrote."""
    config, group = {**policy_config(policy)}, None
    with suppress(OSError, ValueError, KeyError):
        group = load_json(policy.with_name(SUMMARY))["origin"].get("group")
    return config.pop("seed", 0), config, group


def _is_policy(folder: Path) -> bool:
    return os.path.isfile(folder / DESCRIPTION)


def _seed(policy: Path, place: int) -> int:
    seed = seed_number(policy)
    return int(policy_config(policy).get("seed", place)) if seed is None else seed
