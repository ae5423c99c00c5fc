"""The command `cardlab`: one verb per module, each with its configuration in conf/."""

from cardlab.cli.program import main

__all__ = ["main"]
