"""Costs that a platform file lacks, derived from those that it has: JIAJIA's from SCASH's, and those of RDMA.

Both rest on two parts of SCASH's costs: a trap with one mprotect (WROH), and the copy of a page for a twin (what WUMR takes
longer than RUMR). Nobody measured what is made here, so `costs.assumed` names it, and results that rest on it say so.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from sdsm.base.command_line import BadInput
from sdsm.calibrate.network import SIZES, TIMES_US, network_of, quantity
from sdsm.platform.networks import Adapter
from sdsm.platform.platform_file import Blank, Comment, Element, Node, prop

ASSUMED = "costs.assumed"
#: JIAJIA's request for a page, and its answer beside the page (models/jiajia/messages.hpp).
REQUEST_BYTES, REPLY_BYTES = 32 + 8, 32 + 12
#: A barrier's or lock's message: kind, sender, page or lock, number (models/scash/messages.hpp).
CONTROL_BYTES = 64
FETCH = """\
A fetch: the trap (WROH), a request and the page, and the twin (what WUMR took longer than RUMR). The home's
processor has no part in it. Memory is registered before the program starts, which no result has in it."""
PER_BYTE = {"us/B": 1.0, "ns/B": 1e-3, "ps/B": 1e-6}


def us(value: float) -> str:
    """Formats to the picosecond, without an exponent."""
    return f"{value:.6f}".rstrip("0").rstrip(".") + "us"


def _us(given: Mapping[str, str], name: str) -> float:
    return quantity(given[name], TIMES_US)


def _page_bytes(given: Mapping[str, str]) -> int:
    """A number without a unit is bytes."""
    text = given.get("page.size", "4096B")
    return int(quantity(text + "B" if text.isdigit() else text, SIZES))


def trap_and_copy_us(given: Mapping[str, str]) -> tuple[float, float]:
    return _us(given, "fault.WROH"), max(0.0, _us(given, "fault.WUMR") - _us(given, "fault.RUMR"))


def jiajia(given: Mapping[str, str]) -> list[Node]:
    """Returns JIAJIA's costs, each from the action of SCASH that does the same work. given: the platform's properties."""
    trap_us, copy_us = trap_and_copy_us(given)
    # JIAJIA's messages are longer than SCASH's, which shows where the wire takes nearly all of a fetch.
    read_us = max(_us(given, "fault.RUMR"), trap_us + _messages_us(given))
    write_us = max(_us(given, "fault.WUMR"), read_us + copy_us)
    groups = {
        "As SCASH's WROH: a trap and one mprotect.": {"fault.WROH": us(trap_us)},
        "As SCASH's RUMR: request, page, one mapping. An invalid copy is mapped already, which saves little.": dict.fromkeys(
            ("fault.RUMR", "fault.RIVR"), us(read_us)
        ),
        "As SCASH's WUMR: the same and a twin.": dict.fromkeys(("fault.WUMR", "fault.WIVR"), us(write_us)),
        "A trap, one mprotect, and the twin: WROH and what WUMR takes longer than RUMR. JIAJIA tells nobody of it.": {
            "fault.WROR": us(trap_us + copy_us)
        },
        "As SCASH's diffs and control messages.": {name: given[name] for name in ("message.fixed", "message.per-byte")},
        "To compare a page takes what copying it for a twin takes.": {"diff": us(copy_us)},
        "One mprotect: less than a trap with one.": dict.fromkeys(("protect", "invalidate"), us(trap_us / 2)),
    }
    nodes: list[Node] = []
    for comment, values in groups.items():
        nodes += [Comment(comment), *(prop(f"jiajia.{name}", value) for name, value in values.items())]
    return nodes


def _messages_us(given: Mapping[str, str]) -> float:
    """The time of JIAJIA's request for a page and its answer on the idle network of the measurement, without processors."""
    zone = ElementTree.Element("zone")
    zone.extend(ElementTree.Element("prop", {"id": name, "value": value}) for name, value in given.items())
    platform = ElementTree.Element("platform")
    platform.append(zone)
    network = network_of(platform, "the platform")
    return sum(network.idle_us(size) for size in (REQUEST_BYTES, REPLY_BYTES + _page_bytes(given)))


