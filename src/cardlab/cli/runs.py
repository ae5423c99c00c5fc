"""`cardlab runs`: a table of runs in MLflow, or the lineage of one run."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field
from rich.console import Console
from rich.table import Table
from rich.text import Text as Plain  # without markup

from cardlab.agents.policy_descriptions import PolicyError, policy_digest
from cardlab.agents.specs import CHAMPION, champion_folder
from cardlab.cli.run_rows import RunRow, run_row
from cardlab.cli.verbs import Request
from cardlab.core.exit_status import printable
from cardlab.core.files import short_path
from cardlab.core.messages import without_password
from cardlab.core.options import NUMERIC, Text, check_that, checked, options
from cardlab.tracking import Store
from cardlab.tracking.connection import project_root
from cardlab.tracking.lineage import DIGEST, RESTORED
from cardlab.tracking.policy_lookup import mixed_groups, policy_artifacts, policy_filter, print_run
from cardlab.tracking.registry import Registry, version_address
from cardlab.tracking.store import OWN_TAGS

Kind = Literal[
    "training", "seeds", "sweep", "trial", "evaluation", "tournament", "comparison", "promotion", "registration",
    "exploit", "belief", "all",
]  # fmt: skip
_NUMBERS = ("score", "deals", "seeds", "decisions", "CPU", "age")  # columns on the right
_FIRST_RUN = "cardlab train experiment=poker_squares/td trainer=smoke"
_DROPPED = ("deals", "of", "kind", "seeds", "agent", "CPU", "decisions", "game", "against", "changed", "age", "state")
"""Columns that a narrow terminal has no place for, the first of them first."""
_FIRST_KINDS = ("training", "seeds", "sweep")
_WIDTH = 10_000  # of a table that is no terminal's


@options("")
class RunsOptions:
    """What `cardlab runs` lists; its help is in conf/runs.yaml."""

    name: Text | None
    kind: Kind | None
    state: Literal["running", "finished", "failed", "killed", "pruned"] | None
    policy: Text | None
    sort: Literal["age", "name", "score", "decisions", "cpu"]
    limit: Annotated[int, Field(ge=1, le=1000), NUMERIC]
    run: Text | None


def run(request: Request) -> int:
    """Print the runs that match the filters, one line each; with `run`, the lineage of one; or what two differ in."""
    if request.verb == "runs diff":
        return _diff(request)
    config: dict[str, Any] = {**request.config, "run": request.typed_text("run")}
    game = config.pop("game", None)
    given = RunsOptions(**config)
    if given.run is not None:
        return _show(given.run, as_json="--json" in request.flags)
    condition = _condition(given)
    store = Store()
    search = partial(store.search_runs, condition, _game_name(game) if game else None)
    found = search()
    if given.kind is None and given.policy is None:  # nor those of champions, which nobody has trained here
        found = [(of, stored) for of, stored in found if RESTORED not in stored.data.tags]
    if not found and given.policy is not None and _register_champion(Path(given.policy), store):
        found = search()
    rows = [row for row in (run_row(stored, of) for of, stored in found) if _fits(row, given)]
    shown = _sorted(rows, given.sort)[: given.limit]
    if len(rows) > len(shown):
        print(f"{len(shown)} of {len(rows)} runs; limit={len(rows)} shows all", file=sys.stderr)
    if "--json" in request.flags:
        print(json.dumps([asdict(row) for row in shown], indent=1))
        return 0
    _print_table(shown)
    for line in mixed_groups(stored for _, stored in found):
        print(f"warning: {printable(line)}", file=sys.stderr)
    if not rows and not store.search_runs(limit=1):
        print(f"no runs in {without_password(store.address)}; {_FIRST_RUN} makes one", file=sys.stderr)
    elif not rows:
        print("no such run; kind=all shows runs of all kinds", file=sys.stderr)
    return 0


def _game_name(config: Mapping[str, Any]) -> str:
    """The name of the game, and of its experiment in MLflow, of a group `game`."""
    from cardlab.experiments.config.build_parts import build_game  # noqa: PLC0415  numba

    return build_game(config).spec.name


def _register_champion(policy: Path, store: Store) -> bool:
    """Register the champion in this folder if the store has none, as in a fresh clone; False for another folder."""
    folder = champion_folder(policy.name)
    return folder is not None and folder.samefile(policy) and Registry(store).register_champion(policy.name) is not None


def _condition(given: RunsOptions) -> str:
    """MLflow's filter for the kind and the policy; trials, which may be many, are read only if they are asked for."""
    conditions: list[str] = []
    if given.policy is not None:
        conditions.append(policy_filter(policy_digest(Path(given.policy))))
    elif given.kind is None:
        conditions.append("tags.kind != 'trial'")
    if given.kind not in (None, "all"):
        conditions.append(f"tags.kind = '{given.kind}'")
    return " and ".join(conditions)


def _fits(row: RunRow, given: RunsOptions) -> bool:
    if given.kind is None and given.policy is None and row.kind not in _FIRST_KINDS:
        return False
    return given.state in (None, row.state) and (
        given.name is None or given.name in row.name or given.name in row.experiment
    )


