"""Files that are written whole or not at all.

Lowest layer: whatever writes figures that are read again uses it.
"""

import os
from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write `text` as UTF-8, and make the folder: what stands there stays until all of it is written.

    A pipe or a device, such as /dev/stdout, is written to as it is. OSError where that cannot be.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")  # processes may write the same file
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except OSError:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise
