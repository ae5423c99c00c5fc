"""Stage code: checks params.yaml and writes code.json, the digests of the code that the other stages use.

It runs before all other stages, so that a wrong value in params.yaml is an error before DVC removes a result. Each
other stage has as a parameter the digest of its own script and of all that the script imports. A new stage needs a line
below and its script here.
"""

from cardlab.core.exit_status import REPRO, exit_on_signals, run_program

if __name__ == "__main__":
    exit_on_signals(REPRO)  # before the imports below

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from omegaconf import OmegaConf

from cardlab.core.code_digest import Config, Sources
from cardlab.core.files import write_atomically
from cardlab.experiments.benchmark import check_benchmark

CHAMPION = {"agents": ["champion"]}  # an agent that the configuration does not name
EXPERIMENT_STAGES: dict[str, Config] = {"train": {}, "evaluate": {}, "promote": CHAMPION}
BENCHMARK_STAGES = ("tournaments", "report")  # one for all experiments
OUTPUT = Path("code.json")


def main() -> None:
    """Check the parameters and write the digest of each stage."""
    params = cast(dict[str, Any], OmegaConf.to_container(OmegaConf.load("params.yaml")))
    check_benchmark(params, elsewhere=True)
    experiments: dict[str, Config] = params["experiments"]
    sources = Sources(Path("src"))

    def digest(script: str, configs: Sequence[Config]) -> str:
        return sources.digest([Path("pipelines", f"{script}.py")], configs)

    digests: dict[str, Any] = {stage: digest(stage, list(experiments.values())) for stage in BENCHMARK_STAGES}
    digests["experiments"] = {
        name: {stage: digest(stage, [{**config, **more}]) for stage, more in EXPERIMENT_STAGES.items()}
        for name, config in experiments.items()
    }
    digests["compare"] = {
        key: digest("compare", [experiments[name] for name in pair]) for key, pair in params.get("compare", {}).items()
    }
    if "tune" in params:
        digests["tune"] = digest("tune", [{**params["tune"]["experiment"], "sweep": params["tune"]["sweep"]}])
    write_atomically(OUTPUT, json.dumps(digests, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    sys.exit(run_program(main, REPRO))
