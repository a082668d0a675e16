"""Writes all points of a sweep as CSV: a row each, in the order of the axes."""

from __future__ import annotations

from collections.abc import Sequence

from sdsm.sweep.results import Done

COUNTS = ("messages", "bytes", "diffs", "barriers", "locks")


def rows(done: Sequence[Done]) -> list[dict[str, object]]:
    """Returns times in s, means over threads for terms of the account, and counts over all threads. All rows have all columns."""
    found = [_row(one) for one in done]
    columns = list(dict.fromkeys(column for row in found for column in row))
    columns.remove("error")
    return [{column: row.get(column, "") for column in (*columns, "error")} for row in found]


def _row(one: Done) -> dict[str, object]:
    row: dict[str, object] = {axis.replace(" ", ":"): value for axis, value in one.point.values.items()}
    if one.result is not None:
        threads = one.result.threads
        row |= {"makespan_s": one.result.makespan_s, "computing_s": one.computing_s, "speedup": one.value("speedup")}
        row |= dict(zip(("low_s", "high_s"), one.band_s(), strict=False))
        row |= {f"{term.replace(' ', '_')}_s": value for term, value in one.account_s().items()}
        row["faults"] = sum(sum(thread.faults.values()) for thread in threads)
        row |= {name: sum(thread.counts()[name] for thread in threads) for name in COUNTS}
        row["extrapolated"] = " ".join(one.result.extrapolated)
        row["assumed"] = " ".join(one.result.assumed_costs)
    return row | {"error": one.error}
