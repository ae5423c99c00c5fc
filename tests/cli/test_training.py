"""From `cardlab train` to a policy that is evaluated and listed, as a user does it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from recipes import recipes

PROGRAM = [sys.executable, "-c", "import sys; from cardlab.cli import main; sys.exit(main())"]
EXPERIMENTS = recipes("experiment")
LESS_WORK = {
    "poker_squares/champion": ["agent.rollouts=1"],  # its own slow network plays them
    "thirty_one/dqn_tuned": [
        "trainer.decisions=20_000"
    ],  # the sweep wrote a budget, which trainer=smoke does not replace
}


def cardlab(folder: Path, *arguments: str) -> str:
    environment = {key: value for key, value in os.environ.items() if key not in ("DVC_ROOT", "MLFLOW_TRACKING_URI")}
    done = subprocess.run(
        [*PROGRAM, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_experiment_trains_and_is_evaluated(tmp_path: Path, experiment: str) -> None:
    options = ["trainer=smoke", "agent.decisions_per_iteration=2048", *LESS_WORK.get(experiment, [])]
    told = cardlab(tmp_path, "train", f"experiment={experiment}", *options)
    found = re.search(r"^policy: (\S+)$", told, re.MULTILINE)
    assert found is not None, told
    policy = found[1]
    assert re.fullmatch(r"runs/\w+/latest/policy", policy)
    assert (tmp_path / policy / "policy.json").is_file()
    assert (tmp_path / policy).with_name("curve.csv").is_file()
    assert "95 %" in cardlab(tmp_path, "evaluate", f"policy={policy}", "arena.deals=50")
    headings, *runs = cardlab(tmp_path, "runs", f"policy={policy}", "kind=training").splitlines()
    assert headings.split()[:3] == ["name", "kind", "game"]
    assert [" finished " in run for run in runs] == [True]
