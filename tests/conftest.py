"""Lets tests import the small games beside them as plain modules: `from small_games.kuhn import Kuhn`."""

import sys
from pathlib import Path

FOLDER = str(Path(__file__).parent)
if FOLDER not in sys.path:
    sys.path.append(FOLDER)  # at the end: nothing here may hide an installed package
