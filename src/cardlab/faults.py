"""How the programs of the project end when something is wrong: in one line, with an exit status that says whose fault.

Lowest layer: the command line and the stages of the pipeline use it alike.
"""

import os
import sys
from collections.abc import Callable

FAILED = 1
MISUSED = 2  # the command line or the configuration is wrong: nothing was done
INTERRUPTED = 130


def reported(run: Callable[[], int | None]) -> int:
    """The exit status of `run` (None is 0), whose faults are told on stderr.

    Errors that the package itself defines are messages for the user, in one line; any other is a bug, with its trace.
    """
    try:
        return run() or 0
    except KeyboardInterrupt:
        print("cardlab: stopped", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # `cardlab … | head`: nobody reads on
        return FAILED
    except Exception as error:
        if type(error).__module__.partition(".")[0] != "cardlab":
            raise
        print(f"cardlab: error: {' '.join(str(error).split())}", file=sys.stderr)
        return MISUSED if isinstance(error, ValueError) else FAILED
