"""Lets tests import what lies beside them, and `tools/website`, as plain modules; shared fixtures."""

import os
import sys
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault("OMP_NUM_THREADS", "1")  # as trainer.threads: more would only wait for those of other tests

for folder in (Path(__file__).parent, Path(__file__).parents[1], Path(__file__).parents[1] / "tools"):
    if str(folder) not in sys.path:
        sys.path.append(str(folder))  # at the end: nothing here may hide an installed package

settings.register_profile("kernels", deadline=None)  # a first call compiles
settings.load_profile("kernels")

from chromium import page  # noqa: E402  found by the path above
from postgresql import postgresql, postgresql_server  # noqa: E402
from quick_python import quick_children, quick_python  # noqa: E402
from seeds_here import seeds_here  # noqa: E402
from small_games.scripted import roshambo_agents  # noqa: E402
from stores import fresh_database  # noqa: E402

LONGEST_FILES = (
    "documentation/test_commands.py",
    "pipelines/test_pipeline.py",
    "pipelines/test_sharing.py",
    "training/test_external_launch.py",
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
"""The processes begin with them, and share out the short tests at the end: none is left with a long one alone."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--kills", type=int, help="runs of each series of kills at random moments; default: KILLS of its file"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Number the runs of a series of kills; the number seeds its moments."""
    if "kill" in metafunc.fixturenames:
        kills = metafunc.config.getoption("--kills")
        metafunc.parametrize("kill", range(metafunc.module.KILLS if kills is None else kills))


@pytest.hookimpl(trylast=True)  # when marks have chosen the items
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first in each half; the order of the rest stays."""
    longest: dict[Path, list[pytest.Item]] = {Path(__file__).parent / name: [] for name in LONGEST_FILES}
    rest: list[pytest.Item] = []
    for item in items:
        longest.get(item.path, rest).append(item)
    first, second = (list(chain.from_iterable(list(longest.values())[half::2])) for half in (0, 1))
    cut = max(0, len(items) // 2 - len(first))
    items[:] = [*first, *rest[:cut], *second, *rest[cut:]]


__all__ = [
    "fresh_database",
    "page",
    "postgresql",
    "postgresql_server",
    "quick_children",
    "quick_python",
    "roshambo_agents",
    "seeds_here",
]
