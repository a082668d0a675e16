"""The same trace with one thing changed: what the user can do, and what the machine could be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

PLACEMENTS = ("as-asked", "block", "first-touch", "round-robin")
#: More threads on a node than this are no cluster of today's platforms.
MOST_PER_NODE = 8


@dataclass(frozen=True)
class Layout:
    nodes: int
    threads_per_node: int

    def __str__(self) -> str:
        threads = f"{self.threads_per_node} thread{'s' if self.threads_per_node > 1 else ''}"
        return f"{self.nodes} node{'s' if self.nodes > 1 else ''} x {threads}"


@dataclass(frozen=True)
class Point:
    """What is simulated. scale: the options that scale computing; settings: those of --set; others: all further ones."""

    trace: str
    platform: str
    layout: Layout
    placement: str = PLACEMENTS[0]
    scale: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    def command(self) -> list[str]:
        """Of `sdsm simulate`, without its outputs."""
        layout = ("--nodes", str(self.layout.nodes), "--threads-per-node", str(self.layout.threads_per_node))
        settings = [word for setting in self.settings for word in ("--set", setting)]
        words = (self.trace, "--platform", self.platform, *layout, "--placement", self.placement)
        return ["simulate", "--quiet", *words, *self.scale, *settings, *self.others]


@dataclass(frozen=True)
class Alternative:
    """what: in words, or the option that does it. is_choice: whether the user can have it without another machine."""

    what: str
    point: Point
    is_choice: bool


def alternatives(point: Point, compute_factor: float) -> Iterator[Alternative]:
    """All that are not so already. compute_factor: of the point's simulation."""
    for rule in PLACEMENTS:
        if rule != point.placement:
            yield Alternative(f"--placement {rule}", replace(point, placement=rule), True)
    threads = point.layout.nodes * point.layout.threads_per_node
    for per_node in range(1, MOST_PER_NODE + 1):
        layout = Layout(threads // per_node, per_node)
        if threads % per_node == 0 and layout.nodes > 1 and layout != point.layout:
            yield Alternative(str(layout), replace(point, layout=layout), True)
    faster = ("--compute-factor", repr(compute_factor / 2))
    yield Alternative("processors compute twice as fast", replace(point, scale=faster), False)
    for what, setting in (
        ("network of twice the bandwidth", "network.bandwidth=x2"),
        ("network of half the latency", "network.latency=x0.5"),
        ("fault handler in half the time", "fault.*=x0.5"),
        ("barriers in half the time", "barrier.*x*=x0.5"),
    ):
        yield Alternative(what, replace(point, settings=(*point.settings, setting)), False)
