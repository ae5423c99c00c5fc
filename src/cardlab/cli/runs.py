"""`cardlab runs`: the recorded runs as a table, or one of them in full."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardlab.agents.policies import PolicyError, policy_digest
from cardlab.cli.verbs import Request
from cardlab.core.options import InvalidOption, Text, Whole, check_whole
from cardlab.experiments.config.groups import build_game
from cardlab.experiments.config.options import convert
from cardlab.tracking import Store
from cardlab.tracking.policy_lookup import DIGEST, concerning, newest_runs
from cardlab.tracking.registry import Registry

if TYPE_CHECKING:
    from mlflow.entities import Run

_HEADINGS = ("began", "game", "name", "kind", "status", "minutes", "policy", "commit", "run")
_SHOWN_DIGITS = 10  # of digests and commits


def run(request: Request) -> int:
    """Print the newest runs that the filters leave, one line each; or, with `run`, all that is known of one."""
    config = request.config
    beginning = convert("run", config["run"], Text | None)
    if beginning is not None:
        return _show(beginning)
    limit = convert("limit", config["limit"], Whole)
    check_whole("limit", limit, 1, 1000)
    condition = run_filter(config)
    game = build_game(config["game"]).spec.name if config.get("game") else None
    store = Store()
    store.mark_killed()
    found = newest_runs(store, condition, game, limit)
    rows = [_HEADINGS, *(_cells(entry, of) for of, entry in found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return 0


def run_filter(config: Mapping[str, Any]) -> str:
    """MLflow's filter for the keys `name` and `policy`."""
    name = convert("name", config["name"], Text | None)
    policy = convert("policy", config["policy"], Text | None)
    if name is not None and "'" in name:
        raise InvalidOption("name", name, "the name of a run, without quotes in it")
    conditions = [] if name is None else [f"attributes.run_name = '{name}'"]
    if policy is not None:
        conditions.append(concerning(policy_digest(Path(policy))))
    return " and ".join(conditions)


def _show(beginning: str) -> int:
    """Print the lineage of the one run whose id begins so, and every place of its policy."""
    store = Store()
    store.mark_killed()
    found = [entry for _, entry in newest_runs(store) if entry.info.run_id.startswith(beginning)]
    if len(found) != 1:
        known = "there is none" if not found else f"{len(found)} begin so"
        raise InvalidOption(
            "run", beginning, f"the id of one run, or its beginning ({known}): `cardlab runs` lists them"
        )
    entry = found[0]
    tags = {key: value for key, value in entry.data.tags.items() if not key.startswith("mlflow.")}
    rows = {"run": entry.info.run_id, "name": entry.info.run_name or "", "status": entry.info.status, **tags}
    places: list[str] = []
    for digest in tags.get(DIGEST, "").split():
        places += _folders_with(digest)
        if registered := Registry(store).find(digest):
            places.append(registered.address)
    width = max(map(len, rows))
    for key, value in sorted(rows.items(), key=lambda row: row[0] not in ("run", "name", "status")):
        print(f"{key:<{width}}  {value}")
    for place in places:
        print(f"{'policy':<{width}}  {place}")
    print(f"{'artifacts':<{width}}  {entry.info.artifact_uri}")
    return 0


def _folders_with(digest: str) -> Iterator[str]:
    """The policies' folders of this project that hold the policy of this digest."""
    for pattern in ("models/*", "champions/*", "runs/*/*/policy"):
        for folder in sorted(Path().glob(pattern)):
            try:
                if policy_digest(folder) == digest:
                    yield str(folder)
            except PolicyError:
                continue


def _cells(entry: "Run", game: str) -> tuple[str, ...]:
    info, tags = entry.info, entry.data.tags
    began = datetime.fromtimestamp(info.start_time / 1000).astimezone()
    minutes = f"{(info.end_time - info.start_time) / 60_000:.1f}" if info.end_time else ""
    digest, commit = tags.get(DIGEST, "")[:_SHOWN_DIGITS], tags.get("git.commit", "")[:_SHOWN_DIGITS]
    name, kind = info.run_name or "", tags.get("kind", "")
    return f"{began:%Y-%m-%d %H:%M}", game, name, kind, info.status, minutes, digest, commit, info.run_id
