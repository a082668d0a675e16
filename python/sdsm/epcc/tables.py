"""The results as rows, in microseconds or clock cycles, for the page, the terminal, CSV and JSON."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any

from sdsm.base.output_file import aligned, csv_text, json_text
from sdsm.epcc.groups import MEASURED, PREDICTED, Collection, Environment, Group

Cell = str | int | float | None

#: Decimals printed: EPCC prints six of a microsecond; a cycle is far coarser than its clock's last digit.
DECIMALS = {"us": 6, "cycles": 3}
MACHINE_DECIMALS = 9  # in CSV and JSON: three more than any output holds, without the dust of binary arithmetic
UNIT_SIGNS = {"us": "µs", "cycles": "cycles"}

#: Heading of each column of times, and the name that it has in CSV and JSON (which the unit follows).
TIMES = (
    ("time", "time"),
    ("± time", "time_half_width"),
    ("overhead", "overhead"),
    ("± overhead", "overhead_half_width"),
    ("SD over samples", "sd_samples"),
    ("SD over runs", "sd_runs"),
    ("largest SD of a run", "sd_largest"),
    ("minimum", "minimum"),
    ("maximum", "maximum"),
)
COUNTS = (("outliers", "outliers"), ("runs", "runs"), ("samples", "samples"))
MORE_TIMES = ("median_overhead", "overhead_sd_runs")


@dataclass(frozen=True, slots=True)
class Table:
    """One environment and number of threads."""

    title: str
    environment: Environment
    threads: int
    rows: tuple[dict[str, Cell], ...]


def factor(environment: Environment, unit: str) -> float:
    """Returns a microsecond in `unit`. Raises ValueError if that requires an unknown clock."""
    if unit == "us":
        return 1.0
    if environment.clock_mhz is None:
        raise ValueError("cycles need the processor's clock. Give --clock, such as --clock 500MHz")
    return environment.clock_mhz


def vars_of(one: Any) -> dict[str, Any]:
    """vars() of a dataclass with slots."""
    return {field.name: getattr(one, field.name) for field in fields(one)}


def row(group: Group, unit: str) -> dict[str, Cell]:
    """One group's figures by column name, without unit in the names. Raises ValueError as factor does."""
    by = factor(group.key.environment, unit)
    of_group = vars_of(group) | vars_of(group.time)
    names = (*(name for _, name in TIMES[1:]), *MORE_TIMES)
    times = {"time": group.time.mean} | {name: of_group[name] for name in names}
    figures: dict[str, Cell] = {name: None if value is None else value * by for name, value in times.items()}
    return figures | {"label": group.key.label} | {name: of_group[name] for _, name in COUNTS}


def tables(collection: Collection, unit: str) -> list[Table]:
    """One table per environment and number of threads. Raises ValueError as factor does."""
    found = []
    for environment in collection.environments:
        groups = [group for group in collection.groups if group.key.environment == environment]
        for threads in sorted({group.key.threads for group in groups}):
            rows = tuple(row(group, unit) for group in groups if group.key.threads == threads)
            title = f"{threads} thread{'s' if threads > 1 else ''}"
            if len(collection.environments) > 1:
                title += f", {describe(environment)}"
            found.append(Table(title, environment, threads, rows))
    return found


def describe(environment: Environment) -> str:
    return ", ".join(filter(None, (environment.file, *astuple(environment)[:-1])))


def shown(value: Cell, unit: str) -> str:
    """A figure as printed; a dash for what the data cannot tell."""
    if value is None:
        return "–"
    return f"{value:.{DECIMALS[unit]}f}" if isinstance(value, float) else str(value)


def as_text(found: Sequence[Table], unit: str) -> str:
    """Tables for a terminal, the unit in the heading of every column of times."""
    sign = UNIT_SIGNS[unit]
    parts = []
    for table in found:
        columns = [("directive", "label"), *((f"{head} [{sign}]", name) for head, name in TIMES), *COUNTS]
        cells = [[head for head, _ in columns]]
        cells += [[shown(line[name], unit) for _, name in columns] for line in table.rows]
        parts.append("\n".join([table.title, *aligned(cells, {0})]))
    return "\n\n".join(parts) + "\n"


def beside(collection: Collection, unit: str) -> str:
    """Returns predicted and measured overheads for a terminal; empty if there are no predictions.

    A row for each directive and number of threads that has one of either. Raises ValueError as factor does.
    """
    found: dict[tuple[object, ...], dict[str, list[Group]]] = {}
    for group in collection.groups:
        key = group.key
        if group.overhead is None or key.environment.file not in (MEASURED, PREDICTED):
            continue
        alike = (key.threads, key.directive, key.size_kind, key.size, key.occurrence)
        found.setdefault(alike, {}).setdefault(key.environment.file, []).append(group)
    sign = UNIT_SIGNS[unit]
    heads = ("measured", "predicted", "difference")
    rows: list[tuple[str, ...]] = [("threads", "directive", *(f"{head} [{sign}]" for head in heads), "%")]
    parts = []
    for sides in found.values():
        if [len(sides.get(side, ())) for side in (MEASURED, PREDICTED)] != [1, 1]:
            continue
        (measured,), (predicted,) = sides[MEASURED], sides[PREDICTED]
        overheads = [(group.overhead or 0.0) * factor(group.key.environment, unit) for group in (measured, predicted)]
        difference = overheads[1] - overheads[0]
        part = 100 * difference / overheads[0] if overheads[0] else None
        if part is not None:
            parts.append(abs(part))
        cells = (*(f"{value:.3f}" for value in (*overheads, difference)), "–" if part is None else f"{part:+.1f}")
        rows.append((str(measured.key.threads), measured.key.label, *cells))
    if len(rows) == 1:
        return ""
    middle = f"\nmedian difference: {statistics.median(parts):.1f} %\n" if parts else "\n"
    return "\npredicted beside measured overheads\n" + "\n".join(aligned(rows, {1})) + middle


def records(collection: Collection, unit: str) -> list[dict[str, Cell]]:
    """Returns one record per group, times named with their unit (overhead_us), None if the data lack it."""
    found = []
    for group in collection.groups:
        figures = row(group, unit)
        key = group.key
        record: dict[str, Cell] = {name: getattr(key.environment, name) or None for name in vars_of(key.environment)}
        record |= {name: getattr(key, name) for name in ("threads", "program", "directive", "occurrence")}
        record["reference"] = int(key.is_reference)
        record |= {kind: key.size if key.size_kind == kind else None for kind in ("chunk", "array_size")}
        for name in (*(name for _, name in TIMES), *MORE_TIMES):
            figure = figures[name]
            record[f"{name}_{unit}"] = round(figure, MACHINE_DECIMALS) if isinstance(figure, float) else figure
        record |= {name: figures[name] for _, name in COUNTS}
        found.append(record)
    return found


def as_csv(collection: Collection, unit: str) -> str:
    """Returns all records with a heading; empty fields where the data lack them."""
    return csv_text(records(collection, unit))


def as_json(collection: Collection, unit: str) -> str:
    """Returns {"format": 1, "kind": "epcc", "unit", "files", "warnings", "results": records}; null: not known."""
    document: dict[str, Any] = {"format": 1, "kind": "epcc", "unit": unit}
    document["files"] = [{"path": file, "runs": runs} for file, runs in collection.files]
    document |= {"warnings": list(collection.warnings), "results": records(collection, unit)}
    return json_text(document)
