"""Run stages one after another in the working directory, and write which modules of cardlab each of them loads.

Usage: loaded_modules.py JSON, a list of [STAGE, ARGUMENT…]. Other packages are imported once; each stage is a fork.
"""

import json
import os
import runpy
import sys
import traceback
from pathlib import Path

import lightning  # noqa: F401
import mlflow  # noqa: F401
import numba  # noqa: F401
import omegaconf  # noqa: F401
import torch  # noqa: F401


def run(stage: str, *arguments: str) -> None:
    """Run the stage, and write the modules to STAGE_ARGUMENT.json."""
    runpy.run_path(f"pipelines/{stage}.py", run_name="imported")["main"](*arguments)
    loaded = sorted(name for name in sys.modules if name.partition(".")[0] == "cardlab")
    Path(f"{'_'.join([stage, *arguments])}.json").write_text(json.dumps(loaded))
    os._exit(0)


for command in json.loads(sys.argv[1]):
    child = os.fork()
    if not child:
        try:
            run(*command)
        except BaseException:
            traceback.print_exc()
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, command
