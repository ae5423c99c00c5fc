"""Lets tests import what lies beside them, and `website`, as plain modules; shared fixtures."""

import sys
from pathlib import Path

from hypothesis import settings

for folder in (Path(__file__).parent, Path(__file__).parents[1]):
    if str(folder) not in sys.path:
        sys.path.append(str(folder))  # at the end: nothing here may hide an installed package

settings.register_profile("kernels", deadline=None)  # a first call compiles
settings.load_profile("kernels")

from chromium import page  # noqa: E402  found by the path above
from postgresql import postgresql, postgresql_server  # noqa: E402
from small_games.scripted import roshambo_agents  # noqa: E402
from stores import fresh_database  # noqa: E402

__all__ = ["fresh_database", "page", "postgresql", "postgresql_server", "roshambo_agents"]
