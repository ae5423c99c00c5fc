"""`cardlab runs`: a table of runs in MLflow, or the lineage of one run."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardlab.cli.verbs import Request
from cardlab.core.options import InvalidOption, Text, Whole, check_whole
from cardlab.experiments.config.build_parts import build_game
from cardlab.experiments.config.options import convert
from cardlab.tracking import Store
from cardlab.tracking.policy_lookup import DIGEST, policy_filter
from cardlab.tracking.registry import Registry, version_address

if TYPE_CHECKING:
    from mlflow.entities import Run

_HEADINGS = ("started", "game", "name", "kind", "status", "minutes", "policy", "commit", "run")
_DIGITS = 10  # of digests and commits


def run(request: Request) -> int:
    """Print the newest runs that match the filters, one line each; or, with `run`, the lineage of one."""
    config = request.config
    prefix = convert("run", config["run"], Text | None)
    if prefix is not None:
        return _show(prefix)
    limit = convert("limit", config["limit"], Whole)
    check_whole("limit", limit, 1, 1000)
    condition = run_filter(config)
    game = build_game(config["game"]).spec.name if config.get("game") else None
    store = Store()
    store.mark_killed()
    found = store.search_runs(condition, game, limit)
    rows = [_HEADINGS, *(_cells(entry, of) for of, entry in found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return 0


def run_filter(config: Mapping[str, Any]) -> str:
    """MLflow's filter for `config["name"]` and `config["policy"]`."""
    name = convert("name", config["name"], Text | None)
    policy = convert("policy", config["policy"], Text | None)
    if name is not None and "'" in name:
        raise InvalidOption("name", name, "the name of a run without quotes")
    conditions = [] if name is None else [f"tags.experiment = '{name}'"]
    if policy is not None:
        from cardlab.agents.policy_files import policy_digest  # noqa: PLC0415  imports torch

        conditions.append(policy_filter(policy_digest(Path(policy))))
    return " and ".join(conditions)


def _show(prefix: str) -> int:
    """Print the lineage of the run whose id starts with `prefix`, and the folders and addresses of its policy."""
    store = Store()
    store.mark_killed()
    found = [entry for _, entry in store.search_runs() if entry.info.run_id.startswith(prefix)]
    if len(found) != 1:
        raise InvalidOption("run", prefix, f"the beginning of one run's id ({len(found)} match); see cardlab runs")
    entry = found[0]
    tags = {key: value for key, value in entry.data.tags.items() if not key.startswith("mlflow.")}
    rows = {"run": entry.info.run_id, "name": entry.info.run_name or "", "status": entry.info.status, **tags}
    places: list[str] = []
    for digest in tags.get(DIGEST, "").split():
        places += _folders_with(digest)
        if registered := Registry(store).find(digest):
            places.append(version_address(registered))
    width = max(map(len, rows))
    for key, value in sorted(rows.items(), key=lambda row: row[0] not in ("run", "name", "status")):
        print(f"{key:<{width}}  {value}")
    for place in places:
        print(f"{'policy':<{width}}  {place}")
    print(f"{'artifacts':<{width}}  {entry.info.artifact_uri}")
    return 0


def _folders_with(digest: str) -> Iterator[str]:
    """The folders of this project with the policy of this digest."""
    from cardlab.agents.policy_files import PolicyError, policy_digest  # noqa: PLC0415  imports torch

    for pattern in ("models/*", "champions/*", "runs/*/*/policy"):
        for folder in sorted(Path().glob(pattern)):
            try:
                if policy_digest(folder) == digest:
                    yield str(folder)
            except PolicyError:
                continue


def _cells(entry: "Run", game: str) -> tuple[str, ...]:
    info, tags = entry.info, entry.data.tags
    started = datetime.fromtimestamp(info.start_time / 1000).astimezone()
    minutes = f"{(info.end_time - info.start_time) / 60_000:.1f}" if info.end_time else ""
    digest, commit = tags.get(DIGEST, "")[:_DIGITS], tags.get("git.commit", "")[:_DIGITS]
    name, kind = info.run_name or "", tags.get("kind", "")
    return f"{started:%Y-%m-%d %H:%M}", game, name, kind, info.status, minutes, digest, commit, info.run_id
