"""Clusters whose parameters are known: what the simulator gives for them, with noise, as the benchmarks' output files."""

from __future__ import annotations

import json
import random
import subprocess
from dataclasses import dataclass
from pathlib import Path

from sdsm.base.costs import fault_names
from sdsm.calibrate.measured_platform import plain
from sdsm.calibrate.network import Network
from sdsm.platform.platform_file import Blank, cluster, platform_text, prop

SDSM = Path(__file__).resolve().parents[2] / "build" / "sdsm"
LAYOUTS = ("2x1", "2x2", "4x1")
COMPANIONS = ("WROL", "WRWH", "WRWL", "WRWR", "RRWR", "RROR")  # met with two threads per node
SAMPLES = 50
PAGES_SERVED = 2000


@dataclass(frozen=True)
class Cluster:
    """parameters: by property, times in us, bandwidth in Mbps."""

    network: Network
    parameters: dict[str, float]
    text: str


def draw(seed: int) -> Cluster:
    """A cluster between a slow and a fast one: every parameter is log-uniform, and no cost is less than its messages."""
    generator = random.Random(f"cluster {seed}")

    def between(low: float, high: float) -> float:
        return float(plain(low * (high / low) ** generator.random()))

    mbps = between(100, 10_000)
    network = Network(mbps / 8, between(2, 40), 2)
    p: dict[str, float] = {}
    for kind in fault_names():
        p[f"fault.{kind}"] = between(3, 100)
    for kind in ("WUMR", "RUMR"):
        p[f"fault.{kind}"] = float(plain(network.fetch_us + between(50, 1000)))
    p["message.fixed"] = float(plain(network.idle_us(32) + between(30, 200)))
    p["message.per-byte"] = float(plain(2 / network.bandwidth + between(0.05, 0.3)))
    for layout in LAYOUTS:
        p[f"barrier.{layout}"] = float(plain(12 * network.idle_us(32) + between(100, 1000)))
        p[f"lock.{layout}"] = float(plain(2 * network.idle_us(32) + between(20, 200)))
    p["barrier.dirty-home-page"] = between(10, 60)
    p["memory-bus.2"] = between(1.1, 2.0)
    p["local-part.home-share"] = between(0.2, 0.8)
    p["reference.bandwidth"], p["reference.latency"] = mbps, network.latency_us

    def unit(name: str) -> str:
        others = {"message.per-byte": "us/B", "reference.bandwidth": "Mbps", "local-part.home-share": "", "memory-bus.2": ""}
        return others.get(name, "us")

    props = [prop(name, plain(value) + unit(name)) for name, value in p.items()]
    hosts = cluster(4, "1Gf", 2, f"{plain(mbps)}Mbps", f"{plain(network.latency_us)}us", "Hosts.", "Cables.")
    body = [*props, prop("reference.links", "2"), Blank(), *hosts]
    return Cluster(network, p, platform_text(f"Synthetic cluster {seed}.", "synthetic", body))


def simulated_us(cluster: Cluster, folder: Path) -> dict[str, float]:
    """What `sdsm replay` makes of it."""
    platform = folder / "truth.xml"
    platform.write_text(cluster.text)
    command = [str(SDSM), "replay", str(platform), "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = {row["what"]: row["simulated_s"] * 1e6 for row in json.loads(done.stdout)["rows"]}
    assert len(rows) == len(fault_names()) + 2 * len(LAYOUTS) + 6 + 1 + 1 + 3
    return rows


def write_outputs(cluster: Cluster, rows: dict[str, float], noise: float, seed: int, folder: Path) -> list[Path]:
    """An output of `sdsm microbench` and one of NetPIPE. Each sample is off by a Gaussian factor of deviation `noise`."""
    generator = random.Random(f"noise {seed} {noise}")

    def off(value: float) -> float:
        return max(value * (1 + noise * generator.gauss(0, 1)), 0.0)

    def samples(value_us: float) -> list[float]:
        return [off(value_us * 1000) for _ in range(SAMPLES)]

    layouts = {}
    for layout in LAYOUTS:
        kinds = [kind for kind in fault_names() if layout == "2x2" or kind not in COMPANIONS]
        quantities = {kind: samples(rows[f"fault.{kind}"]) for kind in kinds}
        quantities["release.0"] = samples(0.3)
        for name, value in rows.items():
            if name.startswith("release."):
                quantities[name] = samples(0.3 + value)
        barrier = rows[f"barrier.{layout}"]
        quantities |= {"barrier": samples(barrier), "lock": samples(rows[f"lock.{layout}"])}
        dirty = 1024 * rows["barrier.dirty-home-page"]
        quantities |= {"barrier.dirty0": samples(barrier), "barrier.dirty1024": samples(barrier + dirty)}
        nodes, threads = layout.split("x")
        # A loop that takes 2.5 ms alone; a replay tells what 1 ms takes on the busy node.
        quantities["stream.alone"] = samples(2500.0)
        if threads == "2":
            quantities["stream.together"] = samples(2.5 * rows["memory-bus.2"])
        local = cluster.parameters["fault.RUMR"] - cluster.network.fetch_us
        served = sum(off(cluster.parameters["local-part.home-share"] * local) for _ in range(PAGES_SERVED))
        layouts[layout] = {
            "nodes": int(nodes),
            "threads_per_node": int(threads),
            "samples_ns": quantities,
            "pages_served": PAGES_SERVED,
            "page_service_s": served / 1e6,
        }
    document = {"format": "sdsm-microbench", "version": 1, "unit": "ns", "layouts": layouts}
    measured = folder / "microbench.json"
    measured.write_text(json.dumps(document))
    lines: list[str] = []
    size = 1
    while size <= 1 << 22:
        for near in sorted({max(size - 3, 1), size, size + 3}):
            if lines and near <= int(lines[-1].split()[0]):
                continue
            seconds = f"{off(cluster.network.idle_us(near)) / 1e6:.9f}"
            lines.append(f"{near:8d} {near * 8 / 2**20 / float(seconds):12.6f} {seconds}")
        size = size * 2 if size < 8 else size * 3 // 2
    network = folder / "netpipe.out"
    network.write_text("\n".join(lines) + "\n")
    return [measured, network]
