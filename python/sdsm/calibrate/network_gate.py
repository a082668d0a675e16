"""The gate's part for the network: measured message times beside the simulator's, point by point.

The gate checks the points that a parameter was fitted from: the first piece of one-frame messages (latency), the piece with
the most sizes above one frame (bandwidth), a stream's rate (bandwidth). A piece is a straight line with two coefficients. It
gave the platform file one of them; the other comes from another piece. So if a point of a piece does not come back, the piece
is checked once more after its line's error in the coefficient that it did not give is subtracted: an offset where it gave the
bandwidth, a time per byte where it gave the latency. The user gets a message about it, as no parameter holds it. Pieces that gave no parameter
are re-run and shown, not checked.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sdsm.calibrate.estimates import LEAST_POINTS
from sdsm.calibrate.gate import STANDARD_ERRORS, TOLERANCE
from sdsm.calibrate.network import MOST_LINKS, Network, Piece


def standard_errors(points: int) -> float:
    """Returns how many standard errors each of `points` points may be off, so that all pass together as likely as one passes
    within two standard errors (Sidak)."""
    normal = statistics.NormalDist()
    alone = 2 * normal.cdf(STANDARD_ERRORS) - 1
    return normal.inv_cdf((1 + alone ** (1 / points)) / 2)


@dataclass(frozen=True, slots=True)
class Point:
    """Times in us. simulated: None if the platform has too few nodes to re-run it; off: the error of its piece's line here."""

    size: int
    measured: float
    standard_error: float | None
    simulated: float | None
    allowed: float
    off: float = 0.0

    @property
    def known(self) -> float:
        return self.simulated or 0.0

    @property
    def passes(self) -> bool:
        return self.simulated is not None and abs(self.simulated + self.off - self.measured) <= self.allowed


@dataclass(frozen=True)
class Held:
    """A piece beside the simulator. parameter: the property that must reproduce it, None for an unchecked piece.

    offset_us, us_per_byte: subtracted from the measured points. flow: of the network `simgrid`, for comparison.
    """

    piece: Piece
    parameter: str | None
    points: tuple[Point, ...]
    flow: tuple[float | None, ...]
    offset_us: float = 0.0
    us_per_byte: float = 0.0

    @property
    def failures(self) -> list[Point]:
        return [p for p in self.points if not p.passes] if self.parameter else []

    @property
    def passes(self) -> bool:
        return not self.failures

    @property
    def worst(self) -> Point:
        """The point with the largest error relative to its allowance."""
        unknown = [p for p in self.points if p.simulated is None]
        return unknown[0] if unknown else max(self.points, key=lambda p: abs(p.known + p.off - p.measured) / p.allowed)

    @property
    def range(self) -> str:
        low, high = min(self.piece.sizes), max(self.piece.sizes)
        return f"{low} B" if low == high else f"{low} to {high} B"


def hold(pieces: Sequence[Piece], owner: str, simulated: Mapping[str, float], flow: Mapping[str, float]) -> list[Held]:
    """owner: `reference` or `link`, whose bandwidth and latency these are. simulated, flow: by `sdsm replay`, us."""
    return [_hold(piece, owner, simulated, flow) for piece in pieces]


def _hold(piece: Piece, owner: str, simulated: Mapping[str, float], flow: Mapping[str, float]) -> Held:
    names = [f"network.{size}" if piece.is_one_way else f"network.stream.{size}" for size in piece.sizes]
    factor = standard_errors(len(names))
    points = tuple(
        Point(size, time, error, simulated.get(name), max(TOLERANCE * time, factor * (error or 0.0)))
        for name, size, time, error in zip(names, piece.sizes, piece.times, piece.errors, strict=True)
    )
    parameter = None if piece.gives is None else f"{owner}.{piece.gives}"
    held = Held(piece, parameter, points, tuple(flow.get(name) for name in names))
    if held.passes or len(points) < LEAST_POINTS or any(p.simulated is None for p in points):
        return held
    # Least squares in parts of the times, like the fit of the piece's line.
    powers = [1.0 if piece.gives == "bandwidth" else float(p.size) for p in points]
    weighted = [(1 / p.measured**2, x, p.measured - p.known) for p, x in zip(points, powers, strict=True)]
    coefficient = math.fsum(w * x * r for w, x, r in weighted) / math.fsum(w * x * x for w, x, _ in weighted)
    shifted = tuple(replace(p, off=coefficient * x) for p, x in zip(points, powers, strict=True))
    if piece.gives == "bandwidth":
        return replace(held, points=shifted, offset_us=coefficient)
    return replace(held, points=shifted, us_per_byte=coefficient)


