"""platforms/p3-score.xml from the published tables: every number is read, only sentences and order are here.

    sdsm calibrate p3-score -o platforms/p3-score.xml

Faults, barriers, locks and messages are published as such. One cost is in no table, what a barrier costs a process for
each home page that it wrote: it comes from Laplace implementation 0's time and implementation 4's two times by the
formula of dirty_page.py, over counts of events that are formulas too; no trace is used. What the publications do not
tell (assumed/p3-score.csv) is marked so.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sdsm.base.places import CALIBRATION
from sdsm.base.published import FOLDER, PublishedDataError, Row, calibration_rows, number
from sdsm.calibrate import dirty_page
from sdsm.calibrate.parameters import Parameter
from sdsm.platform.platform_file import Blank, Comment, Node, cluster, platform_text, prop

NAME = "p3-score"
ASSUMED = CALIBRATION / "assumed" / f"{NAME}.csv"

ABOUT = """\
The cluster of [WR-env] and [WR-opt]: nodes with two {clock} MHz Pentium III, one switch of 100 Mbit/s Ethernet,
SCore 5.4.0 with SCASH and Omni OpenMP, pages of 4096 bytes. Eight nodes are described; costs were measured on up
to four.

Every number says where it comes from: "measured" (with source), "calibrated" (fitted to measurements that are
then not predictions), "assumed" (no source; see docs/platforms.md for what depends on it).
sdsm check reads this file and names what is missing, misspelt or contradictory."""


@dataclass(frozen=True)
class Given:
    """A number, or a policy, in assumed/p3-score.csv. basis: published, inferred or assumed."""

    text: str
    unit: str
    basis: str
    source: str

    @property
    def with_unit(self) -> str:
        return self.text if self.unit in ("1", "policy") else self.text + self.unit


def given(path: Path = ASSUMED) -> dict[str, Given]:
    """Returns the table by parameter. Raises PublishedDataError."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        return {row["parameter"]: Given(row["value"], row["unit"], row["is"], row["source"]) for row in rows}
    except (OSError, KeyError, csv.Error) as error:
        raise PublishedDataError(f"{path}: cannot be read ({error}). Restore it from the repository.") from error


@dataclass(frozen=True)
class Platform:
    """text: the platform file. parameters: each with its source; the fitted one's standard error is the rounding of the
    published times."""

    text: str
    parameters: tuple[Parameter, ...]


def platform(folder: Path = FOLDER, assumed: Path = ASSUMED) -> Platform:
    """Makes the platform from the calibration rows of the tables in `folder`. Raises PublishedDataError, ValueError."""
    assumptions = given(assumed)
    try:
        return _platform(folder, assumptions)
    except KeyError as error:
        raise PublishedDataError(f"{assumed}: no row for {error}. Add it.") from None


@dataclass
class _Properties:
    """Properties for the file, each noted with its birth certificate."""

    folder: Path
    assumptions: dict[str, Given]
    parameters: list[Parameter] = field(default_factory=list)

    def published(self, name: str, table: str, row: Row, column: str, unit: str) -> Node:
        source = f"{self.folder / table}.csv [{row['source']}]"
        self.parameters.append(Parameter(name, number(row, column), unit, None, None, "measured", "as published", (source,)))
        return prop(name, row[column] + unit)

    def assumed(self, name: str, key: str) -> Node:
        value = self.assumptions[key]
        kind = "assumed" if value.basis != "published" else "measured"
        if value.unit != "policy":
            of_value = (float(value.text), value.unit, None, None, kind, value.basis, (value.source,))
            self.parameters.append(Parameter(name, *of_value))
        return prop(name, value.with_unit)

    def faults(self) -> list[Node]:
        rows = calibration_rows("scash_faults", self.folder)
        return [self.published(f"fault.{row['name']}", "scash_faults", row, "time_us", "us") for row in rows]

    def messages(self) -> list[Node]:
        table = "scash_messages"
        sends = calibration_rows(table, self.folder, operation="Send2")
        if len(sends) != 1:
            raise PublishedDataError(f"{self.folder / table}.csv: {len(sends)} calibration rows of Send2, not one.")
        parts = (("message.fixed", "fixed_us", "us"), ("message.per-byte", "per_byte_us", "us/B"))
        return [self.published(name, table, sends[0], column, unit) for name, column, unit in parts]

    def by_layout(self, prefix: str, construct: str) -> list[Node]:
        table = "scash_synchronisation"
        return [
            self.published(f"{prefix}.{row['nodes']}x{row['threads_per_node']}", table, row, "overhead_us", "us")
            for row in calibration_rows(table, self.folder, construct=construct)
        ]

    def dirty_home_page(self) -> Node:
        equations = dirty_page.published_equations(self.folder)
        dirty_us = dirty_page.dirty_home_page_us(self.folder)
        rounding_us = dirty_page.least_squares_rounding_us(equations)
        name = "barrier.dirty-home-page"
        how = "least squares over the times of Laplace implementation 4 (python/sdsm/calibrate/dirty_page.py); error: their rounding"
        source = f"{self.folder / 'laplace_times'}.csv [WR-opt]"
        self.parameters.append(Parameter(name, dirty_us, "us", rounding_us, len(equations), "fitted", how, (source,)))
        return prop(name, f"{dirty_us:.2f}us")


