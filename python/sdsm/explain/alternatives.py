"""Changes one thing about a prediction: what the user can do, and what the machine could be."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

PADDING = "--pad"
PARALLEL_INIT = "--parallel-init"
WITHOUT_BARRIERS = "--without-barriers"
WITHOUT_LOCKS = "--without-locks"
WITHOUT_SINGLES = "--without-singles"
BALANCED = "--balance"
#: Mendings that show the most that can be gained, as the program would be another one.
BOUNDS = (WITHOUT_LOCKS, WITHOUT_SINGLES)
#: Mended traces: the option of `sdsm trace mend`, and the words for it.
MENDINGS = {
    PADDING: "padding: a page of its own for each thread's part",
    WITHOUT_BARRIERS: "without barriers that nothing needs",
    WITHOUT_LOCKS: "without locks and atomic operations (an upper bound)",
    PARALLEL_INIT: "parallel initialising and --placement first-touch",
}
PAGE_SIZES = ("4KiB", "8KiB", "16KiB", "64KiB")
PREFETCHES = ("0", "1", "4")
INVALIDATIONS = ("all", "changed")
PROTOCOLS = ("scash", "home-open", "jiajia")

PLACEMENTS = ("as-asked", "block", "first-touch", "round-robin")
#: Possible shapes of the platform's modelled barriers: barrier.shape.
SHAPES = ("flat", "tree")
#: The same of one construct, by its title.
MENDINGS_OF_ONE = {
    WITHOUT_BARRIERS: "without the {}, where nothing needs its barrier",
    WITHOUT_LOCKS: "without the {} (an upper bound)",
    WITHOUT_SINGLES: "without the {} and its barrier (an upper bound)",
    BALANCED: "work shared out evenly up to the end of the {}",
}
#: Today's clusters have no more threads on a node than this.
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
    """A simulation. scale: options that scale computing; settings: those of --set; others: all further ones, with their
    values."""

    trace: str
    platform: str
    layout: Layout
    placement: str = PLACEMENTS[0]
    scale: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    def command(self) -> list[str]:
        """Arguments of `sdsm simulate`, without its outputs."""
        layout = ("--nodes", str(self.layout.nodes), "--threads-per-node", str(self.layout.threads_per_node))
        settings = [word for setting in self.settings for word in ("--set", setting)]
        words = (self.trace, "--platform", self.platform, *layout, "--placement", self.placement)
        return ["simulate", "--quiet", *words, *self.scale, *settings, *self.others]

    def _given(self) -> dict[str, tuple[str, ...]]:
        """Returns the values in `others`, by option; none for an option without a value."""
        found: dict[str, tuple[str, ...]] = {}
        for word in self.others:
            if word.startswith("--"):
                option = word
                found[option] = ()
            else:
                found[option] += (word,)
        return found

    def changes_of(self, base: Point) -> dict[str, Any]:
        """Returns the differences from `base`: layout, placement, and values in `others`, by option."""
        fields = {name: getattr(self, name) for name in ("layout", "placement") if getattr(self, name) != getattr(base, name)}
        before = base._given()
        return fields | {option: values[0] for option, values in self._given().items() if before.get(option) != values}

    def option(self, name: str, usual: str) -> str:
        """Returns the option's value in `others`, or else the usual one."""
        return next(iter(self._given().get(name, ())), usual)

    def having(self, name: str, value: str) -> Point:
        """Returns this point with another value in `others`."""
        given = self._given() | {name: (value,)}
        return replace(self, others=tuple(word for option, values in given.items() for word in (option, *values)))


@dataclass(frozen=True)
class Alternative:
    """what: in words, or the option that does it. is_choice: whether the user can have it without another machine.

    mending:    a key of MENDINGS or MENDINGS_OF_ONE, or empty. The point's trace is the one to mend.
    at:         call sites of the construct that is mended alone.
    is_offered: whether the user hears of it if it cannot be simulated.
    shape:      a barrier's, which the prediction assumes or might.
    """

    what: str
    point: Point
    is_choice: bool
    mending: str = ""
    is_offered: bool = True
    shape: str = ""
    at: tuple[int, ...] = ()


def alternatives(point: Point, compute_factor: float, mendings: Collection[str] = (), assumes_shape: bool = False) -> Iterator[Alternative]:
    """Yields all alternatives that differ from the point. compute_factor: of the point's simulation. mendings: keys of
    MENDINGS that may gain. assumes_shape: whether the platform's barriers are modelled; then both shapes come, as only the
    file has the point's."""
    for mending in mendings:
        # The thread that touches first matters only if first touch decides about homes.
        placed = replace(point, placement="first-touch") if mending == PARALLEL_INIT else point
        yield Alternative(MENDINGS[mending], placed, True, mending, is_offered=mending != PARALLEL_INIT)
    for rule in PLACEMENTS:
        if rule != point.placement:
            yield Alternative(f"--placement {rule}", replace(point, placement=rule), True)
    threads = point.layout.nodes * point.layout.threads_per_node
    for per_node in range(1, MOST_PER_NODE + 1):
        layout = Layout(threads // per_node, per_node)
        if threads % per_node == 0 and layout.nodes > 1 and layout != point.layout:
            yield Alternative(str(layout), replace(point, layout=layout), True)
    of_pages = (("--page-size", PAGE_SIZES), ("--prefetch", PREFETCHES), ("--invalidation", INVALIDATIONS))
    for option, values in (("--protocol", PROTOCOLS), *of_pages):
        for value in values:
            if value != point.option(option, values[0]):
                yield Alternative(f"{option} {value}", point.having(option, value), True, is_offered=option == "--protocol")
    faster = ("--compute-factor", repr(compute_factor / 2))
    yield Alternative("processors compute twice as fast", replace(point, scale=faster), False)
    for what, setting in (
        ("network of twice the bandwidth", "network.bandwidth=x2"),
        ("network of half the latency", "network.latency=x0.5"),
        ("fault handler in half the time", "fault.*=x0.5"),
        ("barriers in half the time", "barrier.*x*=x0.5"),
    ):
        yield Alternative(what, replace(point, settings=(*point.settings, setting)), False)
    for shape in SHAPES if assumes_shape else ():
        changed = replace(point, settings=(*point.settings, f"barrier.shape={shape}"))
        yield Alternative(f"{shape} barriers (barrier.shape={shape})", changed, False, is_offered=False, shape=shape)


def together(point: Point, one: Alternative, other: Alternative) -> Alternative | None:
    """Combines both choices; None if they change the same thing, or if one is only an upper bound."""
    mendings = [way.mending for way in (one, other) if way.mending]
    if len(mendings) > 1 or any(mending in BOUNDS for mending in mendings):
        return None
    first, second = one.point.changes_of(point), other.point.changes_of(point)
    if first.keys() & second.keys():
        return None
    both = point
    for name, value in (first | second).items():
        both = both.having(name, value) if name.startswith("--") else replace(both, **{name: value})
    return Alternative(f"{one.what}, and {other.what}", both, True, "".join(mendings), at=(*one.at, *other.at))


def of_construct(point: Point, mending: str, title: str, call_sites: tuple[int, ...]) -> Alternative:
    """The construct alone is mended. mending: a key of MENDINGS_OF_ONE."""
    return Alternative(MENDINGS_OF_ONE[mending].format(title), point, True, mending, is_offered=False, at=call_sites)
