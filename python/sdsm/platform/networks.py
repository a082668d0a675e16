"""Networks of `sdsm platform new`: a link's bandwidth and latency, each with its source.

A link is a cable with its two ports, from a node to a switch: a message crosses two. What software takes for a message is no
part of it, but of the nodes' costs. An adapter that reads another node's memory by itself replaces these.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Adapter:
    """How long messages between two nodes without a switch take one way, us: from the sender's call until the receiver, who
    polls, has the data. overhead_bytes: what a packet has beside its payload."""

    small_bytes: int
    small_us: float
    page_bytes: int
    page_us: float
    times_from: str
    payload_bytes: int
    overhead_bytes: int
    frames_from: str

    @property
    def per_byte_us(self) -> float:
        """Of the line through both sizes."""
        return (self.page_us - self.small_us) / (self.page_bytes - self.small_bytes)

    @property
    def fixed_us(self) -> float:
        return self.small_us - self.small_bytes * self.per_byte_us


@dataclass(frozen=True, slots=True)
class Network:
    """bandwidth, latency: a link's in each direction, as a platform file writes them. Sources may have several lines.
    adapter: for networks with RDMA; else messages take the nodes' software."""

    name: str
    title: str
    bandwidth: str
    latency: str
    bandwidth_from: str
    latency_from: str
    adapter: Adapter | None = None


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
        "infiniband", "InfiniBand EDR 4x with RDMA, one switch", "100Gbps", "50ns",
        "data rate: 4 lanes of 25.78125 Gbit/s, of which 64/66 are data",
        "half of the 100 ns that Wikipedia's article InfiniBand gave for QDR's switches;\n"
        "assumed for EDR. The adapters are in the messages' times",
        Adapter(
            32, 0.82, 4096, 2.26,
            "medians of ib_send_lat, reliable connection, two hosts with ConnectX-4 and a cable\n"
            "of 0.5 m: 0.82 us for 32 B, 2.26 us for 4 KiB (mean over five MTUs). D. Potter, master's\n"
            "thesis, RWTH Aachen (2018), table tab:mtu_performance: git.dennispotter.eu/Dennis/masters-thesis",
            4096, 26,
            "MTU of 4096 B; headers LRH 8, BTH 12, CRCs 6 B (InfiniBand Architecture Specification)",
        ),
    ),
)  # fmt: skip


def described() -> str:
    """Returns a table of all, each with its sources below."""
    lines = [f"{'network':<12} {'bandwidth':>9} {'latency':>8}  of a link, from a node to the switch"]
    for one in NETWORKS:
        lines.append(f"{one.name:<12} {one.bandwidth:>9} {one.latency:>8}  {one.title}")
        sources = [("bandwidth", one.bandwidth_from), ("latency", one.latency_from)]
        if one.adapter:
            sources += [("messages", one.adapter.times_from), ("packets", one.adapter.frames_from)]
        for what, source in sources:
            first, *rest = source.split("\n")
            lines += [f"{'':>32}{what}: {first}", *(f"{'':>32}{line}" for line in rest)]
    return "\n".join(lines)
