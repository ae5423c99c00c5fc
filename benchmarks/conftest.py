"""Lets benchmarks import what lies beside them as plain modules, and keeps torch to one core."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

if str(Path(__file__).parent) not in sys.path:
    sys.path.append(str(Path(__file__).parent))  # at the end: nothing here may hide an installed package


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Torch's arithmetic on one core."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
