"""Atomic file writes, and checks of output paths before any work is done."""

import json
import os
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from cardlab.core.options import InvalidOption


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
    if not text:
        raise InvalidOption(key, text, "a folder")
    try:
        Path(text).mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=text):
            return Path(text)
    except (OSError, ValueError) as error:  # ValueError: invalid file name
        raise InvalidOption(key, text, f"a folder that can be written to ({_reason(error)})") from error


def check_file(key: str, text: str) -> Path:
    """The file `text`, in a folder that is created if missing; InvalidOption for `key` if it cannot be written."""
    path = Path(text)
    try:
        if not text or path.is_dir():
            raise InvalidOption(key, text, "a file")
        if path.exists() and not path.is_file():  # a pipe or a device
            return path
        check_folder(key, str(path.parent))
    except OSError as error:
        raise InvalidOption(key, text, f"a file ({_reason(error)})") from error
    except InvalidOption as error:
        raise InvalidOption(key, text, error.allowed.replace("a folder", "a file in a folder", 1)) from error
    return path


def _reason(error: OSError | ValueError) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()
