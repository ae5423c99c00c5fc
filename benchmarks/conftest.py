"""Lets benchmarks import what lies beside them as plain modules."""

import sys
from pathlib import Path

if str(Path(__file__).parent) not in sys.path:
    sys.path.append(str(Path(__file__).parent))  # at the end: nothing here may hide an installed package
