"""The benchmarks can be collected: a name that they import is not renamed without them."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_every_benchmark_can_be_imported() -> None:
    command = [sys.executable, "-m", "pytest", "benchmarks", "--collect-only", "-q", "-p", "no:cacheprovider"]
    collected = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
    assert collected.returncode == 0, collected.stdout


@pytest.mark.slow
def test_the_benchmark_of_a_gpu_runs_on_a_cpu_with_tiny_numbers() -> None:
    command = [sys.executable, "benchmarks/gpu.py", "--tiny"]
    done = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if "network, float32 |" in line]
    assert [row.split("|")[2].strip() for row in rows] == ["1", "1", "2"]
