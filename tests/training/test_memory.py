"""What an iteration of Big 2, the largest game, needs of memory."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ITERATIONS = """
import json, sys
from pathlib import Path
from cardlab.experiments.config.composition import compose_experiment
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.training.run import train

overrides = ["game=big2", "trainer.parallel_games=1024", "agent.decisions_per_iteration=8192"]
overrides += ["trainer.decisions=16_384", "trainer.evaluations=1", *sys.argv[2:]]
folder = Path(sys.argv[1])
trained = train(build_experiment(compose_experiment(overrides)), run_dir=folder / "run", model_dir=folder / "model")
status = Path("/proc/self/status").read_text()  # ru_maxrss would count the process that started this one
peak = int(status.split("VmHWM:")[1].split()[0])
print(json.dumps({"iterations": trained.iterations, "kibibytes": peak}))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "overrides", [["agent=ppo"], ["agent=ppo", "network=actions"], ["agent=dqn", "network=actions"]]
)
def test_iterations_of_1024_games_stay_under_two_gibibytes(overrides: list[str], tmp_path: Path) -> None:
    """The whole process, libraries and compiled kernels included."""
    command = [sys.executable, "-c", ITERATIONS, str(tmp_path), *overrides]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    seen = json.loads(said.splitlines()[-1])
    print(overrides, f"{seen['kibibytes'] / 1024:.0f} MiB after {seen['iterations']} iterations")
    assert seen["iterations"] == 2
    assert seen["kibibytes"] < 2 * 1024**2
