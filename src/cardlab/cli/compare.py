"""`cardlab compare`: which of several methods is better, by how much and how sure."""

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, redirect_stdout, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from rich.console import Console

from cardlab.agents.policy_descriptions import policy_digest
from cardlab.cli.verbs import Outcome, Request
from cardlab.core.exit_status import INTERRUPTED
from cardlab.core.files import check_folder, write_json
from cardlab.core.options import Flag, Text, checked
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.played_deals import played_scores
from cardlab.evaluation.progress import progress_bars
from cardlab.evaluation.scores import or_part
from cardlab.experiments.comparison.compare import compare_groups, find_groups
from cardlab.experiments.comparison.figures import comparison_figures, comparison_tables, find_effect
from cardlab.experiments.config.build_parts import build_arena, build_game
from cardlab.experiments.policy_groups import (
    PolicyGroup,
    describe_other_groups,
    find_group,
    policies_by_seed,
    resume_hint,
    unfinished_of,
)
from cardlab.experiments.recorded_matches import record_comparison
from cardlab.games.protocol import Game
from cardlab.tracking import Store, TrackingUnavailable
from cardlab.tracking.connection import project_root
from cardlab.tracking.lineage import lineage
from cardlab.tracking.policy_lookup import deleted_policies, mixed_groups, policy_filter

_LINEAGE = ("git.commit", "git.dirty")
_COMPARISONS = Path("runs", "comparisons")
_NAME_LENGTH = 100  # bytes


def run(request: Request) -> Outcome:
    """Print the comparison, write comparison.json and comparison.html to a folder, and record them in MLflow."""
    config = request.config
    methods = checked("methods", config["methods"], tuple[Text, ...])
    game = build_game(config["game"]) if config.get("game") else None
    for text in methods:
        _report_unfinished(text)
        if not Path("models", text).is_dir() and (others := describe_other_groups(text, project_root())):
            print(f"warning: {others}", file=sys.stderr)
    groups = _without_deleted(find_groups(methods, "" if game is None else game.spec.name))
    arena = build_arena(config["arena"])
    given = checked("output", config["output"], Text | None)
    existing = next(str(place) for place in (_COMPARISONS, *_COMPARISONS.parents) if place.is_dir())
    folder = check_folder("output", existing if given is None else given)  # before anything is played
    store = Store() if checked("record", config["record"], Flag) else None
    place = None if given is None else folder
    return report_comparison(groups, game, arena, store, folder=place, as_json="--json" in request.flags)


def report_comparison(
    groups: Mapping[str, PolicyGroup],
    game: Game | None,
    arena: ArenaOptions,
    store: Store | None,
    *,
    folder: Path | None = None,
    as_json: bool = False,
) -> Outcome:
    """Compare the groups, print tables and verdicts, write the files to `folder`, and record them in `store`."""
    with progress_bars() as progress:
        played = played_scores(project_root())
        compare = partial(compare_groups, groups, game, arena, progress=progress, played=played)
        comparison, complete = or_part(compare)
    figures = comparison_figures(comparison)
    _report_mixed([digest for method in comparison.methods for digest in method.digests])
    folder = folder or _default_folder([method.name for method in comparison.methods])
    files = [folder / "comparison.json", folder / "comparison.html"]
    write_json(files[0], figures, indent=2)
    from cardlab.experiments.comparison.page import write_comparison_page  # noqa: PLC0415 (imports Matplotlib)

    write_comparison_page(comparison, {key: text for key, text in lineage().items() if key in _LINEAGE}, files[1])
    if as_json:
        print(json.dumps(figures, indent=2))
    else:
        for table in comparison_tables(comparison):
            Console().print(table)
        effect = find_effect(comparison)
        verdicts = [*comparison.verdicts, *([effect.verdict] if effect else [])]
        print(*verdicts, f"page: {files[1]}", sep="\n")
    if store is not None and complete:
        with redirect_stdout(sys.stderr) if as_json else nullcontext():  # stdout is JSON alone
            record_comparison(store, comparison, files=files)
    return Outcome(comparison, 0 if complete else INTERRUPTED)


def _without_deleted(groups: Mapping[str, PolicyGroup]) -> Mapping[str, PolicyGroup]:
    """The groups without policies whose runs were deleted in MLflow, unless it is all of them; prints a warning."""
    deleted: set[str] = set()
    with suppress(TrackingUnavailable):
        deleted = deleted_policies(Store())
    kept: dict[str, PolicyGroup] = {}
    for name, group in groups.items():
        policies = tuple(policy for policy in group.policies if policy_digest(policy) not in deleted)
        kept[name] = replace(group, policies=policies or group.policies)
        if left := len(group.policies) - len(kept[name].policies):
            seeds = "a seed whose run was" if left == 1 else f"{left} seeds whose runs were"
            print(f"warning: {name} is compared without {seeds} deleted", file=sys.stderr)
    return kept


def _report_mixed(digests: Sequence[str]) -> None:
    """Print which methods have seeds of different code or versions, as far as the store knows their trainings."""
    with suppress(TrackingUnavailable):
        store = Store()
        runs = {run.info.run_id: run for each in digests for _, run in store.search_runs(policy_filter(each))}
        for line in mixed_groups(runs.values()):
            print(f"warning: {line}", file=sys.stderr)


def _report_unfinished(method: str) -> None:
    """Print the seeds of a method that are not finished; InvalidOption if none is."""
    root = project_root()
    states = unfinished_of(method, root)
    if not states:
        return
    found = find_group(method, root, key="methods")
    if found.policies[0].resolve().parents[1].name != Path(method).name:  # a method of the pipeline
        return
    seeds = policies_by_seed(found.policies)
    same = [each for each in states if {**each.config, "seed": None} == {**found.config, "seed": None}]
    left = [each for each in same if each.config.get("seed") not in seeds]
    if left:
        text = f"{method} is compared by {len(seeds)} of {len(seeds) + len(left)} seeds: {resume_hint(left)}"
        print(f"warning: {text}", file=sys.stderr)


def _default_folder(names: Sequence[str]) -> Path:
    name = "_vs_".join(name.replace("/", "_") for name in names)
    if len(name.encode()) > _NAME_LENGTH:
        name = f"{name.encode()[:_NAME_LENGTH].decode(errors='ignore')}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return _COMPARISONS / name
