"""Stage report: one page on all experiments of params.yaml."""

import sys
from pathlib import Path
from typing import Any, cast

from omegaconf import OmegaConf

from cardlab.core.exit_status import run_program
from cardlab.experiments.report.page import write_report
from cardlab.experiments.report.results import read_results, read_tournaments
from cardlab.tracking import Store
from cardlab.tracking.lineage import lineage

_TOLD = ("git.commit", "git.dirty", "dvc.experiment", "dvc.baseline", "versions")  # not the machine: it decides nothing


def main() -> None:
    """Write report/index.html, and keep its pictures with the runs in MLflow that they tell of."""
    experiments = cast(dict[str, Any], OmegaConf.to_container(OmegaConf.load("params.yaml").experiments))
    results = read_results(Path("results"), experiments)
    tags = lineage()
    folder, told = Path("report"), {key: tags[key] for key in _TOLD if key in tags}
    write_report(results, told, folder, read_tournaments(Path("results", "tournaments")))
    store = Store()
    for result in results:
        pictures = sorted((folder / "figures" / result.name).glob("*.svg"))
        store.attach_files(result.game, result.evaluation["policy_digest"], pictures, "figures")


if __name__ == "__main__":
    sys.exit(run_program(main))
