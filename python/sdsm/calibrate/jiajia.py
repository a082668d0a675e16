"""What JIAJIA's actions cost on a machine, from the statistics that its programs print there.

    python3 -m sdsm.calibrate.jiajia REPORT... [-o PLATFORM.xml]

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

The times include what the reports' machine spent on logging each fault and message. -o writes a platform with these
costs and as many nodes as the reports have hosts; --log takes the log's time out of them, into a property of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sdsm import readers
from sdsm.base.command_line import BadInput, Parser, file_name
from sdsm.calibrate.copies import refuse_copies
from sdsm.platform.derived import ASSUMED
from sdsm.platform.platform_file import Comment, Node, cluster, platform_text, prop
from sdsm.readers import Reading
from sdsm.readers.jiajia import NAME
from sdsm.readers.text import load_input

#: With so many actions, a host's mean hardly depends on the printed hundredths of a ms and on rare events.
ENOUGH_ACTIONS = 100

#: M-JIAJIA's messages on the wire: each has the size of the longest, and its answer 8 bytes.
DATAGRAM_BYTES = 40960
ACKNOWLEDGEMENT_BYTES = 8


@dataclass(frozen=True)
class Host:
    """One host's statistics, counts and times (ms) by JIAJIA's names."""

    report: str
    number: int
    values: dict[str, float]


@dataclass(frozen=True)
class Cost:
    """Microseconds for one action, over all hosts, and the least and greatest of a host with ENOUGH_ACTIONS (else the cost
    itself)."""

    us: float
    actions: int
    least_us: float
    most_us: float


@dataclass(frozen=True)
class Costs:
    """Costs; None: the action did not occur."""

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
    """Returns a report's hosts. Raises BadInput if it is of another benchmark."""
    if reading.format != NAME:
        raise BadInput(f"{reading.file}: is of {reading.format}. Give what a program on JIAJIA printed")
    values: dict[int, dict[str, float]] = {}
    for m in reading.measurements:
        values.setdefault(int(m.keys["host"]), {})[m.quantity] = m.values[0] if m.unit == "1" else m.in_unit("ms")[0]
    return [Host(reading.file, number, of_host) for number, of_host in values.items()]


def _cost(hosts: Sequence[Host], time: str, count: str, by_host: bool = True) -> Cost | None:
    actions = sum(host.values[count] for host in hosts)
    if actions == 0:
        return None
    us = 1e3 * sum(host.values[time] for host in hosts) / actions
    often = [host.values for host in hosts if by_host and host.values[count] >= ENOUGH_ACTIONS]
    single = [1e3 * values[time] / values[count] for values in often]
    return Cost(us, int(actions), min(single, default=us), max(single, default=us))


