"""`cardlab runs`: the recorded runs as a table."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardlab.agents.policies import policy_digest
from cardlab.assembly.options import convert
from cardlab.assembly.parts import build_game
from cardlab.cli.verbs import Request
from cardlab.options import InvalidOption, check_range
from cardlab.tracking import Store

if TYPE_CHECKING:
    from mlflow.entities import Run

_HEADINGS = ("began", "game", "name", "kind", "status", "minutes", "policy", "commit", "run")
_SHOWN_DIGITS = 10  # of digests and commits


def run(request: Request) -> int:
    """Print the newest runs that the filters leave, one line each."""
    config = request.config
    limit = convert("limit", config["limit"], int)
    check_range("limit", limit, 1, 1000, whole=True)
    condition = run_filter(config)
    game = build_game(config["game"]).spec.name if config.get("game") else None
    client = Store().client
    games = {entry.experiment_id: entry.name for entry in client.search_experiments() if game in (None, entry.name)}
    found: list[Run] = []
    if games:
        found = client.search_runs(list(games), condition, max_results=limit, order_by=["start_time DESC"])
    rows = [_HEADINGS, *(_cells(entry, games[entry.info.experiment_id]) for entry in found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return 0


def run_filter(config: Mapping[str, Any]) -> str:
    """MLflow's filter for the keys `name` and `policy`."""
    name = convert("name", config["name"], str | None)
    policy = convert("policy", config["policy"], str | None)
    if name is not None and "'" in name:
        raise InvalidOption("name", name, "the name of a run, without quotes in it")
    conditions = [] if name is None else [f"attributes.run_name = '{name}'"]
    if policy is not None:
        conditions.append(f"tags.`policy.digest` = '{policy_digest(Path(policy))}'")
    return " and ".join(conditions)


def _cells(entry: "Run", game: str) -> tuple[str, ...]:
    info, tags = entry.info, entry.data.tags
    began = datetime.fromtimestamp(info.start_time / 1000).astimezone()
    minutes = f"{(info.end_time - info.start_time) / 60_000:.1f}" if info.end_time else ""
    digest, commit = tags.get("policy.digest", "")[:_SHOWN_DIGITS], tags.get("git.commit", "")[:_SHOWN_DIGITS]
    name, kind = info.run_name or "", tags.get("kind", "")
    return f"{began:%Y-%m-%d %H:%M}", game, name, kind, info.status, minutes, digest, commit, info.run_id
