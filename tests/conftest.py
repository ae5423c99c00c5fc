"""Lets tests import what lies beside them as plain modules: `from small_games.kuhn import Kuhn`; shared fixtures."""

import sys
from pathlib import Path

from hypothesis import settings

FOLDER = str(Path(__file__).parent)
if FOLDER not in sys.path:
    sys.path.append(FOLDER)  # at the end: nothing here may hide an installed package

settings.register_profile("kernels", deadline=None)  # a first call compiles
settings.load_profile("kernels")

from chromium import page  # noqa: E402  found by the path above
from postgresql import postgresql, postgresql_server  # noqa: E402
from stores import fresh_database  # noqa: E402

__all__ = ["fresh_database", "page", "postgresql", "postgresql_server"]
