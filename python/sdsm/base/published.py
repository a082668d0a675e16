"""Reader of the published measurements in calibration/published/*.csv.

Every row has a column `use`. Rows with use = calibration may become a parameter of a simulation; rows with
use = comparison may only be compared with a finished prediction. The two are read by two functions, so that a piece of
code shows by the function it calls which of them it can see.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

from sdsm.base import places
from sdsm.base.command_line import BadInput

FOLDER = places.CALIBRATION / "published"
USES = ("calibration", "comparison")

class PublishedDataError(BadInput):
    """A published table is missing, malformed, or lacks the row asked for. The text names the file and what to do."""


class Row(dict[str, str]):
    """A row by column. place: "FILE:LINE"."""

    place = ""

    def __missing__(self, column: str) -> str:
        raise PublishedDataError(f"{self.place}: no column {column}. Restore the table from the repository.")


def _rows(table: str, folder: Path) -> list[Row]:
    path = folder / f"{table}.csv"
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = [Row(row) for row in csv.DictReader(file)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise PublishedDataError(f"{path}: cannot be read ({error}). Restore it from the repository.") from error
    for line, row in enumerate(rows, start=2):
        row.place = f"{path}:{line}"
        if None in row or None in row.values():
            raise PublishedDataError(f"{row.place}: the number of fields differs from the header's. Correct the line.")
        if row.get("use") not in USES:
            expected = f"use is {row.get('use')!r}, expected one of {', '.join(USES)}"
            raise PublishedDataError(f"{row.place}: {expected}. Correct the line.")
        if not row.get("source"):
            raise PublishedDataError(f"{row.place}: no source. Give the key of a publication of calibration/README.md.")
    return rows


def calibration_rows(table: str, folder: Path = FOLDER, **wanted: object) -> list[Row]:
    """Rows of `table` with use = calibration whose columns equal `wanted` (compared as text), in file order.

    Raises PublishedDataError if the file is missing or malformed, or a wanted column does not exist.
    """
    return _matching(table, folder, "calibration", wanted)


def all_rows(table: str, folder: Path = FOLDER, **wanted: object) -> list[Row]:
    """All rows of `table`, whatever their use, whose columns equal `wanted`: for tables and plots, never for inputs.

    Raises as calibration_rows does.
    """
    return _matching(table, folder, None, wanted)


def calibration_value(table: str, column: str, folder: Path = FOLDER, **wanted: object) -> float:
    """The number in `column` of the one calibration row that matches `wanted`, in the unit that `column` ends in.

    Raises PublishedDataError if there is no such row or more than one, or the field is not a number.
    """
    rows = calibration_rows(table, folder, **wanted)
    described = ", ".join(f"{name} = {value}" for name, value in wanted.items())
    if len(rows) != 1:
        raise PublishedDataError(
            f"{folder / table}.csv: {len(rows)} rows for calibration with {described}, expected one. "
            "Add or narrow the row; a row with use = comparison is not taken."
        )
    return number(rows[0], column)


def number(row: Row, column: str) -> float:
    """Returns the field as a number, at least 0. Raises PublishedDataError if the column is absent or its field is no number."""
    text = row[column]
    if not re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,15})?", text):
        raise PublishedDataError(f"{row.place}: {column} is {text[:40]!r}, not a number. Correct the published table.")
    return float(text)


def _matching(table: str, folder: Path, use: str | None, wanted: dict[str, object]) -> list[Row]:
    rows = _rows(table, folder)
    for column in wanted:
        if rows and column not in rows[0]:
            raise PublishedDataError(f"{folder / table}.csv: no column {column}; it has {', '.join(rows[0])}.")
    all_wanted = wanted | ({} if use is None else {"use": use})
    return [row for row in rows if all(row[name] == str(value) for name, value in all_wanted.items())]
