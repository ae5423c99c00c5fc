"""Lets tests import what lies beside them, and `website`, as plain modules; shared fixtures."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault("OMP_NUM_THREADS", "1")  # as trainer.threads: more would only wait for those of other tests

for folder in (Path(__file__).parent, Path(__file__).parents[1]):
    if str(folder) not in sys.path:
        sys.path.append(str(folder))  # at the end: nothing here may hide an installed package

settings.register_profile("kernels", deadline=None)  # a first call compiles
settings.load_profile("kernels")

from chromium import page  # noqa: E402  found by the path above
from postgresql import postgresql, postgresql_server  # noqa: E402
from seeds_here import seeds_here  # noqa: E402
from small_games.scripted import roshambo_agents  # noqa: E402
from stores import fresh_database  # noqa: E402

LONGEST_FILES = (
    "documentation/test_commands.py",
    "pipelines/test_pipeline.py",
    "pipelines/test_sharing.py",
    "training/test_joined_group.py",
    "pipelines/test_stages.py",
    "play/test_stateful_secrecy.py",
    "experiments/test_seeds.py",
    "pipelines/test_killed_stages.py",
    "experiments/sweep/test_shared_sweeps.py",
    "play/browser/test_whole_games.py",
    "cli/test_training.py",
    "training/test_combinations.py",
    "failures/test_killed_training.py",
    "training/test_processes.py",
    "experiments/sweep/test_sweep.py",
    "training/test_resume.py",
    "tracking/test_run.py",
    "failures/test_killed_matches.py",
)
"""They begin first where files are shared out among processes, so that none is left for one process at the end."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--kills", type=int, help="runs of each series of kills at random moments; default: KILLS of its file"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Number the runs of a series of kills; the number seeds its moments."""
    if "kill" in metafunc.fixturenames:
        kills = metafunc.config.getoption("--kills")
        metafunc.parametrize("kill", range(metafunc.module.KILLS if kills is None else kills))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first; the order of the rest stays."""
    rank = {Path(__file__).parent / name: number for number, name in enumerate(LONGEST_FILES)}
    items.sort(key=lambda item: rank.get(item.path, len(rank)))


__all__ = ["fresh_database", "page", "postgresql", "postgresql_server", "roshambo_agents", "seeds_here"]
