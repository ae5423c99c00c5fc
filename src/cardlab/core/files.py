"""Atomic file writes, the one reader of files from elsewhere, and checks of output paths before any work is done."""

import json
import os
from contextlib import suppress
from errno import EISDIR
from pathlib import Path
from stat import S_ISREG
from tempfile import TemporaryFile
from typing import Any, cast

from cardlab.core.messages import InvalidOption

LARGEST_DATA = 2**36  # bytes of weights or a checkpoint: a replay buffer may have gigabytes
LARGEST_TEXT = 100_000_000  # bytes of a text from elsewhere: unfinished scores have many games


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
    except (OSError, KeyboardInterrupt):
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


def write_json(path: Path, content: object, indent: int = 1) -> None:
    """Write `content` as JSON, as `write_atomically` does; equal content gives equal bytes."""
    write_atomically(path, json.dumps(content, indent=indent) + "\n")


def check_regular(path: Path, most: int) -> None:
    """Raise OSError, or ValueError unless the path leads to a regular file of at most `most` bytes."""
    found = path.stat()
    if not S_ISREG(found.st_mode):
        raise ValueError("is no regular file")
    if found.st_size > most:
        raise ValueError(f"has {found.st_size:,} bytes, at most {most:,} are read")


def read_text(path: Path) -> str:
    """The text of a file that may be from anywhere. Raises OSError, or ValueError for no regular file of this size."""
    check_regular(path, LARGEST_TEXT)
    return path.read_text(encoding="utf-8")


def load_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file that may be from anywhere. Raises OSError, or ValueError for any damage."""
    try:
        content = json.loads(read_text(path))
    except RecursionError as error:
        raise ValueError("is nested too deep") from error
    if not isinstance(content, dict):
        raise ValueError(f"has {type(content).__name__} in place of an object")
    return cast(dict[str, Any], content)


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
