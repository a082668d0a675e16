"""Networks of `sdsm platform new`: a link's bandwidth and latency, each with its source.

A link is a cable with its two ports, from a node to a switch: a message crosses two. What software takes for a message is no
part of it, but of the nodes' costs.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Network:
    """bandwidth, latency: a link's in each direction, as a platform file writes them. Sources may have several lines."""

    name: str
    title: str
    bandwidth: str
    latency: str
    bandwidth_from: str
    latency_from: str


NETWORKS = (
    Network(
        "100mbit", "100 Mbit/s Ethernet, one switch", "100Mbps", "5us",
        "line rate, IEEE 802.3u",
        "assumed, as in p3-score.xml",
    ),
    Network(
        "gigabit", "1 Gbit/s Ethernet, one switch", "1Gbps", "2.5us",
        "line rate, IEEE 802.3ab",
        "half of the 5 us that a switch added between two hosts: P. Shivam, P. Wyckoff,\n"
        "D. Panda, measurements of EMP (2001), http://pw.padd.com/emp/raw/",
    ),
    Network(
        "10gbe", "10 Gbit/s Ethernet, one switch", "10Gbps", "125ns",
        "line rate, IEEE 802.3ae",
        "half of the 250 ns of a Cisco Nexus 3548 in its normal mode, as its maker says:\n"
        "https://blogs.cisco.com/datacenter/algo-boost-series-part-1-nexus-3548-latency-innovations (2012)",
    ),
    Network(
        "25gbe", "25 Gbit/s Ethernet, one switch", "25Gbps", "150ns",
        "line rate, IEEE 802.3by",
        "half of the 300 ns from port to port of a Mellanox Spectrum switch, as its maker says\n"
        "of its 100 Gbit/s ports (2015): https://www.techrepublic.com/article/\n"
        "mellanoxs-end-to-end-ethernet-solutions-reach-impressive-100-gbsec/",
    ),
    Network(
        "infiniband", "InfiniBand EDR 4x, one switch", "100Gbps", "250ns",
        "data rate: 4 lanes of 25.78125 Gbit/s, of which 64/66 are data",
        "half of the adapter latency of 0.5 us in the table of Wikipedia's article InfiniBand;\n"
        "the switch is assumed to be in it",
    ),
)  # fmt: skip


def described() -> str:
    """Returns a table of all, each with its sources below."""
    lines = [f"{'network':<12} {'bandwidth':>9} {'latency':>8}  of a link, from a node to the switch"]
    for one in NETWORKS:
        lines.append(f"{one.name:<12} {one.bandwidth:>9} {one.latency:>8}  {one.title}")
        for what, source in (("bandwidth", one.bandwidth_from), ("latency", one.latency_from)):
            first, *rest = source.split("\n")
            lines += [f"{'':>32}{what}: {first}", *(f"{'':>32}{line}" for line in rest)]
    return "\n".join(lines)
