"""Stage report: one page on all experiments of params.yaml."""

from cardlab.core.exit_status import REPRO, exit_on_signals, run_program

if __name__ == "__main__":
    exit_on_signals(REPRO)  # before the imports below

import sys
from itertools import product
from pathlib import Path
from typing import Any

from cardlab.experiments.learning_curves import write_learning_curves
from cardlab.experiments.report.page import write_report
from cardlab.experiments.report.read_results import (
    read_comparisons,
    read_exploitability,
    read_methods,
    read_results,
    read_tournaments,
)
from cardlab.experiments.stage_code import read_params
from cardlab.tracking import Store, TrackingUnavailable
from cardlab.tracking.policy_lookup import policy_filter


def main() -> None:
    """Write report/index.html, and log its pictures to the evaluations in MLflow."""
    params = read_params("report")
    experiments: dict[str, Any] = params["experiments"]
    results = read_results(Path("results"), experiments)
    folder = Path("report")
    tournaments, comparisons = (Path("results", name) for name in ("tournaments", "comparisons"))
    methods = read_methods(Path("results", "methods.json"))
    tables = (read_tournaments(tournaments), read_comparisons(comparisons, params["compare"]), methods)
    write_report(results, folder, *tables, read_exploitability(Path("champions")))
    games = {result.name: result.game for result in results}
    write_learning_curves(Path("results"), games, Path("learning_curves"))
    store = Store()
    for result in results:
        pictures = sorted((folder / "figures" / result.name).glob("*.svg"))
        _attach(store, result.game, result.policy_digest, pictures)


def _attach(store: Store, game: str, digest: str, pictures: list[Path]) -> None:
    """Log the pictures to the latest evaluation of the policy with this digest; print a warning if the store fails.

    A clone whose results come from DVC's cache has no such run.
    """
    try:
        condition = f"tags.kind = 'evaluation' and {policy_filter(digest)}"
        with store.wrap_errors():
            for (_, run), picture in product(store.search_runs(condition, game, 1), pictures):
                store.client.log_artifact(run.info.run_id, str(picture), "figures")
    except TrackingUnavailable as error:
        print(f"warning: the pictures of {game} are not in the store: {error}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(run_program(main, REPRO))
