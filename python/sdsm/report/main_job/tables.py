"""Tables as text, CSV and JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sdsm.base.output_file import aligned, json_text, write_output
from sdsm.report.main_job.report import BLIND_COMMIT, Accuracy, Line, as_document, error_percent

FORMAT = 1
SUMMARY = "summary.json"


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns separated by two blanks; right-aligned, but the first row's words to the left where a column holds any.

    header: (columns,); rows: (lines, columns), all text.
    """
    columns = list(zip(header, *rows, strict=True))
    dashes = ["-" * max(len(cell) for cell in column) for column in columns]
    left = {number for number, column in enumerate(columns) if any(cell and not _is_figure(cell) for cell in column[1:])}
    return "\n".join(aligned([header, dashes, *rows], left))


def _is_figure(cell: str) -> bool:
    return cell.lstrip("+-")[:1].isdigit() and "x" not in cell


def figure(value: float | None, digits: int) -> str:
    """Fixed-point text; empty for None."""
    return "" if value is None else f"{value:.{digits}f}"


def percent(value: float | None) -> str:
    """A signed error with one digit; empty for None."""
    # Adding zero turns a rounded -0.0 into 0.0.
    return "" if value is None else f"{round(value, 1) + 0.0:+.1f} %"


EXTRAPOLATED_NOTE = (
    "* extrapolated: no barrier or lock was measured on this layout, so a message-level model stands in for it"
)


def _predicted(line: Line, value: float | None, digits: int) -> str:
    """The figure, marked if a cost in it was extrapolated; empty for None."""
    text = figure(value, digits)
    return f"{text}*" if text and line.extrapolated else text


def _with_footnote(table: str, lines: Sequence[Line]) -> str:
    marked = any(line.extrapolated and line.predicted_s is not None for line in lines)
    return f"{table}\n{EXTRAPOLATED_NOTE}" if marked else table


def times_table(lines: Sequence[Line]) -> str:
    """Returns predicted and published times and speedups, with blind predictions where there are any."""
    has_blind = any(line.blind_predicted_s is not None for line in lines)
    blind = (f"blind ({BLIND_COMMIT}) s", "error") if has_blind else ()
    speedups = ("speedup", "published", "error")
    header = ("impl", "layout", "predicted s", "published s", "error", *blind, *speedups, "calibrated by")
    rows = []
    for line in lines:
        note = line.calibrated_by if line.done else "INCOMPLETE"
        if line.extrapolated:
            note = f"{note} (extrapolated: {', '.join(line.extrapolated)})".strip()
        times = (_predicted(line, line.predicted_s, 2), figure(line.published_s, 1), percent(line.time_error_percent))
        blind_error = error_percent(line.blind_predicted_s, line.published_s)
        blind_cells = (figure(line.blind_predicted_s, 2), percent(blind_error)) if has_blind else ()
        speedup_cells = (figure(line.predicted_speedup, 2), figure(line.published_speedup, 2))
        error = percent(line.speedup_error_percent)
        rows.append((str(line.implementation), line.layout, *times, *blind_cells, *speedup_cells, error, note))
    return _with_footnote(text_table(header, rows), lines)


def incomplete_list(lines: Sequence[Line]) -> str:
    """Why lines have no prediction, or one of fewer seeds: a text line for each reason and those it holds for."""
    reasons: dict[str, list[str]] = {}
    for line in lines:
        if not line.done:
            reasons.setdefault(line.status, []).append(f"{line.program} {line.implementation} {line.layout}")
    return "\n".join(f"  {reason}: {', '.join(of)}" for reason, of in reasons.items())


def spread_table(lines: Sequence[Line]) -> str:
    """Distributions over seeds beside the published ones, seconds."""
    header = ("impl", "layout", "seeds", "min", "published", "error", "mean", "published", "sd", "published")
    rows = []
    for line in lines:
        times = (_predicted(line, line.predicted_s, 1), figure(line.published_s, 1), percent(line.time_error_percent))
        means = (figure(line.predicted_mean_s, 1), figure(line.published_mean_s, 1))
        deviations = (figure(line.predicted_standard_deviation_s, 2), figure(line.published_standard_deviation_s, 2))
        rows.append((str(line.implementation), line.layout, str(line.seeds), *times, *means, *deviations))
    return _with_footnote(text_table(header, rows), lines)


COUNT_COLUMNS = ("remote_reads", "remote_writes", "barriers", "messages", "bytes")


def counts_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Events per thread: the mean over the threads of each configuration, and the largest where it differs.

    rows: as report.thread_rows gives them.
    """
    grouped: dict[tuple[int, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        grouped.setdefault((row["implementation"], f"{row['nodes']}x{row['threads_per_node']}"), []).append(row)
    lines = []
    for (implementation, layout), threads in grouped.items():
        cells = [str(implementation), layout]
        for column in COUNT_COLUMNS:
            values = [int(thread[column]) for thread in threads]
            mean = f"{sum(values) / len(values):.0f}"
            cells.append(mean if max(values) == min(values) else f"{mean} (max {max(values)})")
        lines.append(tuple(cells))
    return text_table(("impl", "layout", *(column.replace("_", " ") for column in COUNT_COLUMNS)), lines)


def accuracy_sentence(accuracy: Accuracy) -> str:
    """The headline of the Laplace predictions."""
    missing = f"; {accuracy.missing} missing" if accuracy.missing else ""
    return (
        f"{accuracy.of} ({accuracy.predictions} predictions{missing}): "
        f"median error {accuracy.median_percent:.1f} %, largest {accuracy.largest_percent:.1f} %"
    )


CSV_LEAVES_OUT = ("predicted_times_s", "mean_account_s")


def line_row(line: Line) -> dict[str, Any]:
    """The line flat, for CSV: lists joined by blanks, None as an empty field."""
    fields = {name: value for name, value in as_document(line).items() if name not in CSV_LEAVES_OUT}
    return {name: " ".join(value) if isinstance(value, list) else value for name, value in fields.items()}


def seed_rows(lines: Sequence[Line], first_seed: int) -> list[dict[str, Any]]:
    """One row per seed of every distribution."""
    return [
        {
            "program": line.program,
            "implementation": line.implementation,
            "nodes": line.nodes,
            "threads_per_node": line.threads_per_node,
            "seed": first_seed + index,
            "predicted_s": time_s,
        }
        for line in lines
        if line.is_distribution and line.done
        for index, time_s in enumerate(line.predicted_times_s)
    ]


def write_text(path: Path, text: str) -> None:
    """Writes whole or not at all; makes the folder. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_output(path, text)


def write_summary(folder: Path, lines: Sequence[Line], settings: Mapping[str, Any]) -> None:
    """The whole report as JSON; what the figures are drawn from. Raises OSError."""
    document = {"format": FORMAT, "settings": dict(settings), "lines": [as_document(line) for line in lines]}
    write_text(folder / SUMMARY, json_text(document))


def read_summary(folder: Path) -> list[Line]:
    """The lines of a finished job's summary. Raises OSError, or ValueError if it is no summary of this format."""
    path = folder / SUMMARY
    document = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f"{path}: no summary of format {FORMAT}. Run the main job again.")
    try:
        return [Line(**fields) for fields in document["lines"]]
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path}: a line cannot be read ({error}). Run the main job again.") from error
