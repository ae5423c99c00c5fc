"""`cardlab compare`: which of several methods is better, by how much and how sure."""

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import Any

from rich.console import Console

from cardlab.cli.verbs import Request
from cardlab.core.files import check_folder, write_json
from cardlab.core.options import Flag, InvalidOption, Text
from cardlab.evaluation.progress import progress_bars
from cardlab.experiments.comparison.compare import compare_methods
from cardlab.experiments.comparison.figures import comparison_figures, comparison_tables
from cardlab.experiments.config.build_parts import build_game, group
from cardlab.experiments.config.options import convert
from cardlab.experiments.policy_groups import find_group, policies_by_seed
from cardlab.experiments.recorded_matches import record_comparison
from cardlab.tracking import Store
from cardlab.tracking.connection import project_root
from cardlab.tracking.lineage import lineage
from cardlab.tracking.run_state import RunState, unfinished_runs

_LINEAGE = ("git.commit", "git.dirty")


def run(request: Request) -> int:
    """Print the comparison, write comparison.json and comparison.html to a folder, and record them in MLflow."""
    config = request.config
    methods = convert("methods", config["methods"], tuple[Text, ...])
    game = build_game(config["game"]) if config.get("game") else None
    for text in methods:
        _report_unfinished(text)
    arena = group("arena", config["arena"])
    given = convert("output", config["output"], Text | None)
    folder = None if given is None else check_folder("output", given)
    store = Store() if convert("record", config["record"], Flag) else None
    with progress_bars() as progress:
        comparison = compare_methods(methods, game, progress=progress, **arena)
    figures = comparison_figures(comparison)
    if folder is None:
        folder = _default_folder([method.name for method in comparison.methods])
    files = [folder / "comparison.json", folder / "comparison.html"]
    write_json(files[0], figures, indent=2)
    from cardlab.experiments.comparison.page import write_comparison_page  # noqa: PLC0415 (imports Matplotlib)

    write_comparison_page(comparison, {key: text for key, text in lineage().items() if key in _LINEAGE}, files[1])
    if "--json" in request.flags:
        print(json.dumps(figures, indent=2))
    else:
        for table in comparison_tables(comparison):
            Console().print(table)
        print(*comparison.verdicts, f"page: {files[1]}", sep="\n")
    if store is not None:
        with redirect_stdout(sys.stderr) if "--json" in request.flags else nullcontext():  # stdout is JSON alone
            record_comparison(store, comparison, files=files)
    return 0


def _report_unfinished(method: str) -> None:
    """Print the seeds of a method that are not finished; InvalidOption if none is."""
    root, name = project_root(), Path(method).name
    states = [state for folder, state in unfinished_runs(root / "runs") if folder.parent.name == name]
    if not states:
        return
    try:
        found = find_group(method, root, key="methods")
    except InvalidOption:
        allowed = f"an experiment with a finished training; of {method} {_unfinished_text(states)}"
        raise InvalidOption("methods", method, allowed) from None
    if found.policies[0].resolve().parents[1].name != name:  # a method of the pipeline
        return
    seeds = policies_by_seed(found.policies)
    left = [each for each in states if _is_seed_of(each, found.config) and each.config.get("seed") not in seeds]
    if left:
        text = f"{method} is compared by {len(seeds)} of {len(seeds) + len(left)} seeds: {_unfinished_text(left)}"
        print(f"warning: {text}", file=sys.stderr)


def _is_seed_of(state: RunState, config: Mapping[str, Any]) -> bool:
    return {**state.config, "seed": None} == {**config, "seed": None}


def _unfinished_text(states: Sequence[RunState]) -> str:
    seeds = sorted({str(state.config.get("seed")) for state in states})
    are, them = ("s {} are", "them") if len(seeds) > 1 else (" {} is", "it")
    shown = are.format(", ".join(seeds))
    return f"seed{shown} not finished (running or interrupted); the same cardlab train command resumes {them}"


def _default_folder(names: Sequence[str]) -> Path:
    return Path("runs", "comparisons", "_vs_".join(name.replace("/", "_") for name in names)[:100])
