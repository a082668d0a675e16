"""A comparison for a terminal, and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from sdsm.base.run_result import why_doubtful
from sdsm.compare.comparison import Comparison, Row

#: Name of the account's term.
COMPUTING = "compute"
#: A factor on computing that caches or other load do not explain.
OTHER_WORK = 2.0


def text(comparison: Comparison) -> str:
    """Returns the verdict, times, settings that differ, the account, and counts that differ."""
    parts = (_times, _settings, _accounts, _counts)
    return "\n".join([verdict(comparison), "", *(line for part in parts for line in part(comparison))])


def verdict(comparison: Comparison) -> str:
    """Returns a sentence for each result but the reference, numbered as in the tables."""
    sentences = []
    for number, one in enumerate(comparison.results[1:], start=2):
        gap_s = one.time.time_s - comparison.results[0].time.time_s
        if gap_s == 0:
            sentences.append(f"[{number}] takes as long as [1].")
            continue
        longer = "longer" if gap_s > 0 else "shorter"
        about = "" if one.is_beyond else ", within what they scatter by"
        towards = max(comparison.common_terms(), key=lambda row: _gap(row, number - 1) * (1 if gap_s > 0 else -1))
        sentences.append(
            f"[{number}] is {abs(one.difference):.1%} {longer} than [1]{about}: {gap_s:+.4g} s, "
            f"what differs most is {towards.name} ({_gap(towards, number - 1):+.4g} s)."
        )
        sentences += _other_computing(comparison, number)
    return "\n".join(sentences)


def _other_computing(comparison: Comparison, number: int) -> list[str]:
    """Yields a line where all threads together compute so much longer that the work or the processor must be another."""
    for row in comparison.common_terms():
        threads = [one.result.nodes * one.result.threads_per_node for one in comparison.results]
        own_s, first_s = (row.values[i] * threads[i] for i in (number - 1, 0))
        least_s, most_s = sorted((own_s, first_s))
        if row.name == COMPUTING and 0 < least_s * OTHER_WORK <= most_s:
            longer, shorter = (f"[{number}]", "[1]") if own_s > first_s else ("[1]", f"[{number}]")
            times = f"{longer} computes {most_s / least_s:.3g} times as long as {shorter}"
            return [f"{times}: another size, other load, or another processor. (`sdsm simulate --sequential-time` takes a processor's one-thread time.)"]
    return []


def _gap(row: Row, number: int) -> float:
    return row.values[number] - row.values[0]


def _times(comparison: Comparison) -> list[str]:
    width = max(len("file"), *(len(one.result.file) for one in comparison.results))
    titles = "".join(f"{title:>11}" for title in ("time, s", "from", "to"))
    lines = [f"     {'file':{width}}  {'what':9} {'layout':>7} {'samples':>7}{titles} {'to [1]':>8} {'x as fast':>9}"]
    first = comparison.results[0].time
    for number, one in enumerate(comparison.results, start=1):
        time, layout = one.time, f"{one.time.nodes}x{one.time.threads_per_node}"
        lines.append(
            f"[{number}]{'' if number > 9 else ' '} {one.result.file:{width}}  {one.result.kind:9} {layout:>7} {time.samples:>7}"
            f"{time.time_s:>11.4g}{time.low_s:>11.4g}{time.high_s:>11.4g} {one.difference:>+8.1%} {first.time_s / time.time_s:>9.3f}"
        )
    return [*lines, *(f"  {line}." for line in (*extrapolations(comparison), *shared_processors(comparison)))]


def shared_processors(comparison: Comparison) -> list[str]:
    """Returns a line for each run whose processes shared processors."""
    shares = enumerate((one.result.processes_per_processor for one in comparison.results), start=1)
    return [f"[{number}] had {share:.3g} processes for each processor: its times are not those of a cluster" for number, share in shares if share > 1]


def extrapolations(comparison: Comparison) -> list[str]:
    """Returns a line for each prediction that rests on costs that were not measured."""
    results = enumerate((one.result for one in comparison.results), start=1)
    return [f"[{number}] is {why_doubtful(one.doubts)}" for number, one in results if one.doubts]


def _settings(comparison: Comparison) -> list[str]:
    lines = settings(comparison)
    return ["", "What differs in how they were made", *(f"  {line}" for line in lines)] if lines else []


def settings(comparison: Comparison) -> list[str]:
    """Returns possible reasons for different times: a line for each setting that differs."""
    tables = [dict(one.result.settings) | dict(one.result.variant) | {"program": one.result.program} for one in comparison.results]
    lines = []
    for name in dict.fromkeys(name for table in tables for name in table):
        given = [table.get(name) for table in tables]
        # A setting that a kind of result lacks (a run's platform) is no difference.
        if len({value for value in given if value is not None}) > 1:
            values = ", ".join(f"[{number}] {value}" for number, value in enumerate(given, start=1) if value is not None)
            lines.append(f"{name}: {values}")
    return lines


def _columns(comparison: Comparison, heading: str, rows: Sequence[Row], shown: str) -> list[str]:
    """A table of rows over results. shown: the format of a value."""
    width = max((len(row.name) for row in rows), default=0)
    titles = "".join(f"{f'[{number}]':>12}" for number in range(1, len(comparison.results) + 1))
    gaps = "".join(f"{f'[{number}] - [1]':>14}" for number in range(2, len(comparison.results) + 1))
    lines = ["", heading, f"  {'':{width}}{titles}{gaps}"]
    for row in rows:
        values = "".join(f"{value:>12{shown}}" for value in row.values)
        differences = "".join(f"{value - row.values[0]:>+14{shown}}" for value in row.values[1:])
        lines.append(f"  {row.name:{width}}{values}{differences}")
    return lines


def _accounts(comparison: Comparison) -> list[str]:
    heading = "Where the time goes, mean over threads, s (what is at least 1 % of the longest time)"
    if comparison.is_of_runs_and_simulations:
        heading += "; what is stolen, where runs have it"
    rows = comparison.largest_terms()
    lines = _columns(comparison, heading, rows, ".4g")
    far = [_far(comparison, row) for row in rows]
    if any(far):
        lines = [*lines[:3], *(f"{line}  {note}".rstrip() for line, note in zip(lines[3:], far, strict=True))]
    return lines


def _far(comparison: Comparison, row: Row) -> str:
    """Returns a term's ratio to the reference's, in results where it is large and far from that."""
    notes = []
    for number in range(1, len(row.values)):
        if comparison.is_off(row, number):
            times = f"{row.values[number] / row.values[0]:.2f} of [1]" if row.values[0] > 0 else "not in [1]"
            notes.append(f"[{number + 1}] {times}")
    return ", ".join(notes)


def _counts(comparison: Comparison) -> list[str]:
    differing = [row for row in comparison.counts if row.differs()]
    if not differing:
        return ["", "All counts (faults, barriers, locks, messages, bytes, diffs) are equal."]
    return _columns(comparison, "Counts that differ, all threads together", differing, ".0f")


def csv_text(comparison: Comparison) -> str:
    """Returns a row for each figure of each result: file, figure, unit, value, and the reference's."""
    rows: list[tuple[object, ...]] = [("file", "figure", "unit", "value", "reference")]
    first = comparison.results[0].time
    for number, one in enumerate(comparison.results):
        for name in ("time_s", "low_s", "high_s"):
            rows.append((one.result.file, name, "s", getattr(one.time, name), getattr(first, name)))
        for unit, table in (("s", comparison.accounts), ("1", comparison.counts)):
            rows += [(one.result.file, row.name, unit, row.values[number], row.values[0]) for row in table]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()

