"""How the programs of the project end when something is wrong: in one line, with an exit status that says whose fault.

Lowest layer: the command line and the stages of the pipeline use it alike.
"""

import errno
import os
import sys
from collections.abc import Callable

NOT_IN_DIGEST = "decides how a program exits"

FAILED = 1
USAGE_ERROR = 2  # the command line or the configuration is wrong: nothing was done
INTERRUPTED = 130

# What no program can help, the machine or a path that was given: told in one line, as no bug of ours. A file that is
# missing (ENOENT) is none of these: what we are asked to read or to write is checked where it is given.
_ENVIRONMENT_ERRORS = {
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EMFILE,
    errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP,
}  # fmt: skip


def run_program(run: Callable[[], int | None]) -> int:
    """The exit status of `run` (None is 0), whose faults are told on stderr.

    Errors that the package itself defines are messages for the user, in one line, and so are a full disk, a folder that
    may not be written, a path through a file, too little memory and their like; any other is a bug, with its trace.
    """
    try:
        return run() or 0
    except KeyboardInterrupt:
        print("cardlab: stopped", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # `cardlab … | head`: nobody reads on
        return FAILED
    except OSError as error:
        if not _is_cardlab_error(error) and error.errno not in _ENVIRONMENT_ERRORS:
            raise
        print(f"cardlab: error: {_os_error_text(error)}", file=sys.stderr)
        return FAILED
    except MemoryError as error:
        print(f"cardlab: error: too little memory: {' '.join(str(error).split()) or 'none is left'}", file=sys.stderr)
        return FAILED
    except Exception as error:
        if not _is_cardlab_error(error):
            raise
        print(f"cardlab: error: {' '.join(str(error).split())}", file=sys.stderr)
        return USAGE_ERROR if isinstance(error, ValueError) else FAILED


def _is_cardlab_error(error: Exception) -> bool:
    """Whether one of our packages defines the class of `error`."""
    return type(error).__module__.partition(".")[0] in ("cardlab", "cardlab_play")


def _os_error_text(error: OSError) -> str:
    """The file and what is wrong with it."""
    reason = (error.strerror or str(error)).strip()
    return f"{error.filename}: {reason[:1].lower()}{reason[1:]}" if error.filename else " ".join(reason.split())
