"""Lines of the result tables: predicted beside published, with errors and statistics.

This is the only module that reads published comparison figures, and it runs after the last simulation.
"""

from __future__ import annotations

import csv
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sdsm.base.published import FOLDER, Row, all_rows, number
from sdsm.base.run_result import Simulation, mean_account_s
from sdsm.report.main_job.plan import Configuration, calibrated_by, is_distribution, sequential_time_s


@dataclass(frozen=True)
class Line:
    """One configuration. Times in seconds; speedups over implementation 0; errors are predicted / published - 1, in
    percent. None where there is no figure."""

    program: str
    implementation: int
    nodes: int
    threads_per_node: int
    calibrated_by: str
    """Which published time went into the prediction itself; empty for a prediction proper."""
    status: str
    """"done", "not run", or the reason why there is no prediction."""
    predicted_s: float | None = None
    """Minimum over the seeds: the statistic of the published times."""
    published_s: float | None = None
    published_rounding_s: float | None = None
    published_source: str = ""
    time_error_percent: float | None = None
    predicted_speedup: float | None = None
    published_speedup: float | None = None
    speedup_error_percent: float | None = None
    seeds: int = 0
    predicted_times_s: list[float] = field(default_factory=list)
    """One per seed, in the order of the seeds."""
    predicted_mean_s: float | None = None
    predicted_standard_deviation_s: float | None = None
    """Of the sample (n - 1); None for fewer than two seeds."""
    published_mean_s: float | None = None
    published_standard_deviation_s: float | None = None
    extrapolated: list[str] = field(default_factory=list)
    """Costs that no measurement of this layout gives."""
    blind_predicted_s: float | None = None
    """What BLIND_COMMIT predicted, before anybody here had seen the published time. It stays as it is."""
    mean_account_s: dict[str, float] = field(default_factory=dict)
    """Mean over threads of each term, first seed; sums to that seed's time."""

    @property
    def layout(self) -> str:
        return f"{self.nodes}x{self.threads_per_node}"

    @property
    def threads(self) -> int:
        return self.nodes * self.threads_per_node

    @property
    def done(self) -> bool:
        return self.status == "done"

    @property
    def is_distribution(self) -> bool:
        return self.seeds > 1


def error_percent(predicted: float | None, published: float | None) -> float | None:
    """100 (predicted / published - 1); None if either is missing."""
    if predicted is None or published is None:
        return None
    return 100.0 * (predicted / published - 1.0)


def _published(configuration: Configuration, table: str, folder: Path) -> Row | None:
    of_layout = asdict(configuration.layout)
    rows = all_rows(table, folder, source="WR-opt", implementation=configuration.implementation, **of_layout)
    return rows[0] if rows else None


#: Predictions made blind, kept from docs/validation.md of this commit.
BLIND_COMMIT = "e0bb375"
BLIND_PREDICTIONS = Path(__file__).with_name("blind_predictions.csv")


def _blind_predicted_s(configuration: Configuration) -> float | None:
    layout = configuration.layout
    wanted = (configuration.program, configuration.implementation, layout.nodes, layout.threads_per_node)
    with BLIND_PREDICTIONS.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if (row["program"], *map(int, (row["implementation"], row["nodes"], row["threads_per_node"]))) == wanted:
                return float(row["predicted_s"])
    return None


