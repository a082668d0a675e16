"""What a barrier costs a process for each home page that it wrote, from the times of Laplace implementation 4.

No published table holds this cost (the page is re-protected and its write notice processed), but the times of
Laplace [WR-opt] cannot be had without it. Implementation 4 is the plainest program that shows it: block-placed grids,
one barrier per iteration, each thread writing only pages of its own and reading one row of each neighbour. Per
iteration its slowest thread spends

    time / iterations = compute + WROH x pages written + RUMR x pages read + barrier + cost x pages written

where
    compute       implementation 0's time per iteration, times the thread's rows over all interior rows: the same cells,
                  the same processor;
    pages written the thread's interior rows, times the pages of a row. All are its own home pages, read-only since the
                  last barrier, so each pays one WROH fault and, at the barrier, `cost` once;
    pages read    one row of each neighbour (a middle thread has two). Dropped at each barrier, so each pays one RUMR;
    barrier       EPCC's overhead of an empty barrier on that layout.

Everything but `cost` is published, and nothing here comes from a trace. Two thread counts give two equations for one
unknown; the value is their least-squares solution. The published times are rounded to 0.1 s, an error of equal size in
both equations, so they weigh equally in time (and the one with more pages weighs more in the cost).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sdsm.base.published import FOLDER, calibration_value

GRID_POINTS_PER_SIDE = 1024
ITERATIONS = 100
THREAD_COUNTS = (2, 4)
POINT_BYTES = 8
PAGE_BYTES = 4096


@dataclass(frozen=True)
class IterationWork:
    """What one thread of implementation 4 does in one iteration."""

    interior_rows: int
    pages_written: int
    pages_read: int


def iteration_work(threads: int, thread: int) -> IterationWork:
    """Work of `thread` (0-based): rows are shared in equal blocks, and the first and the last row are not written.
    threads: of THREAD_COUNTS, which divide the rows evenly."""
    row_pages = GRID_POINTS_PER_SIDE * POINT_BYTES // PAGE_BYTES
    edges = (thread == 0) + (thread == threads - 1)
    rows = GRID_POINTS_PER_SIDE // threads - edges
    return IterationWork(interior_rows=rows, pages_written=rows * row_pages, pages_read=(2 - edges) * row_pages)


@dataclass(frozen=True)
class PublishedCosts:
    """The published figures that enter, with their units in their names."""

    sequential_time_s: float  # implementation 0, whole run [WR-opt]
    write_fault_us: float  # WROH [WR-env]
    read_fault_us: float  # RUMR [WR-env]


@dataclass(frozen=True)
class Equation:
    """One thread count's equation, microseconds per iteration of the slowest thread."""

    threads: int
    work: IterationWork
    measured_us: float
    rounding_us: float
    compute_us: float
    write_faults_us: float
    read_faults_us: float
    barrier_us: float

    @property
    def rest_us(self) -> float:
        """Measured time minus the published costs."""
        return self.measured_us - self.compute_us - self.write_faults_us - self.read_faults_us - self.barrier_us

    @property
    def cost_us(self) -> float:
        """This equation's own solution: cost per written home page and barrier."""
        return self.rest_us / self.work.pages_written

    @property
    def cost_rounding_us(self) -> float:
        """Largest effect of the published time's rounding on cost_us."""
        return self.rounding_us / self.work.pages_written


def equation(threads: int, measured_s: float, rounding_s: float, barrier_us: float, costs: PublishedCosts) -> Equation:
    """The equation of the slowest thread: the one whose published terms sum to most."""
    sequential_us = costs.sequential_time_s / ITERATIONS * 1e6

    def terms(thread: int) -> Equation:
        work = iteration_work(threads, thread)
        return Equation(
            threads=threads,
            work=work,
            measured_us=measured_s / ITERATIONS * 1e6,
            rounding_us=rounding_s / ITERATIONS * 1e6,
            compute_us=sequential_us * work.interior_rows / (GRID_POINTS_PER_SIDE - 2),
            write_faults_us=costs.write_fault_us * work.pages_written,
            read_faults_us=costs.read_fault_us * work.pages_read,
            barrier_us=barrier_us,
        )

    return min((terms(thread) for thread in range(threads)), key=lambda e: e.rest_us)


