"""Stage tune: the sweep `tune` of params.yaml; its study, its trials and its best values.

The study grows in studies/, under a name that holds a hash of configuration and code: a sweep that was cut off goes on
when the stage is run again, and one that is changed begins anew.
"""

import json
import shutil
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast

from omegaconf import OmegaConf

from cardlab.core.exit_status import reported
from cardlab.experiments.config.options import build_options
from cardlab.experiments.config.values import flat_space
from cardlab.experiments.sweep.compose_trials import TrialComposer
from cardlab.experiments.sweep.options import SweepOptions
from cardlab.experiments.sweep.space import Space
from cardlab.experiments.sweep.study import find_study
from cardlab.experiments.sweep.summary import trials_table
from cardlab.experiments.sweep.sweep import run_sweep, study_name
from cardlab.experiments.sweep.worker import STUDIES
from cardlab.tracking import Store
from cardlab.training.run import run_folder


def main() -> None:
    """Run the sweep and write tuned/NAME/."""
    tune = cast(dict[str, Any], OmegaConf.to_container(OmegaConf.load("params.yaml").tune))
    config, sweep = tune["experiment"], tune["sweep"]
    options = build_options(SweepOptions, {**sweep, "space": flat_space(sweep["space"])}, "sweep")
    store, compose_trial = Store(), TrialComposer(config)
    code = run_folder(Path(), compose_trial({})).name[:8]
    best = run_sweep(replace(options, study=f"{study_name(options, config)}_{code}"), config, compose_trial)
    folder, studies = Path("tuned", config["name"]), store.root / STUDIES
    folder.mkdir(parents=True, exist_ok=True)
    study = find_study(studies, best.study, None)
    (folder / "trials.csv").write_text(trials_table(study, Space.parse(options.space, config)))
    shutil.copyfile(studies / f"{best.study}.journal", folder / "study.journal")
    told = {key: value for key, value in asdict(best).items() if key not in ("study", "front")}
    (folder / "best.json").write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(reported(main))
