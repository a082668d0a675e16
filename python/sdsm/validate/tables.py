"""Lines as text for people, as CSV and JSON for programs."""

from __future__ import annotations

from collections.abc import Sequence
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
        rows.append(
            (
                f"{line.case.program} {line.case.implementation}",
                str(line.case.nodes),
                f"{line.predicted:.4f}",
                f"{min(line.predicted_s):.4f} .. {max(line.predicted_s):.4f}",
                f"{line.measured:.4f}",
                f"{interval.low:.4f} .. {interval.high:.4f} ({100 * interval.confidence:.0f} %)",
                f"{line.predicted_speedup:.2f} / {line.measured_speedup:.2f}",
                f"{line.error_percent:+.1f} %",
            )
        )
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
            rows.append(
                (
                    f"{line.case.program} {line.case.implementation}",
                    str(line.case.nodes),
                    term.name,
                    f"{1000 * term.measured_s:.3f}",
                    f"{1000 * term.predicted_s:.3f}",
                    "-" if term.ratio is None else f"{term.ratio:.2f}",
                    "off" if term.is_off else "",
                )
            )
    if len(rows) == 1:
        return ""
    terms = [term for line in lines for term in line.terms if term.is_large]
    off = sum(term.is_off for term in terms)
    table = "\n".join(aligned(rows))
    return (
        "Where the time went, mean over threads, median over runs and over seeds (with what serving others takes of each; terms of 1 % or more)\n"
        f"{table}\n{off} of {len(terms)} terms that are {LARGE:.0%} of the time or more are off by more than {NEAR:.0%}"
    )


def document(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """Returns one object for each line; times in seconds."""
    return [
        {
            "program": line.case.program,
            "implementation": line.case.implementation,
            "nodes": line.case.nodes,
            "sequential_s": line.sequential_s,
            "predicted_s": line.predicted,
            "predicted_seeds_s": list(line.predicted_s),
            "predicted_low_5_percent_s": line.band_s[0] if line.band_s else None,
            "predicted_high_95_percent_s": line.band_s[1] if line.band_s else None,
            "measured_s": line.measured,
            "measured_runs_s": list(line.measured_s),
            "measured_interval_s": [line.interval.low, line.interval.high],
            "interval_confidence": line.interval.confidence,
            "error_percent": line.error_percent,
            "account": [
                {
                    "term": term.name,
                    "measured_s": term.measured_s,
                    "predicted_s": term.predicted_s,
                    "ratio": term.ratio,
                    "is_large": term.is_large,
                    "is_off": term.is_off,
                }
                for term in line.terms
            ],
        }
        for line in lines
    ]


def comma_separated(rows: Sequence[dict[str, Any]]) -> str:
    """Returns CSV without the lists of single runs."""
    return csv_text(rows, [name for name, value in rows[0].items() if not isinstance(value, list)] if rows else ())
