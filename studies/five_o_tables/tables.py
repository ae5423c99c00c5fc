"""Stage five_o_tables: Tables II and III and Figures 1 to 4 of the Five-O paper.

Usage: tables.py. Reads params.yaml in this folder; writes results.json, tables.md and figure_*.svg beside it.
"""

import json
import sys
from pathlib import Path
from typing import Any, cast

from omegaconf import OmegaConf

from cardlab.core.exit_status import run_program
from figures import write_page
from five_o_experiments import FiveOOptions, run_experiments

FOLDER = Path(__file__).parent


def main() -> None:
    """Run the experiments and write their numbers, the tables and the figures."""
    config = cast(dict[str, Any], OmegaConf.to_container(OmegaConf.load(FOLDER / "params.yaml").five_o_tables))
    results = run_experiments(FiveOOptions(**config), lambda text: print(text, flush=True))
    write_page(results, FOLDER)
    (FOLDER / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(run_program(main))
