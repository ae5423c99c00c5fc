"""Run stages one after another in the working directory, and write which modules of cardlab each of them loads.

Usage: loaded_modules.py JSON, a list of [STAGE, ARGUMENT…]. Other packages are imported once; each stage is a fork.
The processes that a stage starts import this file, too: what they load counts as the stage's. Only the first training
starts processes for its seeds: those of the others would load the same modules.
"""

import atexit
import json
import os
import runpy
import sys
import tempfile
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import lightning  # noqa: F401
import mlflow  # noqa: F401
import numba  # noqa: F401
import omegaconf  # noqa: F401
import torch  # noqa: F401

FOLDER = "FOLDER_OF_LOADED_MODULES"


def run(stage: str, *arguments: str, is_first: bool) -> None:
    """Run the stage, and write the modules to STAGE_ARGUMENT.json."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ[FOLDER] = folder
        main = runpy.run_path(f"pipelines/{stage}.py", run_name="imported")["main"]
        if stage == "train" and not is_first:
            from cardlab.experiments import seeds  # noqa: PLC0415  which the stage has imported

            seeds._run_in_parallel = train_each
        main(*arguments)
        write_loaded()
        loaded = {name for path in Path(folder).iterdir() for name in json.loads(path.read_text())}
    Path(f"{'_'.join([stage, *arguments])}.json").write_text(json.dumps(sorted(loaded)))


def train_each(jobs: Mapping[str, tuple[Any, ...]], *_: object) -> None:
    """Train one seed after another in this process."""
    from cardlab.experiments.seeds import train_seed  # noqa: PLC0415  as above

    for job in jobs.values():
        train_seed(*job, print)


def write_loaded() -> None:
    """Write the modules that this process has loaded."""
    loaded = [name for name in sys.modules if name.partition(".")[0] == "cardlab"]
    Path(os.environ[FOLDER], f"{os.getpid()}.json").write_text(json.dumps(loaded))


def run_all(commands: list[list[str]]) -> None:
    """Run each command in a fork."""
    for number, command in enumerate(commands):
        child = os.fork()
        if not child:
            try:
                run(*command, is_first=number == 0)
                os._exit(0)
            except BaseException:
                traceback.print_exc()
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, command


if __name__ == "__main__":
    run_all(json.loads(sys.argv[1]))
elif __name__ == "__mp_main__":
    atexit.register(write_loaded)
