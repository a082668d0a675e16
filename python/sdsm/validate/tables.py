"""Lines as text for people, as CSV and JSON for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sdsm.base.accounts import LARGE, NEAR
from sdsm.base.output_file import aligned, csv_text
from sdsm.validate.outcome import Line, accuracy

HEADINGS = ("program", "nodes", "predicted, s", "over seeds", "measured, s", "interval of the median", "speedup", "error")


def text(lines: Sequence[Line]) -> str:
    """Returns a table; the last line sums up."""
    rows = [HEADINGS]
    for line in lines:
        interval = line.interval
        low, high = f"{interval.low:.4f}", f"{interval.high:.4f} ({100 * interval.confidence:.0f} %)"
        seeds = f"{min(line.predicted_s):.4f} .. {max(line.predicted_s):.4f}"
        times = (f"{line.predicted:.4f}", seeds, f"{line.measured:.4f}", f"{low} .. {high}")
        speedups = f"{line.predicted_speedup:.2f} / {line.measured_speedup:.2f}"
        rows.append((line.case.label, str(line.case.nodes), *times, speedups, f"{line.error_percent:+.1f} %"))
    table = "\n".join(aligned(rows))
    summary = accuracy(lines)
    if summary is None:
        return table
    return f"{table}\nerror of the predicted time: median {summary.median_percent:.1f} %, worst {summary.worst_percent:.1f} %"


ACCOUNT_HEADINGS = ("program", "nodes", "term", "measured, ms", "predicted, ms", "ratio", "")
#: Terms of less than this part of the measured time are not printed; files have all.
SHOWN = 0.01


def accounts(lines: Sequence[Line]) -> str:
    """Returns measured and predicted times, term by term; empty if no line has them."""
    rows = [ACCOUNT_HEADINGS]
    for line in lines:
        for term in line.terms:
            if max(term.measured_s, term.predicted_s) < SHOWN * term.time_s:
                continue
            times = (f"{1000 * term.measured_s:.3f}", f"{1000 * term.predicted_s:.3f}")
            ratio, off = "-" if term.ratio is None else f"{term.ratio:.2f}", "off" if term.is_off else ""
            rows.append((line.case.label, str(line.case.nodes), term.name, *times, ratio, off))
    if len(rows) == 1:
        return ""
    terms = [term for line in lines for term in line.terms if term.is_large]
    number_off = sum(term.is_off for term in terms)
    table = "\n".join(aligned(rows))
    return (
        "Where the time went, mean over threads, median over runs and over seeds (with what serving others takes of each; terms of 1 % or more)\n"
        f"{table}\n{number_off} of {len(terms)} terms that are {LARGE:.0%} of the time or more are off by more "
        f"than {NEAR:.0%}"
    )


def document(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """Returns one object for each line; times in seconds."""
    of_term = ("measured_s", "predicted_s", "ratio", "is_large", "is_off")
    found = []
    for line in lines:
        low_s, high_s = line.band_s or (None, None)
        one: dict[str, Any] = asdict(line.case) | {"sequential_s": line.sequential_s, "predicted_s": line.predicted}
        one["predicted_seeds_s"] = list(line.predicted_s)
        one |= {"predicted_low_5_percent_s": low_s, "predicted_high_95_percent_s": high_s, "measured_s": line.measured}
        one["measured_runs_s"] = list(line.measured_s)
        one["measured_interval_s"] = [line.interval.low, line.interval.high]
        one |= {"interval_confidence": line.interval.confidence, "error_percent": line.error_percent}
        one["account"] = [
            {"term": term.name} | {name: getattr(term, name) for name in of_term} for term in line.terms
        ]
        found.append(one)
    return found


def comma_separated(rows: Sequence[dict[str, Any]]) -> str:
    """Returns CSV without the lists of single runs."""
    return csv_text(rows, [name for name, value in rows[0].items() if not isinstance(value, list)] if rows else ())