def _costs(made: _Properties) -> list[Node]:
    counts = " and ".join(str(threads) for threads in dirty_page.THREAD_COUNTS)
    return [
        *_section("Page faults, uncontended, trap to resumed access. Measured, [WR-env].", made.faults()),
        *_section('One diff or control message, end to end and uncontended ("Send2"). Measured, [WR-opt].', made.messages()),
        *_section("EPCC overhead of an empty barrier, nodes x threads per node. Measured, [WR-env].",
            made.by_layout("barrier", "BARRIER")),
        *_section("EPCC overhead of LOCK/UNLOCK, all threads contending: one hand-off. Measured, [WR-env].",
            made.by_layout("lock", "LOCK/UNLOCK")),
        *_section(
            f"At a barrier, for each home page that its owner wrote. Calibrated from Laplace implementation 4 on {counts}\n"
            "threads, [WR-opt]; python/sdsm/calibrate/dirty_page.py has the formula.",
            [made.dirty_home_page()],
        ),
    ]


#: Properties from assumed/p3-score.csv, by the comment before them; each with its row there.
_ASSUMED = {
    "The share of a local (processor) part that the home or receiver pays. Assumed.": {
        "local-part.home-share": "home_share"
    },
    "The idle network on which the above was measured: cable, switch, cable. Bandwidth from [WR-env]; latency of a\n"
    "cable and its port assumed (what is not wire is in the processor parts).": {
        "reference.bandwidth": "bandwidth", "reference.latency": "cable_latency",
        "reference.links": "links_between_nodes",
    },
    "Ethernet frames. Payload inferred from [WR-opt]; the rest IEEE 802.3 plus 40 bytes of headers, assumed.": {
        f"frame.{part}": f"frame_{part}" for part in ("payload", "overhead", "minimum")
    },
    "Copies dropped at a barrier: every one, as the published Laplace times ask for (or: changed).": {
        "protocol.invalidation": "invalidation"
    },
    "Atomic operations: each within a lock, as Omni compiles `#pragma omp atomic` (or: home, relaxed).": {
        "protocol.atomics": "atomics"
    },
    "An optional effect for which no figure is published: off. Uncalibrated.": {
        "home.interrupt-delay": "interrupt_delay"
    },
}  # fmt: skip


def _platform(folder: Path, assumptions: dict[str, Given]) -> Platform:
    made = _Properties(folder, assumptions)
    clock, operations = assumptions["clock"].text, assumptions["operations_per_cycle"].text
    machine = cluster(
        nodes=int(assumptions["nodes"].text),
        speed=f"{float(clock) * float(operations):g}Mf",
        cores=int(assumptions["processors_per_node"].text),
        bandwidth=assumptions["bandwidth"].with_unit,
        latency=assumptions["cable_latency"].with_unit,
        hosts=f"{clock} MHz, one operation a cycle: only ratios of speeds between platforms would use it. Two processors.",
        links="Full-duplex cables to one switch.",
    )
    body = _costs(made)
    for comment, properties in _ASSUMED.items():
        body += _section(comment, [made.assumed(name, key) for name, key in properties.items()])
    body += machine
    return Platform(platform_text(ABOUT.format(clock=clock), NAME, body), tuple(made.parameters))


def _section(comment: str, props: Sequence[Node]) -> list[Node]:
    return [Comment(comment), *props, Blank()]
