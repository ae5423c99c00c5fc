"""Trainings with several seeds in the test's own process: their processes are tested in experiments/test_seeds.py."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest


@pytest.fixture
def seeds_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeds are trained one after another and start no processes."""
    from cardlab.experiments import seeds  # noqa: PLC0415  imports MLflow

    def train_each(jobs: Mapping[str, tuple[Any, ...]], _: int, show: Callable[[str, str], None]) -> None:
        for name, job in jobs.items():
            seeds.train_seed(*job, partial(show, name))

    monkeypatch.setattr(seeds, "_run_in_parallel", train_each)
