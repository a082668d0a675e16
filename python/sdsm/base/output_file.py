"""Writes results as files, whole or not at all, like the commands written in C++ (commands/output.hpp)."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import stat
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from sdsm.base.command_line import BadInput


def check_outputs(outputs: Iterable[str | Path | None], inputs: Iterable[str | Path] = ()) -> None:
    """Raises BadInput before a run if a file cannot be written, as check_outputs() of commands/output.hpp does: it is a
    folder or lies in none, is one of the inputs under any name, or takes two outputs.

    None is an output that is not wanted, "-" standard output. Folders that the command makes are not checked here.
    """
    read = [Path(name) for name in inputs if str(name) != "-"]
    targets: list[Path] = []
    for where in (str(output) for output in outputs if output is not None):
        target = Path(where if where == "-" else _target(where))
        if where != "-" and target.exists() and not target.is_file() and not target.is_dir():
            continue  # a device or a pipe takes several
        if target in targets:
            name = "standard output" if where == "-" else where
            raise BadInput(f"{name} cannot take two outputs: one of them would be lost. Name another file")
        targets.append(target)
        if where == "-":
            continue
        if target.is_dir():
            raise BadInput(f"{where} is a folder. Name a file to write to")
        if not target.parent.is_dir():
            raise BadInput(f"there is no folder {target.parent} for {where}. Make it, or name another file")
        if not os.access(target.parent, os.W_OK | os.X_OK) or (target.exists() and not os.access(target, os.W_OK)):
            raise BadInput(f"{where}: cannot be written to. Name another file")
        for source in read:
            if source.exists() and target.exists() and target.samefile(source):
                raise BadInput(f"{where}: would overwrite the input {source}. Name another file to write to")


def check_figure(output: Path | None) -> None:
    """Raises BadInput where a name tells no format of --plot."""
    if output is not None and output.suffix not in (".png", ".svg", ".pdf"):
        raise BadInput(f"--plot {output}: a figure's name ends in .png, .svg or .pdf")


def utf8(text: str) -> str:
    """Returns text for people and files: bytes of names that are not UTF-8 become U+FFFD."""
    return text.encode(errors="surrogateescape").decode(errors="replace")


def json_text(document: Any, indent: int = 1) -> str:
    """Raises ValueError for NaN and infinities."""
    return utf8(json.dumps(document, indent=indent, ensure_ascii=False, allow_nan=False)) + "\n"


def write_output(path: Path, content: str | bytes) -> None:
    """Writes a regular file through a part file beside it, so that a full disk leaves the old content, or nothing.

    Text becomes UTF-8. A link is followed; a device or a pipe is written to as it is. The folder must exist. Raises
    OSError whose filename is `path`.
    """
    data = utf8(content).encode() if isinstance(content, str) else content
    try:
        target = Path(_target(path))
        if not _is_replaced(target):
            _write(target, data)
            return
        # The process's number keeps the name from being that of an input.
        part = target.with_name(f"{target.name}.{os.getpid()}.part")
        try:
            _write(part, data)
            part.replace(target)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except OSError as error:
        # An error while a file is closed has no name, and the part file's would tell the user nothing.
        raise OSError(error.errno, error.strerror, str(path)) from error


def print_or_write(path: Path, text: str) -> None:
    """Writes text to a file, or to standard output for "-". Raises OSError."""
    if str(path) == "-":
        sys.stdout.write(text)
    else:
        write_output(path, text)


def csv_text(rows: Sequence[Mapping[str, Any]], columns: Sequence[str] = ()) -> str:
    """Returns rows as CSV, with these columns, or else those of the first row. Raises ValueError if a row has others than the
    first."""
    out = io.StringIO()
    extras: Literal["ignore", "raise"] = "ignore" if columns else "raise"
    writer = csv.DictWriter(out, columns or list(rows[0] if rows else ()), extrasaction=extras, lineterminator="\n")
    if rows:
        writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def aligned(rows: Sequence[Sequence[str]], left: Collection[int] = ()) -> list[str]:
    """Returns a table's lines. Columns are separated by two blanks; those whose numbers are in `left` are left-aligned."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = enumerate(zip(row, widths, strict=True))
        lines.append("  ".join(cell.ljust(width) if column in left else cell.rjust(width) for column, (cell, width) in cells).rstrip())
    return lines


def _target(path: str | Path) -> str | Path:
    """Returns a link's target. The link behind /dev/stdout names a pipe by a text that is no file's name."""
    target = os.path.realpath(path)
    return path if os.path.exists(path) and not os.path.exists(target) else target


def _is_replaced(target: Path) -> bool:
    """Whether a file is replaced. Raises OSError for an existing file without write permission: replacing it would need only
    its folder's."""
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
