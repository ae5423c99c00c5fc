"""Exit statuses and one-line error messages of the command line and the pipeline stages."""

import errno
import os
import sys
from collections.abc import Callable

NOT_IN_DIGEST = "decides how a program exits"

FAILED = 1
USAGE_ERROR = 2  # wrong command line or configuration: nothing was done
INTERRUPTED = 130

# Errors of the machine or of a path, printed in one line. ENOENT (missing file) is not among them, since paths of
# a user are checked before use.
_ENVIRONMENT_ERRORS = {
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EMFILE,
    errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP,
}  # fmt: skip


def run_program(run: Callable[[], int | None]) -> int:
    """Call `run`, print its error to stderr in one line, and return the exit status (None is 0).

    Errors of this package, a full disk, a read-only folder and too little memory are printed in one line. Any other
    exception is a bug and is raised.
    """
    try:
        return run() or 0
    except KeyboardInterrupt:
        print("cardlab: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # `cardlab … | head`: the reader has exited
        return FAILED
    except OSError as error:
        if not _is_cardlab_error(error) and error.errno not in _ENVIRONMENT_ERRORS:
            raise
        print(f"cardlab: error: {_os_error_text(error)}", file=sys.stderr)
        return FAILED
    except MemoryError as error:
        print(f"cardlab: error: too little memory: {' '.join(str(error).split()) or 'none free'}", file=sys.stderr)
        return FAILED
    except Exception as error:
        if not _is_cardlab_error(error):
            raise
        print(f"cardlab: error: {' '.join(str(error).split())}", file=sys.stderr)
        return USAGE_ERROR if isinstance(error, ValueError) else FAILED


def _is_cardlab_error(error: Exception) -> bool:
    """Whether the class of `error` is defined in cardlab or cardlab_play."""
    return type(error).__module__.partition(".")[0] in ("cardlab", "cardlab_play")


def _os_error_text(error: OSError) -> str:
    """The file name and the reason."""
    reason = (error.strerror or str(error)).strip()
    return f"{error.filename}: {reason[:1].lower()}{reason[1:]}" if error.filename else " ".join(reason.split())