def wrong_route(pieces: Sequence[Piece], network: Network, simulated: Mapping[str, float]) -> str | None:
    """Returns what is wrong where a message does not take as long on a route of the platform as on `network`."""
    for size in sorted(size for piece in pieces if piece.is_one_way for size in piece.sizes)[:1]:
        expected, took = network.idle_us(size), simulated.get(f"network.{size}", math.nan)
        if abs(took - expected) > TOLERANCE * expected:
            of_links = ((n, replace(network, links=n).idle_us(size)) for n in range(1, MOST_LINKS + 1))
            count = next((n for n, time in of_links if abs(took - time) <= TOLERANCE * time), None)
            has = f"takes {took:.4g} us, where" if count is None else f"passes {count} link{'s' * (count > 1)}, but"
            of = f"reference.links says {network.links}, of which it takes {expected:.4g} us"
            remedy = "Write the number of links between two hosts into reference.links" if count else "Give routes of as many links, all alike"
            return f"a message of {size} B between two hosts {has} {of}. {remedy}"
    return None


def failure(held: Held) -> str:
    """Returns one line for a piece that does not pass."""
    if any(p.simulated is None for p in held.points):
        why = f"the base file's cluster has no two hosts, so {held.parameter} stays unproved"
        return f"{held.piece.source}: {why}. Give one with more"
    p = held.worst
    return (
        f"{held.piece.source}: {held.parameter} does not give back {len(held.failures)} of {len(held.points)} times of "
        f"messages of {held.range} (worst at {p.size} B: {p.measured:.4g} us measured, {p.known + p.off:.4g} us "
        f"simulated, {p.allowed:.3g} us allowed)"
    )


def notes(held: Sequence[Held]) -> list[str]:
    """Returns messages about pieces that pass: what the platform file cannot hold."""
    sentences = []
    for one in held:
        if one.parameter is None or not one.passes:
            continue
        for more, unit, has in (
            (one.offset_us, "us", "latency of messages of one frame"),
            (one.us_per_byte, "us a byte", "bandwidth of long messages"),
        ):  # fmt: skip
            if more:
                sentences.append(
                    f"{one.piece.source}: messages of {one.range} take {more:+.4g} {unit} beside the platform's line, "
                    f"which has the {has}; {one.parameter} is checked by what they take beyond that"
                )
    proved = {one.parameter.rpartition(".")[2] for one in held if one.parameter}
    others = [one for one in held if one.parameter is None]
    if others:
        points = sum(len(one.points) for one in others)
        sentences.append(
            f"{points} measured times of messages gave no parameter (a platform file has one straight line for all sizes): "
            "re-run and shown, but not checked"
        )
        unproved = {"bandwidth", "latency"} - proved
        if len(unproved) == 1 and proved:
            sentences.append(f"no measured time checks the network's {unproved.pop()}")
    return sentences


def document(held: Sequence[Held]) -> list[dict[str, Any]]:
    """Returns the JSON report's part."""
    found = []
    for one in held:
        head = {"source": one.piece.source, "is_one_way": one.piece.is_one_way, "parameter": one.parameter}
        beside = {"about": one.piece.about, "offset_us": one.offset_us, "us_per_byte": one.us_per_byte}
        points = [_point(p, flow, one.parameter is not None) for p, flow in zip(one.points, one.flow, strict=True)]
        passes = one.passes if one.parameter else None
        found.append(head | beside | {"passes": passes, "points": points})
    return found


def _point(p: Point, flow: float | None, is_checked: bool) -> dict[str, Any]:
    measured = {"bytes": p.size, "measured_us": p.measured, "standard_error_us": p.standard_error}
    checked = {"allowed_us": p.allowed, "passes": p.passes} if is_checked else {"allowed_us": None, "passes": None}
    return measured | {"simulated_us": p.simulated, "simgrid_us": flow} | checked


def table(held: Sequence[Held]) -> str:
    """Returns the terminal's table: one line for each piece, about its worst point."""
    titles = f"{'messages re-run':<26}{'points':>8}{'worst at, B':>13}{'measured, us':>14}{'simulated, us':>15}"
    lines = ["", f"{titles}{'allowed':>11}  proves"]
    for one in held:
        p = one.worst
        shown = "not re-run" if p.simulated is None else f"{p.simulated + p.off:.4f}"
        allowed = f"{p.allowed:.4f}" if one.parameter else ""
        kind = "" if one.piece.is_one_way else "stream, "
        mark = "" if one.passes else "  FAILS"
        lines.append(
            f"{kind + one.range:<26}{len(one.points):>8}{p.size:>13} {p.measured:>13.4f} {shown:>14} {allowed:>10}"
            f"  {one.parameter or 'nothing'}{mark}"
        )
    return "\n".join(lines)
