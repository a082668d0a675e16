"""sdsm platform: the command line."""

from __future__ import annotations

import argparse
import json
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

from sdsm.base import places
from sdsm.base.children import CommandFailed, CommandRunner
from sdsm.base.command_line import BadInput, Parser, command, file_name, platform_name, whole
from sdsm.base.output_file import check_outputs, print_or_write
from sdsm.base.places import PLATFORMS
from sdsm.calibrate.measured_platform import commentable
from sdsm.platform import derived, platform_check
from sdsm.platform.networks import NETWORKS, Network, described
from sdsm.platform.platform_file import Blank, Comment, Element, Node, costs, parse, platform_text, prop
from sdsm.readers.text import unreadable

COSTS = "one-machine.xml"
MOST_NODES, MOST_CORES = 65536, 4096  # limits of platforms/file/
SPEED_IS = "host.speed-is"
TIME_LIMIT_S = 600.0

DESCRIPTION = """\
Write the platform file of a cluster, planned or real, from its number of nodes and the kind of its network.

The costs of faults, messages, barriers and locks come from another platform, with the network on which they were measured:
the simulator puts the time of messages on the new network in place of that on the old one. A layout whose barriers and locks
were not measured gets modelled ones, and `sdsm simulate` says so. On Ethernet messages keep the processor time of the software
that was measured, such as TCP. On InfiniBand messages and fetches take what published measurements of RDMA say, and a fetch takes
nothing of its home's processor. Costs of JIAJIA that the other platform lacks are derived from SCASH's. What is derived is named
in the file (costs.assumed), and results that rest on it say so."""

EPILOG = """\
examples:
  sdsm platform new --nodes 64 --network 25gbe -o cluster.xml
  sdsm check cluster.xml && sdsm simulate 64.trace -p cluster.xml -n 64
  sdsm platform new --nodes 16 --cores 2 --network gigabit --from p3-score -o p3-gigabit.xml
  sdsm platform --list

Exit status: 0 done, 1 the file could not be written, 2 bad usage or input."""

ABOUT = """\
{nodes} nodes on {title}, made by sdsm platform new (nodes {nodes}, network {name}, from {source}).
Costs of the nodes{but}, and the network on which they were measured (reference.*), are those of {source}."""


def parser() -> argparse.ArgumentParser:
    p = Parser(prog="sdsm platform", description=DESCRIPTION, epilog=EPILOG)
    p.add_argument("what", nargs="?", choices=("new",), help="new: write a platform file")
    p.add_argument("--nodes", type=whole(1, MOST_NODES), metavar="N", help="nodes of the cluster")
    p.add_argument("--network", choices=[one.name for one in NETWORKS], help="kind of network; --list tells their figures")
    p.add_argument(
        "--from", dest="source", type=platform_name, default=PLATFORMS / COSTS, metavar="PLATFORM",
        help=f"platform whose nodes these are, a file or one of sdsm's own (default: {COSTS}, this project's DSM on a machine of today)",
    )  # fmt: skip
    p.add_argument(
        "--speed-of", type=file_name, metavar="TRACE",
        help="trace that was made on such a node: the speeds that it tells, and host.speed-is, are for --from-host-speed (default: as in PLATFORM)",
    )  # fmt: skip
    p.add_argument("--cores", type=whole(1, MOST_CORES), metavar="C", help="processors of a node (default: as in PLATFORM)")
    p.add_argument("-o", "--output", type=file_name, default=Path("-"), metavar="FILE", help="default: stdout")
    p.add_argument("--list", action="store_true", help="list the networks with figures and sources, and end")
    return p