def with_jiajia(costs: Sequence[Node]) -> list[Node]:
    """Returns a platform's costs with JIAJIA's, if it lacks them and has SCASH's."""
    given = properties(costs)
    if "fault.WROH" not in given or any(name.startswith("jiajia.") for name in given):
        return list(costs)
    about = Comment("JIAJIA's costs are assumed: nobody measured them here.")
    return assuming([*costs, Blank(), about, *jiajia(given)], ["jiajia.*"])


def rdma(costs: Sequence[Node], adapter: Adapter, bandwidth: str) -> list[Node]:
    """Returns a platform's costs with those of messages and fetches by RDMA, without JIAJIA's. bandwidth: of the adapter's
    link. Raises BadInput if it has none of SCASH's."""
    given = properties(costs)
    if "fault.WROH" not in given:
        raise BadInput("costs of RDMA are made from SCASH's, and this platform has none. Name one with fault.* by --from")
    trap_us, copy_us = trap_and_copy_us(given)
    fetch_us = 2 * adapter.fixed_us + _page_bytes(given) * adapter.per_byte_us
    before_us = _us(given, "message.fixed") + CONTROL_BYTES * quantity(given["message.per-byte"], PER_BYTE)
    if not before_us:
        raise ValueError("its messages take no time, so barriers and locks cannot be scaled by it")
    ratio = (adapter.fixed_us + CONTROL_BYTES * adapter.per_byte_us) / before_us
    between_nodes = {
        name: us(_us(given, name) * ratio) for name in given if re.fullmatch(r"(barrier|lock)\.(?!1x)\d+x\d+", name)
    }
    groups = [
        (
            f"Messages by RDMA: the line through two sizes. The adapters' time counts as the processors'.\n{adapter.times_from}.",
            {"message.fixed": us(adapter.fixed_us), "message.per-byte": us(adapter.per_byte_us) + "/B"},
        ),
        (
            FETCH,
            {"fault.RUMR": us(trap_us + fetch_us), "fault.WUMR": us(trap_us + fetch_us + copy_us), "fetch.home-share": "0"},
        ),
        ("Barriers and locks between nodes: as before, in proportion to a message's time.", between_nodes),
        (
            "The network on which those messages were timed: one cable. The adapters are in the messages.",
            {"reference.bandwidth": bandwidth, "reference.latency": "0us", "reference.links": "1"},
        ),
        (
            f"{adapter.frames_from}.",
            {"frame.payload": f"{adapter.payload_bytes}B"} | dict.fromkeys(("frame.overhead", "frame.minimum"), f"{adapter.overhead_bytes}B"),
        ),
    ]  # fmt: skip
    replaced = {name for _, values in groups for name in values}
    dropped = set(replaced) | {name for name in given if name.startswith("jiajia.")} | {"message.correlation"} | {f"{name}.{of}" for name in replaced for of in ("standard-error", "runs")}
    body = _without(costs, dropped)
    for comment, values in groups:
        body += [Blank(), Comment(comment), *(prop(name, value) for name, value in values.items())]
    return assuming(body, [name for name in replaced if name.startswith(("fault.", "message.", "barrier.", "lock."))])


def assuming(costs: Sequence[Node], names: Iterable[str]) -> list[Node]:
    """Returns the costs, of which `names` are assumed beside those that were."""
    given = properties(costs)
    before = given.get(ASSUMED, "").split()
    every = " ".join(one for one in dict.fromkeys([*before, *sorted(names)]) if any(fnmatchcase(name, one) for name in given))
    return [*_without(costs, {ASSUMED}), *([prop(ASSUMED, every)] if every else [])]


def properties(costs: Iterable[Node]) -> dict[str, str]:
    elements = (one for one in costs if isinstance(one, Element) and one.name == "prop")
    return {one.attributes["id"]: one.attributes["value"] for one in elements}


def _without(costs: Sequence[Node], names: set[str]) -> list[Node]:
    """Leaves out properties, and comments that stand before them alone."""
    left: list[Node] = []
    comment: list[Node] = []
    for one in costs:
        if not isinstance(one, Element):
            comment.append(one)
        elif one.attributes.get("id") in names:
            comment = [] if comment and isinstance(comment[-1], Comment) else comment
        else:
            left += [*comment, one]
            comment = []
    return left