def line(configuration: Configuration, outcomes: Sequence[Simulation | str], folder: Path = FOLDER) -> Line:
    """The table line of a configuration.

    outcomes: per seed, in order, its result or the reason why there is none ("not run", or what failed). A line with
    any failed seed keeps the others' statistics and shows the reason. Raises PublishedDataError.
    """
    results = [outcome for outcome in outcomes if isinstance(outcome, Simulation)]
    reasons = [outcome for outcome in outcomes if isinstance(outcome, str)]
    times_s = [result.makespan_s for result in results]
    predicted_s = min(times_s, default=None)
    status = reasons[0] if reasons else "done"
    if results and reasons:
        status = f"{len(results)} of {len(outcomes)} seeds; {status}"

    time_row = _published(configuration, f"{configuration.program}_times", folder)
    published_s = number(time_row, "time_s") if time_row else None
    spread_row = _published(configuration, "laplace_spread", folder) if is_distribution(configuration) else None

    sequential_s = sequential_time_s(configuration.program, 0, folder)
    predicted_speedup = sequential_s / predicted_s if predicted_s else None
    published_speedup = sequential_s / published_s if published_s else None
    return Line(
        program=configuration.program,
        implementation=configuration.implementation,
        **asdict(configuration.layout),
        calibrated_by=calibrated_by(configuration),
        status=status,
        predicted_s=predicted_s,
        published_s=published_s,
        published_rounding_s=number(time_row, "time_rounding_s") if time_row else None,
        published_source=time_row["source"] if time_row else "",
        time_error_percent=error_percent(predicted_s, published_s),
        predicted_speedup=predicted_speedup,
        published_speedup=published_speedup,
        speedup_error_percent=error_percent(predicted_speedup, published_speedup),
        seeds=len(times_s),
        predicted_times_s=times_s,
        predicted_mean_s=statistics.fmean(times_s) if times_s else None,
        predicted_standard_deviation_s=statistics.stdev(times_s) if len(times_s) > 1 else None,
        published_mean_s=number(spread_row, "time_mean_s") if spread_row else None,
        published_standard_deviation_s=number(spread_row, "time_standard_deviation_s") if spread_row else None,
        extrapolated=list(results[0].extrapolated) if results else [],
        blind_predicted_s=_blind_predicted_s(configuration),
        mean_account_s=mean_account_s(results[0].threads) if results else {},
    )


@dataclass(frozen=True)
class Accuracy:
    """Time errors of the predictions proper, absolute values in percent."""

    of: str
    predictions: int
    missing: int
    median_percent: float
    largest_percent: float


LAPLACE_PREDICTED = (3, 5, 6)


def laplace_accuracy(lines: Sequence[Line]) -> Accuracy | None:
    """Median and largest |error| of Laplace 3, 5 and 6 on more than one thread: the six times that no published time
    but implementation 0's and 4's went into. None if none was predicted."""
    laplace = [line for line in lines if line.program == "laplace" and line.threads > 1]
    wanted = [line for line in laplace if line.implementation in LAPLACE_PREDICTED]
    errors = [abs(line.time_error_percent) for line in wanted if line.time_error_percent is not None]
    if not errors:
        return None
    of = "Laplace implementations 3, 5 and 6 on 2 and 4 threads"
    return Accuracy(of, len(errors), len(wanted) - len(errors), statistics.median(errors), max(errors))


def second_series() -> str:
    """The other published series on the same cluster [WR-env], as a sentence: how far two measurements of one program
    differ. Empty if the table has none. Raises PublishedDataError."""
    rows = all_rows("laplace_times", source="WR-env")
    times = [f"implementation {row['implementation']} on {row['nodes']}x1 {row['time_s']} s" for row in rows]
    return f"Another series on the same cluster [WR-env]: {', '.join(times)}" if times else ""


REMOTE_READS = ("RUMR", "RROR", "RRWR")
REMOTE_WRITES = ("WUMR", "WROR", "WRWR")


def thread_rows(results: Mapping[Configuration, Simulation]) -> list[dict[str, Any]]:
    """One flat row per thread of each configuration (its first seed): counts, then seconds by term.

    remote_reads and remote_writes: faults of the kinds whose owner is on another node (REMOTE_READS, REMOTE_WRITES).
    """
    threads = [(configuration, thread) for configuration, result in results.items() for thread in result.threads]
    kinds = sorted({kind for _, thread in threads for kind in thread.faults})
    names = list(dict.fromkeys(name for _, thread in threads for name in thread.counts()))
    terms = list(dict.fromkeys(term for _, thread in threads for term in thread.account_s()))
    rows = []
    for configuration, thread in threads:
        counts, times_s = thread.counts(), thread.account_s()
        row: dict[str, Any] = {"program": configuration.program, "implementation": configuration.implementation}
        row |= asdict(configuration.layout) | {"thread": thread.id, "node": thread.node}
        for name, remote in (("remote_reads", REMOTE_READS), ("remote_writes", REMOTE_WRITES)):
            row[name] = sum(thread.faults.get(kind, 0) for kind in remote)
        row |= {name: counts.get(name, 0) for name in names}
        row |= {f"faults_{kind}": thread.faults.get(kind, 0) for kind in kinds}
        rows.append(row | {f"{term.replace(' ', '_')}_s": times_s.get(term, 0.0) for term in terms})
    return rows


def as_document(line: Line) -> dict[str, Any]:
    """The line as JSON fields, with its layout spelt out; finite numbers only."""
    fields = asdict(line)
    assert all(math.isfinite(value) for value in fields.values() if isinstance(value, float))
    return fields
