"""What its folder, runs/, MLflow or the benchmark know of a policy's training, and what differs between two."""

import csv
import json
from collections.abc import Iterator, Mapping
from contextlib import chdir, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cardlab.agents.policy_descriptions import policy_digest
from cardlab.core.files import load_json, read_text
from cardlab.core.messages import InvalidOption
from cardlab.core.parts import check_targets
from cardlab.core.running_code import running_files
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.seed_options import experiment_part
from cardlab.experiments.config.values import compare_parameters
from cardlab.experiments.policy_groups import find_group
from cardlab.experiments.run_paths import POLICY, SUMMARY
from cardlab.experiments.stage_code import load_params
from cardlab.tracking import Store
from cardlab.tracking.champion_runs import LINEAGE
from cardlab.tracking.lineage import (
    CODE,
    CONFIG,
    CPU_SECONDS,
    CURVE,
    DIGEST,
    FOLDER,
    LINKS,
    UNCOMMITTED,
    VERSIONS,
    run_git,
)
from cardlab.tracking.policy_lookup import KEPT, find_origin, read_artifacts
from cardlab.tracking.run_state import SHORTEST_ID

_MODELS = "models"
_COMMIT = "git.commit"
_CODE = (CODE, _COMMIT, "git.dirty")


@dataclass(frozen=True)
class TrainingRecord:
    """A training: all that decides its result, and the result."""

    name: str
    digest: str  # of the policy
    config: Mapping[str, Any]
    tags: Mapping[str, str]  # of the lineage, with code and links
    policy: Path | None = None  # the files, if they are here
    curve: str = ""  # as in curve.csv; empty if unknown
    diff: str = ""  # what was not committed
    cpu_seconds: float | None = None
    run_id: str = ""

    @property
    def links(self) -> dict[str, str]:
        """Folder → digest of the policies that it starts from or meets."""
        return json.loads(self.tags.get(LINKS, "{}"))

    @property
    def folder(self) -> Path:
        """The folder in which it ran, from which the configuration names other policies; if unknown, this one."""
        top, name = run_git(Path.cwd(), "rev-parse", "--show-toplevel"), self.tags.get(FOLDER)
        if top is not None and name is not None:
            found = Path(top, name).resolve()
            if found.is_dir() and found.is_relative_to(top):
                return found
        return _stage_folder(self.policy) if self.policy is not None else Path.cwd()


def find_records(text: str, store: Store, game: str = "", key: str = "policy") -> list[TrainingRecord]:
    """The trainings of what `text` names: a run's id or its beginning, an experiment, or as in `find_group`.

    Raises InvalidOption where nothing is known.
    """
    if found := _of_run(text, store):
        return [found]
    try:
        policies = find_group(text, store.root, game=game, key=key).policies
    except InvalidOption:
        if found := list(_of_benchmark(text)):
            return found
        raise
    records = [_of_policy(policy, store) for policy in policies]
    for policy, record in zip(policies, records, strict=True):
        if record is None:
            digest = policy_digest(policy)
            raise InvalidOption(key, text, f"a policy whose training is recorded; none has the digest {digest}")
    return [record for record in records if record is not None]


def _of_policy(policy: Path, store: Store) -> TrainingRecord | None:
    digest = policy_digest(policy)
    if (record := _of_folder(policy.parent)) is not None and policy.name == POLICY:
        return record
    if (policy / LINEAGE).is_file():
        lineage = load_json(policy / LINEAGE)
        if lineage["config"]:
            kept = {"curve": _text(policy / CURVE), "diff": _text(policy / UNCOMMITTED)}
            expected, config = lineage["policy_digest"], lineage["config"]
            return _record(lineage["experiment"], expected, config, lineage["tags"], policy, **kept)
    for summary in sorted((store.root / "runs").glob(f"*/*/{SUMMARY}")):
        record = _of_folder(summary.parent)
        if record is not None and record.digest == digest:
            return replace(record, policy=policy)
    origin = find_origin(store, digest)
    if origin is not None and origin.config:
        record = _of_run(origin.run_id, store)
        return record and replace(record, policy=policy)
    name = policy.absolute().parent.name if _is_model(policy) else policy.name
    with chdir(_stage_folder(policy)):
        return next((record for record in _of_benchmark(name) if record.digest == digest), None)


def _is_model(policy: Path) -> bool:
    """Whether `policy` is a folder models/NAME/seed_N."""
    return policy.absolute().parent.parent.name == _MODELS


