"""Stage code: checks params.yaml and writes code.json, the digests of the code that the other stages use.

It runs before all other stages, so that a wrong value in params.yaml is an error before DVC removes a result. Each
other stage has as a parameter the digest of its own script and of all that the script uses. A new stage needs a line in
cardlab.experiments.stage_code and its script here.
"""

from cardlab.core.exit_status import REPRO, exit_on_signals, run_program

if __name__ == "__main__":
    exit_on_signals(REPRO)  # before the imports below

import json
import sys

from cardlab.core.files import write_atomically
from cardlab.core.running_code import own_sources
from cardlab.experiments.benchmark import check_benchmark
from cardlab.experiments.stage_code import CODE, load_params, stage_digests


def main() -> None:
    """Check the parameters and write the digest of each stage."""
    params = load_params()
    check_benchmark(params, elsewhere=True)
    digests = stage_digests(params, own_sources(params["experiments"]))
    write_atomically(CODE, json.dumps(digests, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    sys.exit(run_program(main, REPRO))
