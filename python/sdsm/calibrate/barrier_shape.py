"""Decides whether a cluster's barriers are flat (all messages to one process) or a tree.

The simulator uses the shape for layouts that were not measured (models/barrier_shape.hpp). It is chosen here, where three or more
numbers of nodes were measured with as many threads on each. Each such layout is also left out and predicted from the others, as the
simulator would with either shape: that shows how far to trust the model.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from sdsm.base import costs
from sdsm.calibrate.estimates import Estimate, line
from sdsm.microbench.command import Layout

SHAPES = ("flat", "tree")
PROPERTY = "barrier.shape"
LEAST_NODE_COUNTS = 3
#: Least difference of the Bayesian information criterion that counts as evidence (Kass and Raftery: "positive").
EVIDENCE = 2.0
#: Least relative error of a barrier's residual.
EXACT = 1e-6


@dataclass(frozen=True, slots=True)
class Message:
    """A control message on the idle reference network: end to end, on one link, at the processors of both ends; us."""

    wire: float
    link: float
    processor: float


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A measured barrier (us) beside each shape's prediction from the others."""

    layout: Layout
    measured: float
    predicted: Mapping[str, float]

    def error(self, shape: str) -> float:
        """Logarithmic error, so that twice and half are equally wrong."""
        return math.log(self.predicted[shape] / self.measured)


@dataclass(frozen=True, slots=True)
class Choice:
    """shape: of SHAPES. kind: fitted, or assumed if the data cannot decide; how: one line for people."""

    shape: str
    kind: str
    how: str
    left_out: tuple[LeftOut, ...] = ()


def _asked(
    shape: str, message: Message, barriers: Mapping[Layout, float], layouts: Sequence[Layout]
) -> tuple[costs.Barrier, ...]:
    return costs.barriers(shape, asdict(message), barriers, layouts)


def extrapolated_us(shape: str, layout: Layout, message: Message, barriers: Mapping[Layout, float]) -> float:
    """Returns the simulator's barrier time for a layout that is not in `barriers`, on the reference network."""
    return _asked(shape, message, barriers, [layout])[0].extrapolated_us


def messages_us(shape: str, layout: Layout, message: Message) -> float:
    """Returns the wire time of a barrier's messages: no barrier is faster (CostModel::contradictions in models/costs.cpp)."""
    bare = Message(message.wire, message.link, 0.0)
    depth = 1 if shape == "flat" else layout.nodes.bit_length() - 1
    return 3 * (_asked(shape, bare, {}, [layout])[0].gather_us + depth * message.wire)


def choose(barriers: Mapping[Layout, Estimate], message: Message) -> Choice:
    """Chooses the shape over whose model the measured barriers lie on a straight line, if the data decide; else flat. A
    tree is excluded where its messages alone take longer than a measured barrier.

    A line a + b model, both at least 0, for each number of threads per node: a is what does not grow with the nodes, b what
    the barrier's messages cost beside those that the model knows. Residuals count in parts of the measured. Both shapes have as
    many parameters, so the difference of their Bayesian information criteria is n ln(R_flat / R_tree), R the sum of squares
    of the n residuals and of the measurements' own relative standard errors, below which no difference means anything.
    """
    values = {layout: estimate.value for layout, estimate in barriers.items()}
    several = sorted(layout for layout in barriers if layout.nodes > 1)
    counts = Counter(layout.threads_per_node for layout in several)
    usable = [layout for layout in several if counts[layout.threads_per_node] >= LEAST_NODE_COUNTS]
    if not usable:
        most = max(counts.values(), default=0)
        how = f"{most} numbers of nodes were measured, of {LEAST_NODE_COUNTS} that it takes to tell a tree from it"
        return Choice("flat", "assumed", how)
    if message.processor < 0 or any(values[layout] <= 0 for layout in usable):
        return Choice("flat", "assumed", "a barrier's messages cost less than nothing, so no model can be compared with it")
    left_out = []
    for layout in usable:
        others = {other: value for other, value in values.items() if other != layout}
        predicted = {shape: extrapolated_us(shape, layout, message, others) for shape in SHAPES}
        left_out.append(LeftOut(layout, values[layout], predicted))
    squares = dict.fromkeys(SHAPES, 0.0)
    for threads in {layout.threads_per_node for layout in usable}:
        group = [layout for layout in usable if layout.threads_per_node == threads]
        measured = [values[layout] for layout in group]
        for shape in SHAPES:
            models = [one.modelled_us for one in _asked(shape, message, values, group)]
            squares[shape] += line([1.0] * len(group), models, measured, measured).chi2
    noise = math.fsum(((barriers[one.layout].standard_error or 0.0) / one.measured) ** 2 + EXACT**2 for one in left_out)
    evidence = len(left_out) * math.log((squares["flat"] + noise) / (squares["tree"] + noise))
    misfits = " and ".join(f"{math.sqrt(squares[shape] / len(usable)):.1%} ({shape})" for shape in SHAPES)
    comparison = (
        f"{len(usable)} layouts are off a line over each shape's model by {misfits}, root mean square, "
        f"a difference of {abs(evidence):.1f} in BIC"
    )
    impossible = [one for one in usable if values[one] < messages_us("tree", one, message)]
    if impossible:
        how = f"a tree's messages alone take longer than a barrier of {impossible[0]} does, though {comparison}"
        return Choice("flat", "fitted", how, tuple(left_out))
    if abs(evidence) < EVIDENCE:
        return Choice("flat", "assumed", f"the data do not tell it from a tree: {comparison}", tuple(left_out))
    return Choice("tree" if evidence > 0 else "flat", "fitted", comparison, tuple(left_out))