def _stage_folder(policy: Path) -> Path:
    """The folder of the pipeline that wrote models/NAME/seed_N; the working folder for another policy."""
    return policy.absolute().parents[2] if _is_model(policy) else Path.cwd()


def _of_folder(folder: Path) -> TrainingRecord | None:
    """The training in runs/NAME/HASH; None unless it is finished."""
    with suppress(OSError, ValueError, KeyError):
        config, summary = load_json(folder / CONFIG), load_json(folder / SUMMARY)
        files = {"curve": _text(folder / CURVE), "diff": _text(folder / UNCOMMITTED)}
        seconds, policy = summary["cpu_seconds"], folder / POLICY
        digest, origin = summary["policy_digest"], summary["origin"]
        return _record(config["name"], digest, config, origin, policy, cpu_seconds=seconds, **files)
    return None


def _of_run(text: str, store: Store) -> TrainingRecord | None:
    """The training whose run id begins with `text`, if there is only one."""
    runs = [run for _, run in store.runs_by_id(text)] if len(text) >= SHORTEST_ID else []
    if len(runs) != 1 or " " in runs[0].data.tags.get(DIGEST, " "):
        return None
    (run,) = runs
    files = read_artifacts(store, run.info.run_id, (CONFIG, *KEPT))
    config, tags = json.loads(files.get(CONFIG, "{}")), run.data.tags
    if not config:
        return None
    more = {"curve": files.get(CURVE, ""), "diff": files.get(UNCOMMITTED, ""), "run_id": run.info.run_id}
    return _record(
        config["name"], tags[DIGEST], config, tags, None, cpu_seconds=run.data.metrics.get(CPU_SECONDS), **more
    )


def _of_benchmark(name: str) -> Iterator[TrainingRecord]:
    """The trainings of an experiment of params.yaml: their digests are in results/NAME/evaluation.json, in git."""
    evaluation = Path("results", name, "evaluation.json")
    if not (evaluation.is_file() and Path("params.yaml").is_file()):
        return
    config = experiment_part(load_params()["experiments"].get(name, {}))
    for seed, entry in load_json(evaluation)["by_seed"].items() if config else ():
        from cardlab.training.recorded_training import identity_tags  # noqa: PLC0415  imports torch

        own = {**config, "seed": int(seed)}
        policy = Path(_MODELS, name, f"seed_{seed}").absolute()
        here = policy if policy.is_dir() else None
        curve = _seed_curve(evaluation.with_name("seed_curves.csv"), seed)
        yield _record(name, entry["policy_digest"], own, identity_tags(build_experiment(own)), here, curve=curve)


def _record(
    name: str, digest: str, config: Mapping[str, Any], tags: Mapping[str, str], policy: Path | None, **more: Any
) -> TrainingRecord:
    check_targets(config, f"the training of {name}")  # they come from a file or a store
    return TrainingRecord(name, digest, config, tags, policy, **more)


def _seed_curve(path: Path, seed: str) -> str:
    """The learning curve of one seed, as in curve.csv; empty without the file, which is in DVC's cache only."""
    rows = [row.partition(",") for row in _text(path).splitlines()]  # the seed is the first column
    return "".join(f"{row}\n" for first, _, row in rows if first in ("seed", seed))


def _text(path: Path) -> str:
    return read_text(path) if path.is_file() else ""


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
        "policies that they start from or meet": _paired(first.links, second.links),
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
    from cardlab.training.experiment import training_code  # noqa: PLC0415  imports torch

    training_code(
        build_experiment((second or first).config)
    )  # reads the modules of the digest, as far as they are here
    files = [str(path.relative_to(top)) for path in running_files() if path.is_relative_to(top)]
    diff = run_git(Path(top), "diff", "--no-color", "--no-ext-diff", *commits, "--", *files) or ""
    left = [f"# not committed, {record.name}:\n{record.diff}" for record in (first, second) if record and record.diff]
    return "\n".join([*filter(None, [diff]), *left])


def _paired(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """The keys with other values: key, first and second."""
    rows = [(key, str(first.get(key, "")), str(second.get(key, ""))) for key in dict.fromkeys([*first, *second])]
    return [row for row in rows if row[1] != row[2]]


def _scores(record: TrainingRecord) -> dict[str, str]:
    """The last point of the learning curve."""
    rows = list(csv.DictReader(record.curve.splitlines()))
    return {key: value for key, value in (rows[-1] if rows else {}).items() if key.startswith(("score/", "decisions"))}