@command
def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status."""
    options = parser().parse_args(arguments)
    if options.list:
        print(described())
        return 0
    if options.what is None or options.nodes is None or options.network is None:
        raise BadInput("which cluster? Name its nodes and network: sdsm platform new --nodes 64 --network 25gbe -o FILE")
    check_outputs([options.output], [options.source, *([options.speed_of] if options.speed_of else [])])
    try:
        root = parse(options.source)
    except OSError as error:
        advice = "Give a platform file, or the name of one of sdsm's own"
        raise BadInput(f"{options.source}: {unreadable(error, advice)}") from None
    network = next(one for one in NETWORKS if one.name == options.network)
    speed = None if options.speed_of is None else measured_speed(options.speed_of)

    def of(nodes: int) -> str:
        return new_platform(root, options.source.name, nodes, network, options.cores, speed)

    try:
        # Costs do not depend on the number of nodes, and tens of thousands take minutes to check.
        platform_check.check_text(places.PROGRAMS, of(min(options.nodes, 2)), CommandRunner())
    except BadInput as error:
        raise BadInput(f"{options.source}: on that cluster its costs make no platform: {error}") from None
    print_or_write(options.output, of(options.nodes))
    return 0


@dataclass(frozen=True)
class Speed:
    """Of one processor in sdsm's loops: operations per second, a load in caches, a sum of an array in memory. source: for a
    comment."""

    flops: int
    cache_latency_ps: int
    memory_bytes_per_s: int
    source: str

    def properties(self) -> dict[str, str]:
        return {
            SPEED_IS: "measured",
            "cache.latency": f"{self.cache_latency_ps}ps",
            "memory.bandwidth": f"{self.memory_bytes_per_s}Bps",
        }


def measured_speed(trace: Path) -> Speed:
    """Returns the speed of the machine that made the trace. Raises BadInput."""
    try:
        info = CommandRunner().run([str(places.PROGRAMS / "sdsm"), "trace", "info", str(trace), "--json", "-"], TIME_LIMIT_S)
    except CommandFailed as error:
        raise BadInput(f"--speed-of: {error.said or error}") from None
    header = json.loads(info)["header"]
    if not header["memory_bandwidth"]:
        raise BadInput(f"--speed-of {trace} does not keep how fast its machine was, as it is of an older sdsm. Trace the program again")
    source = f"measured by sdsm trace on {commentable(header['machine'])}"
    return Speed(header["speed_flops"], header["cache_latency_ps"], header["memory_bandwidth"], source)


def _costs(root: ElementTree.Element, network: Network, speed: Speed | None) -> list[Node]:
    found = costs(root)
    try:
        if network.adapter:
            found = derived.rdma(found, network.adapter, network.bandwidth)
        elif "fetch.home-share" in derived.properties(found):
            raise BadInput(f"its costs are those of RDMA, and {network.name} has none. Name the platform that they were made from")
        found = derived.with_jiajia(found)
    except KeyError as error:
        raise BadInput(f"no property {error}. `sdsm check` says what a platform file needs") from None
    except ValueError as error:
        raise BadInput(str(error)) from None
    if speed is None:
        return found
    measured = speed.properties()
    left = [one for one in found if not (isinstance(one, Element) and one.attributes.get("id") in measured)]
    comment = Comment(f"The hosts' speed, caches and memory: {speed.source}.")
    return [*left, Blank(), comment, *(prop(name, value) for name, value in measured.items())]


def new_platform(
    root: ElementTree.Element, source: str, nodes: int, network: Network, cores: int | None, speed: Speed | None = None
) -> str:
    """Returns the file's text. root: the platform file `source`, whose costs and processors the nodes have."""
    host = next((one for one in root.iter() if one.tag in ("host", "cluster")), ElementTree.Element("host"))
    core = host.get("core", "1") if cores is None else str(cores)
    nodes_and_cables = Element(
        "cluster",
        {
            "id": "nodes", "prefix": "node-", "suffix": "", "radical": f"0-{nodes - 1}",
            "speed": host.get("speed", "1Gf") if speed is None else f"{speed.flops}f", "core": core,
            "bw": network.bandwidth, "lat": network.latency,
        },
    )  # fmt: skip
    cables = f"Each node has a full-duplex cable to the switch.\nbw: {network.bandwidth_from}.\nlat: {network.latency_from}."
    body = [*_costs(root, network, speed), Blank(), Comment(cables), nodes_and_cables]
    but = " but of messages and fetches, which RDMA makes" if network.adapter else ""
    about = ABOUT.format(nodes=nodes, title=network.title, name=network.name, source=commentable(source), but=but)
    return platform_text(about, f"{network.name}-{nodes}", body)
