"""Tables as CSV files: a row of a file is a row's dataclass, in its fields' order."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from sdsm.base.output_file import csv_text, write_output

Row = TypeVar("Row")


def write_rows(path: Path, rows: Sequence[Any]) -> None:
    write_output(path, csv_text([asdict(row) for row in rows]))


def read_rows(path: Path, kind: type[Row]) -> list[Row]:
    """An empty cell is the field's default, if it has one. Raises OSError or ValueError."""
    optional = {field.name for field in fields(kind) if field.default is not MISSING}  # type: ignore[arg-type]
    with path.open(newline="", encoding="utf-8") as file:
        try:
            return [
                msgspec.convert({name: cell for name, cell in row.items() if cell or name not in optional}, kind, strict=False)
                for row in csv.DictReader(file)
            ]
        except msgspec.ValidationError as error:
            raise ValueError(f"{path}: {error}") from None
