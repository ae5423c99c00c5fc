"""The command `cardlab`: one verb per module, each with its configuration in conf/."""

from collections.abc import Sequence

from cardlab.core.exit_status import run_program, start_program

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line `arguments`, by default those of the process; returns the exit status."""

    def run() -> int:
        from cardlab.cli.program import run_arguments  # noqa: PLC0415  a signal during the import is reported too

        return run_arguments(arguments)

    if arguments is None:
        start_program()
    return run_program(run)
