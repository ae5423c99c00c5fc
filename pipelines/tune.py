"""Stage tune: the sweep `tune` of params.yaml; its trials and its best values.

The study is kept in studies.db at the root, which is no output: its name holds a hash of configuration and code, so an
interrupted sweep resumes when the stage is run again, also in a temporary copy of the project, and a changed one is a
new study.
"""

from cardlab.core.exit_status import REPRO, exit_on_signals, run_program

if __name__ == "__main__":
    exit_on_signals(REPRO)  # before the imports below

import json
import sys
from pathlib import Path

from cardlab.experiments.stage_code import read_params
from cardlab.experiments.sweep.options import build_sweep
from cardlab.experiments.sweep.study import find_study
from cardlab.experiments.sweep.summary import trials_table
from cardlab.experiments.sweep.sweep import run_sweep
from cardlab.tracking import Store


def main() -> None:
    """Run the sweep and write studies/tuning/NAME/."""
    tune = read_params("tune")["tune"]
    config, options = tune["experiment"], build_sweep(tune["sweep"])
    result = run_sweep(options, config)
    folder = Path("studies", "tuning", config["name"])
    folder.mkdir(parents=True, exist_ok=True)
    study = find_study(Store().root, result.study, options.storage)
    (folder / "trials.csv").write_text(trials_table(study))
    kept = {"value": result.best.value, "values": result.best.values, "trials": result.trials}
    (folder / "best.json").write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(run_program(main, REPRO))
