"""Stage five_o_tables: the seed's Tables II and III and Figures 1 to 4 of Five-O, run again.

Usage: tables.py. Reads params.yaml beside it; writes docs/games/five_o/.
"""

import json
import sys
from pathlib import Path
from typing import Any, cast

from omegaconf import OmegaConf

from cardlab.core.exit_status import reported
from cardlab.experiments.report.five_o_experiments import FiveOOptions, run_experiments
from cardlab.experiments.report.five_o_figures import write_page

PARAMS = Path("pipelines", "five_o", "params.yaml")
FOLDER = Path("docs", "games", "five_o")


def main() -> None:
    """Run the experiments and write their numbers, the tables and the pictures."""
    config = cast(dict[str, Any], OmegaConf.to_container(OmegaConf.load(PARAMS).five_o_tables))
    results = run_experiments(FiveOOptions(**config), lambda text: print(text, flush=True))
    write_page(results, FOLDER)
    (FOLDER / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(reported(main))
