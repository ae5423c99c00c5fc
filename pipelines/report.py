"""Stage report: one page on all experiments of params.yaml."""

import sys
from pathlib import Path
from typing import Any, cast

from omegaconf import OmegaConf

from cardlab.faults import reported
from cardlab.reporting.page import write_report
from cardlab.reporting.results import read_results
from cardlab.tracking.lineage import lineage

_TOLD = ("git.commit", "git.dirty", "dvc.experiment", "dvc.baseline", "versions")  # not the machine: it decides nothing


def main() -> None:
    """Write report/index.html."""
    experiments = cast(dict[str, Any], OmegaConf.to_container(OmegaConf.load("params.yaml").experiments))
    results = read_results(Path("results"), experiments)
    tags = lineage()
    write_report(results, {key: tags[key] for key in _TOLD if key in tags}, Path("report"))


if __name__ == "__main__":
    sys.exit(reported(main))
