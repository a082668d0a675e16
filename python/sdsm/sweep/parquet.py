"""Writes all points of a sweep as Parquet: the rows of points.csv, numbers as numbers."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence


def check() -> None:
    """Raises ModuleNotFoundError without the package pyarrow."""
    import pyarrow.parquet  # noqa: F401


def content(rows: Sequence[Mapping[str, object]]) -> bytes:
    """rows: all with the same columns; an empty text in a column of numbers is missing. Raises ModuleNotFoundError."""
    import pyarrow
    import pyarrow.parquet

    columns = {name: _values([row[name] for row in rows]) for name in rows[0]}
    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), out)
    return out.getvalue()


def _values(values: Sequence[object]) -> list[object]:
    """Returns whole numbers if all are, else numbers if all are, else texts."""
    for kind in (int, float):
        try:
            found = [None if value == "" else kind(str(value)) for value in values]
        except ValueError:
            continue
        if any(value is not None for value in found):
            return list(found)
    return [str(value) for value in values]