def least_squares_us(equations: Sequence[Equation]) -> float:
    """Cost (us) that minimises the squared misfit of the times: sum(pages x rest) / sum(pages^2). Raises ValueError if
    `equations` is empty or the cost is not positive, which no re-protected page can have."""
    if not equations:
        raise ValueError("no published time to calibrate from")
    cost = sum(e.work.pages_written * e.rest_us for e in equations) / sum(e.work.pages_written**2 for e in equations)
    if cost <= 0:
        raise ValueError(f"the published costs leave {cost:.3f} us per page, which must be positive: check the inputs")
    return cost


def least_squares_rounding_us(equations: Sequence[Equation]) -> float:
    """Largest effect of all published times' rounding on least_squares_us, us."""
    squares = sum(e.work.pages_written**2 for e in equations)
    return sum(e.work.pages_written * e.rounding_us for e in equations) / squares


def published_equations(folder: Path = FOLDER) -> list[Equation]:
    """The equations of THREAD_COUNTS from the published tables' calibration rows. Raises PublishedDataError."""
    grid = {"source": "WR-opt", "grid_points_per_side": GRID_POINTS_PER_SIDE, "iterations": ITERATIONS}
    costs = PublishedCosts(
        sequential_time_s=calibration_value("laplace_times", "time_s", folder, implementation=0, nodes=1, **grid),
        write_fault_us=calibration_value("scash_faults", "time_us", folder, name="WROH"),
        read_fault_us=calibration_value("scash_faults", "time_us", folder, name="RUMR"),
    )
    equations = []
    for threads in THREAD_COUNTS:
        layout = {"nodes": threads, "threads_per_node": 1}
        run = {"implementation": 4, **layout, **grid}
        time_s, rounding_s = (
            calibration_value("laplace_times", name, folder, **run) for name in ("time_s", "time_rounding_s")
        )
        barrier_us = calibration_value("scash_synchronisation", "overhead_us", folder, construct="BARRIER", **layout)
        equations.append(equation(threads, time_s, rounding_s, barrier_us, costs))
    return equations


def dirty_home_page_us(folder: Path = FOLDER) -> float:
    """The calibrated cost, rounded to 0.01 us: the value of the platform file."""
    return round(least_squares_us(published_equations(folder)), 2)


def report(equations: Sequence[Equation]) -> str:
    """The fit as a table for people, microseconds."""
    lines = [
        "Cost of a home page that its owner wrote, at a barrier: from Laplace implementation 4 [WR-opt]",
        "microseconds per iteration of the slowest thread",
        "",
        "threads  measured   compute   WROH x pages    RUMR x pages  barrier      rest  pages  rest/page",
    ]
    for e in equations:
        lines.append(
            f"{e.threads:7d}  {e.measured_us:8.1f}  {e.compute_us:8.1f}  "
            f"{e.write_faults_us:7.0f} ({e.work.pages_written:4d})  {e.read_faults_us:7.0f} ({e.work.pages_read:4d})  "
            f"{e.barrier_us:7.0f}  {e.rest_us:8.1f}  {e.work.pages_written:5d}  "
            f"{e.cost_us:5.2f} +-{e.cost_rounding_us:.2f}"
        )
    used = f"least squares        {least_squares_us(equations):.2f} +-{least_squares_rounding_us(equations):.2f} us"
    lines += [
        "",
        f"mean of the values   {sum(e.cost_us for e in equations) / len(equations):.2f} us",
        f"{used}  (the value used; +- is the rounding of the published times)",
    ]
    return "\n".join(lines)