def fit(readings: Sequence[Reading]) -> Costs:
    """Fits reports from one machine. Raises BadInput if there are none, if one is of another benchmark, or if they differ in
    hosts."""
    hosts = [host for reading in readings for host in hosts_of(reading)]
    counts = {len(hosts_of(reading)) for reading in readings}
    if not counts:
        raise BadInput("no reports. Name what programs on JIAJIA printed")
    if len(counts) > 1:
        raise BadInput(f"reports of {' and '.join(map(str, sorted(counts)))} hosts. Give those of one cluster")
    synchronised = [host.values for host in hosts if host.values["Barriers"]]
    return Costs(
        hosts=counts.pop(),
        local_fault=_cost(hosts, "SEGV time (local)", "SEGVs (local)"),
        page_request=_cost(hosts, "SEGV time (remote)", "Getp Reqs"),
        make_diff=_cost(hosts, "Encode diff time", "MWdiffs", by_host=False),
        apply_diff=_cost(hosts, "Decode diff time", "MWdiffs"),
        barrier_at_most_us=min((1e3 * of["Barrier time"] / of["Barriers"] for of in synchronised), default=None),
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


def properties(costs: Costs, log_us: float = 0) -> list[tuple[str, dict[str, str]]]:
    """A platform's properties in groups, each with where its values come from. Raises BadInput if a cost is missing, or
    less than the log's time in it."""
    local, request, diff = costs.local_fault, costs.page_request, costs.make_diff
    if local is None or request is None or diff is None:
        raise BadInput("the reports have no faults at homes, no page requests or no diffs. Give reports of a program that has all")
    for cost, what in ((local, "faults at homes"), (request, "page requests"), (diff, "diffs")):
        if cost.us <= 0:
            raise BadInput(f"the reports' {cost.actions} {what} take 0.00 ms, which is less than is printed. Give reports of longer programs")
    trap_us = local.us - log_us
    request_us = request.us - 3 * log_us  # the fault and both messages
    message_us = (request_us - trap_us) / 2
    if not log_us and message_us <= 0:
        what = f"a page request takes {request.us:.2f} us, no more than the {local.us:.2f} us of a fault at home, which it begins with"
        raise BadInput(f"{what}. Give reports of longer programs")
    if min(trap_us, message_us) <= 0:
        raise BadInput(f"--log {log_us:g}us: a fault at home takes {local.us:.2f} us with it. Give less")

    def us(names: str, value: float) -> dict[str, str]:
        return {f"jiajia.{name}": f"{value:.2f}us" for name in names.split()}

    return [
        (f"measured: {local.actions} faults", us("fault.WROH", trap_us)),
        (f"measured: {request.actions} page requests; what a twin takes is in them", us("fault.RUMR fault.RIVR fault.WUMR fault.WIVR", request_us)),
        ("assumed: a fault at home, and a twin takes what comparing it takes", us("fault.WROR", trap_us + diff.us)),
        (
            "half of what a page request takes beside its fault; all messages have one size",
            us("message.fixed", message_us) | {"jiajia.message.per-byte": "0us/B"},
        ),
        ("of M-JIAJIA", {"jiajia.message.size": f"{DATAGRAM_BYTES}B", "jiajia.message.acknowledgement": f"{ACKNOWLEDGEMENT_BYTES}B"}),
        (f"measured: {diff.actions} diffs", us("diff", diff.us)),
        ("assumed: one mprotect, at most what a fault with one takes", us("protect invalidate", trap_us)),
        ("given" if log_us else "in the other costs", us("log", log_us)),
        ("nobody measured", {ASSUMED: "jiajia.fault.WROR jiajia.protect jiajia.invalidate"}),
    ]  # fmt: skip


def platform(costs: Costs, log_us: float, bandwidth: str, latency: str, nodes: int) -> str:
    """A platform file of the reports' machines. The reports are taken to come from that network."""
    body: list[Node] = []
    for origin, group in properties(costs, log_us):
        body += [Comment(origin), *(prop(name, value) for name, value in group.items())]
    network = {"reference.bandwidth": bandwidth, "reference.latency": latency, "reference.links": "2"}
    frames = {"frame.payload": "1480B", "frame.overhead": "58B", "frame.minimum": "84B"}  # fragments of IP on Ethernet
    body += [Comment("assumed"), *(prop(name, value) for name, value in ({"local-part.home-share": "0.5"} | network | frames).items())]
    body += cluster(nodes, "1Gf", 1, bandwidth, latency, "assumed: one processor", "assumed: one switch")
    return platform_text("Machines on which programs printed JIAJIA's statistics, by sdsm.calibrate.jiajia.", "jiajia", body)


def main(arguments: Sequence[str], write: Callable[[str], object] = sys.stdout.write) -> int:
    """Prints the table of the reports named, or writes a platform. Exit status: 0 done, 2 bad input."""
    parser = Parser("python3 -m sdsm.calibrate.jiajia", __doc__ or "", "Exit status: 0 done, 2 bad input.")
    parser.add_argument("reports", nargs="*", type=file_name, metavar="REPORT", help="what a program on JIAJIA printed")
    parser.add_argument("-o", "--output", type=file_name, metavar="FILE", help="write a platform of these costs")
    parser.add_argument("--log", type=_microseconds, default=0.0, metavar="TIME", help="to log a fault or message, as 4us (default: 0us)")
    parser.add_argument("--bandwidth", default="1Gbps", help="bandwidth of the machines' network (default: 1Gbps)")
    parser.add_argument("--latency", default="5us", help="latency of each of its cables (default: 5us)")
    parser.add_argument("--nodes", type=int, default=0, help="nodes of the platform (default: the reports' hosts)")
    given = parser.parse_args(arguments)
    try:
        found = [readers.read_text(load_input(report, "Name what a program on JIAJIA printed")) for report in given.reports]
        refuse_copies(found)
        costs = fit(found)
        write(table(costs))
        if given.output:
            nodes = given.nodes or costs.hosts
            given.output.write_text(platform(costs, given.log, given.bandwidth, given.latency, nodes))
    except (BadInput, OSError) as error:
        print(f"sdsm: {error}", file=sys.stderr)
        return 2
    return 0


def _microseconds(text: str) -> float:
    us = -1.0
    with contextlib.suppress(ValueError):
        us = float(text.removesuffix("us")) if text.endswith("us") else -1.0
    if not 0 <= us < 1e6:
        raise argparse.ArgumentTypeError(f"'{text}' is no time in us. Write 4us")
    return us


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
