"""What JIAJIA's actions cost on a machine, from the statistics that its programs print there.

    python3 -m calibration.jiajia REPORT...

Each cost is the time that all hosts of all reports spent on an action, over how often they did: long programs tell more
than short ones. The range beside it is that of single hosts that acted often enough.

    fault at home      SEGV time (local) / SEGVs (local)
    page request       SEGV time (remote) / Getp Reqs. Not over SEGVs (remote): a write on a clean copy counts there too
                       and sends nothing. What such writes take is in here and cannot be told apart
    message, one way   half of a page request: request and page follow one another, and on the wire both have the same
                       size. The handler's own part, some 1 %, is in here
    diff, making       Encode diff time / MWdiffs. MWdiffs are counted at the homes, so this is had of sums alone
    diff, applying     Decode diff time / MWdiffs, at the homes
    barrier            at most the least Barrier time / Barriers of any host: the one that comes last waits least

The times hold what the reports' machine wrote to its log for each fault and message.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from calibration import readers
from calibration.command_line import BadInput
from calibration.readers import Reading
from calibration.readers.jiajia import NAME

#: Of so many actions the printed hundredths of a ms, and what happens now and then, move a host's mean by little.
ENOUGH_ACTIONS = 100


@dataclass(frozen=True)
class Host:
    """One host's statistics, counts and times (ms) by JIAJIA's names."""

    report: str
    number: int
    values: dict[str, float]


@dataclass(frozen=True)
class Cost:
    """Microseconds for one action, over all hosts, and the least and the most of a host with ENOUGH_ACTIONS (the cost
    itself where there is none)."""

    us: float
    actions: int
    least_us: float
    most_us: float


@dataclass(frozen=True)
class Costs:
    """None: nothing of the kind happened."""

    hosts: int
    local_fault: Cost | None
    page_request: Cost | None
    make_diff: Cost | None
    apply_diff: Cost | None
    barrier_at_most_us: float | None

    @property
    def message_us(self) -> float | None:
        return self.page_request.us / 2 if self.page_request else None


def hosts_of(reading: Reading) -> list[Host]:
    """Raises BadInput if it is of another benchmark."""
    if reading.format != NAME:
        raise BadInput(f"{reading.file}: is of {reading.format}. Give what a program on JIAJIA printed")
    values: dict[int, dict[str, float]] = {}
    for m in reading.measurements:
        values.setdefault(int(m.keys["host"]), {})[m.quantity] = m.values[0]
    return [Host(reading.file, number, of_host) for number, of_host in values.items()]


def _cost(hosts: Sequence[Host], time: str, count: str, by_host: bool = True) -> Cost | None:
    actions = sum(host.values[count] for host in hosts)
    if actions == 0:
        return None
    us = 1e3 * sum(host.values[time] for host in hosts) / actions
    single = [
        1e3 * host.values[time] / host.values[count]
        for host in hosts
        if by_host and host.values[count] >= ENOUGH_ACTIONS
    ]
    return Cost(us, int(actions), min(single, default=us), max(single, default=us))


def fit(readings: Sequence[Reading]) -> Costs:
    """Of reports from one machine. Raises BadInput if there are none, of another benchmark or of differently many hosts."""
    hosts = [host for reading in readings for host in hosts_of(reading)]
    counts = {len(hosts_of(reading)) for reading in readings}
    if len(counts) != 1:
        raise BadInput(
            "no reports. Name what programs on JIAJIA printed"
            if not counts
            else f"reports of {' and '.join(map(str, sorted(counts)))} hosts. Give those of one cluster"
        )
    return Costs(
        hosts=counts.pop(),
        local_fault=_cost(hosts, "SEGV time (local)", "SEGVs (local)"),
        page_request=_cost(hosts, "SEGV time (remote)", "Getp Reqs"),
        make_diff=_cost(hosts, "Encode diff time", "MWdiffs", by_host=False),
        apply_diff=_cost(hosts, "Decode diff time", "MWdiffs"),
        barrier_at_most_us=min(
            (1e3 * host.values["Barrier time"] / host.values["Barriers"] for host in hosts if host.values["Barriers"]),
            default=None,
        ),
    )


def table(costs: Costs) -> str:
    """A line for each cost."""
    lines = [f"{'us':>10} {'least':>10} {'most':>10} {'actions':>8}"]

    def line(cost: Cost | None, name: str) -> None:
        if cost:
            lines.append(f"{cost.us:10.2f} {cost.least_us:10.2f} {cost.most_us:10.2f} {cost.actions:8}  {name}")

    line(costs.local_fault, "fault at home")
    line(costs.page_request, "page request")
    if costs.message_us is not None:
        lines.append(f"{costs.message_us:10.2f} {'':30}  message, one way")
    line(costs.make_diff, "diff, making")
    line(costs.apply_diff, "diff, applying")
    if costs.barrier_at_most_us is not None:
        lines.append(f"{costs.barrier_at_most_us:10.2f} {'':30}  barrier of {costs.hosts} hosts, at most")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str], write: Callable[[str], object] = sys.stdout.write) -> int:
    """Prints the table of the reports named. Exit status: 0 done, 2 bad input."""
    try:
        write(table(fit([readers.read(Path(name)) for name in arguments])))
    except (BadInput, OSError) as error:
        print(f"sdsm: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
