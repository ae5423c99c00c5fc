"""What differs between two trainings: configuration, code, versions, policies that they name, and scores."""

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cardlab.core.running_code import running_files
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.values import compare_parameters
from cardlab.experiments.training_records import TrainingRecord
from cardlab.tracking.lineage import CODE, VERSIONS, run_git

_COMMIT = "git.commit"
_CODE = (CODE, _COMMIT, "git.dirty")


@dataclass(frozen=True)
class RunDifference:
    """Section → rows of key and the values of both trainings."""

    sections: Mapping[str, list[tuple[str, str, str]]]
    diff: str  # git's diff of the modules of the digest; empty where a commit is missing

    def data(self) -> dict[str, Any]:
        """The same for JSON."""
        named = {name: {key: [*values] for key, *values in rows} for name, rows in self.sections.items()}
        return {**named, "diff": self.diff}


def compare_runs(first: TrainingRecord, second: TrainingRecord) -> RunDifference:
    """What differs between two trainings."""
    differing, _ = compare_parameters([first.config, second.config])
    sections = {
        "configuration": [(key, before, after) for key, (before, after) in differing],
        "code": _paired(*({key: record.tags.get(key, "") for key in _CODE} for record in (first, second))),
        "versions": _paired(*(json.loads(record.tags.get(VERSIONS, "{}")) for record in (first, second))),
        "policies": _paired(first.links, second.links),
        "scores": _paired(_scores(first), _scores(second)),
    }
    return RunDifference(sections, code_diff(first, second))


def differences_now(record: TrainingRecord) -> Iterator[str]:
    """Lines on what decides a result and is not as it was in a training: code, versions, policies that it names."""
    from cardlab.training.recorded_training import identity_tags  # noqa: PLC0415  imports torch

    now = identity_tags(build_experiment(record.config))
    if now[CODE] != record.tags.get(CODE, now[CODE]):
        lines = code_diff(record, None).splitlines()
        files = [line.removeprefix("+++ b/") for line in lines if line.startswith("+++ ")]
        shown = f": {', '.join(files)}" if files else ""
        yield f"the code of {record.name} was {record.tags[CODE]}, here it is {now[CODE]}{shown}"
    for key, before, after in _paired(record.links, json.loads(now["links"])):
        yield f"{key}: is another policy now: {after or 'none'}, was {before or 'none'}"


def code_diff(first: TrainingRecord, second: TrainingRecord | None) -> str:
    """Git's diff of the digest's modules between two commits, or to the files here, and what was not committed."""
    here = Path.cwd()
    top = run_git(here, "rev-parse", "--show-toplevel")
    commits = [record.tags.get(_COMMIT, "") for record in (first, second) if record is not None]
    if top is None or not all(commits):
        return ""
    _read_modules(second or first)
    files = [str(path.relative_to(top)) for path in running_files() if path.is_relative_to(top)]
    diff = run_git(Path(top), "diff", "--no-color", "--no-ext-diff", *commits, "--", *files) or ""
    left = [f"# not committed, {record.name}:\n{record.diff}" for record in (first, second) if record and record.diff]
    return "\n".join([*filter(None, [diff]), *left])


def _read_modules(record: TrainingRecord) -> None:
    """Read the modules of the digest of a training, as far as they are here."""
    from cardlab.training.experiment import training_code  # noqa: PLC0415

    training_code(build_experiment(record.config))


def _paired(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """The keys with other values: key, first and second."""
    rows = [(key, str(first.get(key, "")), str(second.get(key, ""))) for key in dict.fromkeys([*first, *second])]
    return [row for row in rows if row[1] != row[2]]


def _scores(record: TrainingRecord) -> dict[str, str]:
    """The last point of the learning curve."""
    rows = list(csv.DictReader(record.curve.splitlines()))
    return {key: value for key, value in (rows[-1] if rows else {}).items() if key.startswith(("score/", "decisions"))}
