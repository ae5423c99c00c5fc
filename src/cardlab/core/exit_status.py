"""Exit statuses and one-line error messages of the command line and the pipeline stages."""

import atexit
import errno
import gc
import logging
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from getpass import getuser
from tempfile import gettempdir

from cardlab.core.messages import without_password

NOT_IN_DIGEST = "decides how a program exits"

FAILED = 1
USAGE_ERROR = 2  # wrong command line or configuration: nothing was done
INTERRUPTED = 130
RESUME_HINT = "run the same command again to resume"
REPRO = "run dvc repro again to resume"

_LONGEST = 4000  # characters of a message
_SECONDS_TO_RETURN = 0.01  # for a finalizer
_FULL_DISK_BYTES = 1_000_000  # bytes on a full disk

_STOPPED = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "hung up"}

# Errors of the machine or of a path, printed in one line. ENOENT (missing file) is not among them, since paths of
# a user are checked before use.
_ENVIRONMENT_ERRORS = {
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EMFILE,
    errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP,
}  # fmt: skip


def run_program(run: Callable[[], int | None], hint: str = "") -> int:
    """Call `run`, print its error to stderr in one line, and return the exit status (None is 0).

    A signal decides the status (interrupted 130, terminated 143, hung up 129), whatever `run` or a library makes of it;
    `hint` is printed with it. Errors of this package, a full disk, a read-only folder and too little memory are printed
    in one line each. Any other exception is a bug and is raised.
    """
    with _stoppable() as received:
        try:
            status = _run(run)
        except KeyboardInterrupt:
            status = INTERRUPTED
            received.append(signal.SIGINT)
        except SystemExit as stop:  # Lightning raises it after Ctrl-C
            status = FAILED if received else _status_of(stop)
        except Exception:
            if not received:
                raise
            status = FAILED
        if not received:
            return status
    return _report(received[0], hint)


def start_program() -> None:
    """Let this process do without garbage collections of all objects, also at its end. Not for a library.

    Torch, Lightning and MLflow make objects that stay: their imports take a quarter less time without, and the end 0.2
    seconds in place of 1.4.
    """
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, 1000)
    atexit.register(gc.freeze)
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it warns twice where HOME cannot be written to
    try:
        getuser()
    except (KeyError, OSError):  # a user id that the system has no name for, as of docker run --user: MLflow asks
        os.environ["LOGNAME"] = f"uid-{os.getuid()}"


def exit_on_signals(hint: str) -> None:
    """Let a signal end the process at once, with the line and the status of `run_program`.

    A program calls this before its imports, which take seconds; `run_program` then handles the signals while it runs.
    """
    start_program()

    def stop(number: int, _: object) -> None:
        os._exit(_report(signal.Signals(number), hint))

    for number in _handlers():
        signal.signal(number, stop)


def _report(received: signal.Signals, hint: str) -> int:
    print(f"cardlab: {_STOPPED[received.name]}{'; ' if hint else ''}{hint}", file=sys.stderr, flush=True)
    return 128 + received


def _handlers() -> dict[int, object]:
    """Signal → handler, without signals that are ignored, such as SIGHUP under nohup, or whose handler is not Python's.

    Empty outside the main thread, where Python allows no handlers.
    """
    if threading.current_thread() is not threading.main_thread():
        return {}
    numbers = [getattr(signal, name) for name in _STOPPED if hasattr(signal, name)]
    handlers = {number: signal.getsignal(number) for number in numbers}
    return {number: handler for number, handler in handlers.items() if handler not in (signal.SIG_IGN, None)}


@contextmanager
def _stoppable() -> Generator[list[signal.Signals]]:
    """Within the block SIGTERM and SIGHUP stop the program like Ctrl-C; yields the list of signals received so far."""
    received: list[signal.Signals] = []

    def stop(number: int, _: object) -> None:
        received.append(signal.Signals(number))
        raise KeyboardInterrupt

    hook, earlier = sys.unraisablehook, _handlers()
    try:
        for number in earlier:
            signal.signal(number, stop)
        sys.unraisablehook = resending(lambda: received[-1] if received else None, hook)
        yield received
    finally:
        sys.unraisablehook = hook
        for number, handler in earlier.items():
            signal.signal(number, handler)  # pyright: ignore[reportArgumentType]


def resending(
    received: Callable[[], int | None], hook: Callable[["sys.UnraisableHookArgs"], object]
) -> Callable[["sys.UnraisableHookArgs"], object]:
    """`sys.unraisablehook` that sends the signal again whose exception a finalizer or a callback has swallowed."""

    def resend(ignored: "sys.UnraisableHookArgs") -> None:
        number = received()
        if number is not None and issubclass(ignored.exc_type, KeyboardInterrupt):
            threading.Timer(_SECONDS_TO_RETURN, os.kill, (os.getpid(), number)).start()
        else:
            hook(ignored)

    return resend


def _status_of(stop: SystemExit) -> int:
    """The status of a library that ends the program; only its 0 is taken over."""
    if stop.code in (None, 0):
        return 0
    if isinstance(stop.__context__, BrokenPipeError):  # of Rich: `cardlab … | head`
        return FAILED
    print(f"cardlab: error: a library has ended the program ({stop.code})", file=sys.stderr)
    return FAILED


def _run(run: Callable[[], int | None]) -> int:
    try:
        return run() or 0
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
        for each in (error, *getattr(error, "others", ())):  # several wrong options
            print(f"cardlab: error: {_one_line(each)}", file=sys.stderr)
        return USAGE_ERROR if isinstance(error, ValueError) else FAILED


def printable(text: str) -> str:
    """`text` of any origin in one line: control characters and those that change the direction become �."""
    return "".join(sign if sign.isprintable() else "�" for sign in text)


def _one_line(error: Exception) -> str:
    """The message without line breaks, passwords, and the middle of one that repeats a very long argument."""
    text = printable(without_password(" ".join(str(error).split())))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]} … {text[-_LONGEST // 2 :]}"


def _is_cardlab_error(error: Exception) -> bool:
    """Whether the class of `error` is defined in cardlab or cardlab_play."""
    return type(error).__module__.partition(".")[0] in ("cardlab", "cardlab_play")


def _free_bytes(folder: str) -> int:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return _FULL_DISK_BYTES


def _os_error_text(error: OSError) -> str:
    """The file name and the reason. A full disk without a file's name is looked for, e.g. shared memory."""
    reason = (error.strerror or str(error)).strip()
    reason = f"{reason[:1].lower()}{reason[1:]}" if error.strerror else reason
    if error.errno == errno.ENOSPC and not error.filename:
        full = [place for place in (".", gettempdir(), "/dev/shm") if _free_bytes(place) < _FULL_DISK_BYTES]  # noqa: S108  asked for its size only
        reason += f": {', '.join(full)}" if full else ""
    return f"{error.filename}: {reason}" if error.filename else " ".join(reason.split())
