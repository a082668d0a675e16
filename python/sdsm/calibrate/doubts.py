"""Signs in measured costs that the machine did other work meanwhile. The gate cannot find these, as it compares with the same
measurements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from sdsm.base.costs import fault_names
from sdsm.calibrate.dirty_page import PAGE_BYTES
from sdsm.calibrate.parameters import Parameter
from sdsm.microbench.command import Layout, layout

#: A larger share of standard error leaves a cost open by a factor of two within two errors.
LARGE = 0.25
#: Costs that are never close to zero, so that a large error is not due to a small value.
MAIN = ("message.fixed", "message.per-byte")  # and those of a fault or a layout
#: An otherwise idle machine has a tenth or less.
NOISY = 0.3
_REMEDY = "Measure again while nothing else runs, longer (sdsm microbench --over 30), or give the outputs of several sittings"


def _layout(one: Parameter) -> Layout | None:
    """Returns the layout of barrier.NxT and lock.NxT."""
    of = one.name.partition(".")[2]
    return layout(of) if re.fullmatch("[0-9]+x[0-9]+", of) else None


def _is_open(one: Parameter, main: dict[str, Parameter]) -> bool:
    """Whether its error is large beside its value; for the cost of a byte, beside a page's message."""
    if one.standard_error is None:
        return False
    if one.name != "message.per-byte":
        return one.standard_error > LARGE * abs(one.value)
    fixed = main.get("message.fixed")
    return PAGE_BYTES * one.standard_error > LARGE * ((fixed.value if fixed else 0.0) + PAGE_BYTES * one.value)


def doubts(parameters: Sequence[Parameter]) -> Iterator[str]:
    """Yields a sentence for all uncertain costs, one for much noise, and one for each barrier that gets cheaper with more
    nodes."""
    measured = [one for one in parameters if one.kind != "assumed"]
    main = {one.name: one for one in measured if one.name.startswith((*MAIN, *(f"fault.{kind}" for kind in fault_names()))) or _layout(one) is not None}
    wide = [one for one in main.values() if _is_open(one, main)]
    if wide:
        listed = ", ".join(f"{one.name} is {one.value:.3g} {one.unit} with a standard error of {one.standard_error:.3g} {one.unit}" for one in wide)
        yield f"measured too unevenly to predict from: {listed}. {_REMEDY}"
    for one in measured:
        if one.name == "noise.deviation" and one.value > NOISY:
            yield (
                f"noise.deviation is {one.value:.2g}: the processors' pace changed by so much from moment to moment, and predictions of a "
                f"single run scatter as widely. {_REMEDY}"
            )
    by_threads: dict[int, list[tuple[int, Parameter]]] = {}
    for one in measured:
        placed = _layout(one)
        if one.name.startswith("barrier.") and placed is not None:
            by_threads.setdefault(placed.threads_per_node, []).append((placed.nodes, one))
    for found in by_threads.values():
        for (_, fewer), (_, more) in pairwise(sorted(found, key=lambda one: one[0])):
            gap = fewer.value - more.value
            if gap > 2 * ((fewer.standard_error or 0.0) ** 2 + (more.standard_error or 0.0) ** 2) ** 0.5:
                yield (
                    f"{more.name} ({more.value:.3g} {more.unit}) comes out cheaper than {fewer.name} ({fewer.value:.3g} {fewer.unit}), which no "
                    f"barrier of more nodes is. {_REMEDY}"
                )
