"""Finds scripts whose code would run again in each process that they start.

multiprocessing imports the script in every new process. Without `if __name__ == "__main__":` the new process would
start processes too, which ends in tracebacks of multiprocessing and concurrent.futures.
"""

import ast
import inspect
import sys

from cardlab.core.options import InvalidOption

NOT_IN_DIGEST = "decides whether processes can start, no result"


def require_main_guard(key: str, processes: int) -> None:
    """InvalidOption if the script that is running calls this outside of `if __name__ == "__main__":`."""
    main = sys.modules["__main__"]
    path = getattr(main, "__file__", None)
    if path is None or (main.__spec__ is not None and main.__spec__.name.endswith("__main__")):
        return  # a notebook, or `python -m package`: multiprocessing does not import them
    frame = inspect.currentframe()
    while frame is not None and not (frame.f_globals is vars(main) and frame.f_code.co_name == "<module>"):
        frame = frame.f_back
    if frame is None or _is_guarded(path, frame.f_lineno):
        return
    guard = 'put line {} of {} below `if __name__ == "__main__":`, since each process imports the script'
    raise InvalidOption(key, processes, f"1 here; for more, {guard.format(frame.f_lineno, path)}")


def _is_guarded(path: str, line: int) -> bool:
    """Whether the line is in an `if` on `__name__`; True for a file that is no Python source."""
    try:
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read())
    except (OSError, ValueError, SyntaxError):
        return True
    guards = [node for node in tree.body if isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)]
    return any(node.lineno <= line <= (node.end_lineno or line) for node in guards)
