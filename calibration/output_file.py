"""Results as files: whole or not at all, as the commands written in C++ write theirs (commands/output.hpp)."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def write_output(path: Path, content: str | bytes) -> None:
    """Writes a regular file by way of a part file beside it, so that a full disk leaves what was there before, or nothing.

    Text becomes UTF-8. A link is followed; a device or a pipe is written to as it is. The folder must exist. Raises
    OSError whose filename is `path`.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        target = Path(os.path.realpath(path))
        if not _is_replaced(target):
            _write(target, data)
            return
        # With the process's number, as the name alone could be that of an input.
        part = target.with_name(f"{target.name}.{os.getpid()}.part")
        try:
            _write(part, data)
            part.replace(target)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except OSError as error:
        # What fails while a file is closed has no name, and the part file's tells the user nothing.
        raise OSError(error.errno, error.strerror, str(path)) from error


def _is_replaced(target: Path) -> bool:
    """Raises OSError where a file is there that may not be written: to replace it would need its folder's leave alone."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return True
    if not stat.S_ISREG(mode):
        return False
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return True


def _write(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
