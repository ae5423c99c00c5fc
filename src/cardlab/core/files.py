"""Atomic file writes, and checks of output paths before any work is done."""

import json
import os
from contextlib import suppress
from errno import EISDIR
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from cardlab.core.messages import InvalidOption


def write_atomically(path: Path, text: str) -> None:
    """Write `text` as UTF-8 and create the folder; an existing file is replaced when the new one is complete.

    Pipes and devices such as /dev/stdout are written directly. Raises OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")  # unique, since other processes may write the file
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except OSError:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


def write_json(path: Path, content: object, indent: int = 1) -> None:
    """Write `content` as JSON, as `write_atomically` does; equal content gives equal bytes."""
    write_atomically(path, json.dumps(content, indent=indent) + "\n")


def load_json(path: Path) -> Any:
    """The content of a JSON file that may be from anywhere. Raises OSError, or ValueError for any damage."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except RecursionError as error:
        raise ValueError("is nested too deep") from error


def short_path(path: Path) -> Path:
    """The path from the working directory, if it is below."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def check_folder(key: str, text: str) -> Path:
    """Create the folder `text` if it is missing; InvalidOption for `key` if it cannot be created or written."""
    return _check_writable(key, text, "a folder")


def check_file(key: str, text: str) -> Path:
    """The file `text`, in a folder that is created if missing; InvalidOption for `key` if it cannot be written."""
    return _check_writable(key, text, "a file in a folder")


def _check_writable(key: str, text: str, what: str) -> Path:
    path, is_folder = Path(text), what == "a folder"
    folder = path if is_folder else path.parent
    try:
        if not text or (path.is_dir() and not is_folder):
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
        if path.exists() and not path.is_dir() and not path.is_file():  # a pipe or a device
            return path
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            return path
    except (OSError, ValueError) as error:  # ValueError: invalid file name
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise InvalidOption(key, text, f"{what} that can be written to ({reason})") from error