def _sorted(rows: Sequence[RunRow], sort: str) -> list[RunRow]:
    """Newest first; by score: best first among equal games, references and numbers of deals: others do not compare."""
    if sort == "age":
        return list(rows)
    keys: dict[str, Any] = {
        "name": lambda row: row.name,
        "score": lambda row: (row.game, row.score is None, row.against, -(row.deals or 0), -(row.score or 0.0)),
        "decisions": lambda row: -(row.decisions or 0),
        "cpu": lambda row: -(row.cpu_seconds or 0.0),
    }
    return sorted(rows, key=keys[sort])


def _print_table(rows: Sequence[RunRow]) -> None:
    """A table with whole names; a narrow terminal gets fewer columns, a pipe all of them."""
    if not rows:
        return
    console, texts = Console(highlight=False), [row.cells for row in rows]
    widths = {heading: max(len(heading), *(len(row[heading]) for row in texts)) + 2 for heading in texts[0]}
    if any(row.kind != "trial" for row in rows):  # trials have the searched values in a column
        del widths["changed"]
    droppable, dropped = [heading for heading in _DROPPED if heading in widths], list[str]()
    while console.is_terminal and sum(widths.values()) - 2 > console.width and droppable:
        dropped.append(droppable.pop(0))
        del widths[dropped[-1]]
    if not console.is_terminal:
        console.width = _WIDTH
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for heading in widths:
        table.add_column(heading, justify="right" if heading in _NUMBERS else "left", no_wrap=heading != "name")
    for row in texts:
        table.add_row(*(Plain(row[heading]) for heading in widths))
    console.print(table)
    if dropped:
        print(
            f"for a terminal of {console.width} columns without {', '.join(dropped)}; --json has all", file=sys.stderr
        )


def _diff(request: Request) -> int:
    """Print what two trainings differ in; the page goes to the run of the second one."""
    from cardlab.experiments.training_records import TrainingRecord, compare_runs, find_records  # noqa: PLC0415  numba

    names, store = checked("runs", request.config["runs"], tuple[Text, ...]), Store()
    check_that(len(names) == 2, "runs", names, "two runs or policies, as in cardlab runs diff 4de34c2b 9a01bc3d")
    game, found = "", dict[str, TrainingRecord]()
    for name in sorted(names, key=CHAMPION.__eq__):  # the game of a champion is that of the other training
        if name == CHAMPION and found:
            game = _game_name(next(iter(found.values())).config["game"])
        found[name] = find_records(name, store, game, "runs")[0]
    records = [found[name] for name in names]
    difference = compare_runs(*records)
    if "--json" in request.flags:
        print(json.dumps(difference.data(), indent=1))
        return 0
    marks = [record.run_id[:8] or f"seed {record.config['seed']}" for record in records]
    headings = [printable(f"{record.name} {mark}") for record, mark in zip(records, marks, strict=True)]
    if headings[0] == headings[1]:
        headings = [*map(printable, names)]
    console = Console(highlight=False, record=True)
    for section, rows in difference.sections.items():
        table = Table("", *headings, title=section, title_justify="left")
        for row in rows:
            table.add_row(*(Plain(printable(text)) for text in row))
        console.print(table if rows else f"{section}: equal")
    console.print(Plain(difference.diff), soft_wrap=True)
    if records[1].run_id:
        page = console.export_html(inline_styles=True)
        with store.wrap_errors():
            store.client.log_text(records[1].run_id, page, f"diff/{records[0].run_id or 'policy'}.html")
        print_run(store, f"attributes.run_id = '{records[1].run_id}'", ", the page is its artifact diff/")
    return 0


def _show(prefix: str, *, as_json: bool) -> int:
    """Print the lineage of the run whose id starts with `prefix`, and the folders and addresses of its policy."""
    store = Store()
    found = store.runs_by_id(prefix)
    allowed = f"the beginning of one run's id ({len(found)} match); see cardlab runs"
    check_that(len(found) == 1, "run", prefix, allowed)
    game, entry = found[0]
    tags = {key: text for key, text in entry.data.tags.items() if not key.startswith("mlflow.") and key not in OWN_TAGS}
    row, places = run_row(entry, game), list[str]()
    shown = {heading: text for heading, text in row.cells.items() if heading not in ("run", "of")}
    rows = {"run": row.id, **shown, "started": row.started, "command": row.command}
    rows |= {key: tags[key] for key in sorted(tags.keys() - shown)}
    for digest in tags.get(DIGEST, "").split():
        places += _folders_with(digest)
        if registered := Registry(store).find(digest):
            places.append(version_address(registered))
    if not places and (folder := policy_artifacts(store, entry)):
        places.append(str(folder))
    if as_json:
        more = {"tags": tags, "policies": places, "artifacts": entry.info.artifact_uri}
        print(json.dumps({**asdict(row), **more}, indent=1))
        return 0
    width = max(map(len, rows))
    for key, value in rows.items():
        if value:
            print(f"{printable(key):<{width}}  {printable(value)}")
    for place in places:
        print(f"{'policy':<{width}}  {place}")
    print(f"{'artifacts':<{width}}  {entry.info.artifact_uri}")
    return 0


def _folders_with(digest: str) -> Iterator[str]:
    """The folders of this project with the policy of this digest."""
    for pattern in ("models/*", "models/*/*", "champions/*", "runs/*/*/policy"):
        for folder in sorted(project_root().glob(pattern)):
            if folder.parent.is_symlink():  # runs/NAME/latest
                continue
            with suppress(PolicyError):
                if policy_digest(folder) == digest:
                    yield str(short_path(folder))
