"""Writes the platform file of a fit: its costs on the hosts, links and routes of a base file."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from sdsm.base import costs
from sdsm.calibrate import barrier_shape
from sdsm.calibrate.fit import MESSAGE_COSTS, Fit
from sdsm.calibrate.network import BANDWIDTHS, TIMES_US, Network, quantity
from sdsm.calibrate.parameters import Parameter
from sdsm.platform import derived, platform_file
from sdsm.platform.platform_file import Blank, Comment, Element, Node, PlatformFileError, prop, properties, text_of

#: Elements with a network's bandwidth and latency, and their names for these.
LINKS = {"link": {"bandwidth": "bandwidth", "latency": "latency"}, "cluster": {"bandwidth": "bw", "latency": "lat"}}
#: Properties that a calibration never determines; the base file's are kept.
KEPT = ("protocol.invalidation", "home.interrupt-delay")
#: Costs that make a term of accounts, so that results can report their share (as platforms/file/reader.cpp has it).
_IN_ACCOUNTS = re.compile(r"fault\.[A-Z]{4}|message\.(fixed|per-byte)|(barrier|lock)\.\d+x\d+")
#: What was measured at most.
RANGE = ("calibrated.nodes", "calibrated.threads-per-node", "calibrated.diff")

ABOUT = """\
Costs from benchmark outputs, by sdsm calibrate: each number with its standard error, the number of samples, where it
stands, and whether it was measured, fitted (solved for from measurements of other things) or assumed (nothing
measured says it). Hosts, links and routes are those of {base}.
{sources}"""


#: Least value in any unit: the simulator counts whole picoseconds, 1e-6 us. A fit at its bound may give less.
LEAST = 1e-9


def plain(value: float) -> str:
    """Formats six digits, without an exponent; 0 for a negligible value."""
    if abs(value) < LEAST:
        return "0"
    return np.format_float_positional(value, precision=6, fractional=False, trim="-", unique=False)


def with_unit(parameter: Parameter) -> str:
    return plain(parameter.value) + ("" if parameter.unit == "1" else parameter.unit)


def certificate(parameter: Parameter) -> str:
    """One line: error, samples, kind, how, where."""
    unit = "" if parameter.unit == "1" else parameter.unit
    error = "" if parameter.standard_error is None else f"standard error {parameter.standard_error:.3g}{unit}"
    samples = "" if parameter.samples is None else f"{parameter.samples} samples"
    parts = (f"{parameter.kind}: {parameter.how}", error, samples, ", ".join(dict.fromkeys(parameter.sources)))
    return commentable("; ".join(filter(None, parts)))


def commentable(text: str) -> str:
    """Returns text for an XML comment, which forbids two hyphens in a row and control characters; file names may have them."""
    text = "".join(c if c.isprintable() else " " for c in text)
    while "--" in text:
        text = text.replace("--", "- -")
    return text + " " if text.endswith("-") else text


def platform(
    root: ElementTree.Element, base: str, fit: Fit, before: Network, sources: Sequence[str]
) -> tuple[str, list[str]]:
    """Returns the file's text, and notes on differences from the base beside costs. root: the base file's."""
    notes: list[str] = []
    given = properties(root)
    body: list[Node] = []
    group = None
    for parameter in fit.parameters:
        if group not in (None, parameter.name.split(".")[0]):
            body.append(Blank())
        group = parameter.name.split(".")[0]
        body += [Comment(certificate(parameter)), prop(parameter.name, with_unit(parameter)), *_error(parameter)]
        if parameter.runs is not None:
            values = " ".join(with_unit(replace(parameter, value=round(value, 9))) for value in parameter.runs)
            body.append(prop(f"{parameter.name}.runs", values))
        if parameter.name == MESSAGE_COSTS[-1]:
            body += _correlation(fit)
    body.append(Blank())
    shape = fit.barrier_shape
    why = f"{shape.kind}: messages of a barrier on layouts that were not measured; {shape.how}"
    body += [Comment(commentable(why)), prop(barrier_shape.PROPERTY, shape.shape), Blank()]
    body += _range(fit, given)
    body = derived.with_jiajia(derived.assuming(body, _assumed(fit)))
    body.append(Blank())
    kept = [name for name in KEPT if name in given]
    if kept:
        body += [Comment(commentable(f"As in {base}.")), *(prop(name, given[name]) for name in kept), Blank()]
    cores = max((check.layout.threads_per_node for check in fit.checks if check.layout), default=1)
    measured = {name: fit.extras[f"link.{name}"] for name in ("bandwidth", "latency") if f"link.{name}" in fit.extras}
    raised, is_first = False, True
    all_alike = links_of(root, before)
    others: list[str] = []

    def with_costs(node: Node) -> Iterator[Node]:
        nonlocal raised, is_first
        if not isinstance(node, Element):
            yield node
            return
        if node.name in ("host", "cluster") and _cores(node, base) < cores:
            node = replace(node, attributes={**node.attributes, "core": str(cores)})
            raised = True
        if measured and node.name in LINKS and (_is_like(node, before) or (fit.network_owner == "link" and all_alike is not None)):
            if is_first:
                yield from (Comment(f"{name}, in place of the base file's: {certificate(one)}") for name, one in measured.items())
                is_first = False
            replaced = {LINKS[node.name][name]: with_unit(one) for name, one in measured.items()}
            node = replace(node, attributes={**node.attributes, **replaced})
        elif measured and node.name in LINKS:
            others.append(node.attributes.get("id", ""))
        yield replace(node, children=[new for child in node.children for new in with_costs(child)])

    for node in platform_file.topology(root):
        body += with_costs(node)
    if measured and is_first and fit.network_owner == "link" and not others:
        peers = any(node.name == "peer" for node in _all(platform_file.topology(root)))
        what = f"{'its network is of <peer>s: it ' if peers else ''}holds no <link> and no <cluster>"
        raise PlatformFileError(f"{base}: {what}, so the measured network has no place in it. Name a file with links by --base")
    if others:
        notes.append(
            f"the bandwidth and latency of {base}'s {others[0]!r} stay: they are not those of reference.*, and only "
            "links with those values get the measured network's. If this is the network that was measured, write the "
            "same into both, and calibrate again"
        )
    if raised:
        why = "as layouts with so many threads per node were measured"
        notes.append(f"hosts have {cores} processors, {why}; {base} gives fewer")
    zone = root.find("zone")
    attributes = dict(zone.attrib) if zone is not None else {}
    read = [*(f"Read: {source}." for source in sources), *(f"{why}." for why in fit.left_out)]
    about = ABOUT.format(base=commentable(base), sources="\n".join(map(commentable, read)))
    return text_of(about, Element("platform", dict(root.attrib), (Element("zone", attributes, tuple(body)),))), notes


def _cores(host: Element, base: str) -> int:
    """Raises PlatformFileError."""
    cores = host.attributes.get("core", "1")
    if not re.fullmatch("[0-9]{1,9}", cores):
        raise PlatformFileError(f"{base}: host {host.attributes.get('id', '')!r} has {cores[:40]!r} processors (core). Correct the file")
    return int(cores)


def _error(parameter: Parameter) -> list[Node]:
    """Returns the standard error, from which `sdsm simulate --uncertainty` draws; nothing if it is unknown."""
    error = parameter.standard_error
    if error is None or not math.isfinite(error):
        return []
    return [prop(f"{parameter.name}.standard-error", plain(error) + ("" if parameter.unit == "1" else parameter.unit))]


def _assumed(fit: Fit) -> list[str]:
    """Names of the times that nobody measured."""
    return [one.name for one in fit.parameters if one.kind == "assumed" and one.value > 0 and _IN_ACCOUNTS.fullmatch(one.name)]


def _correlation(fit: Fit) -> list[Node]:
    """Returns the correlation of the message's two costs, which were fitted together; nothing if one of them is exact."""
    errors = [next((p.standard_error for p in fit.parameters if p.name == name), None) for name in MESSAGE_COSTS]
    covariance = fit.covariance.get(MESSAGE_COSTS)
    if covariance is None or not all(error is not None and 0 < error < math.inf for error in errors):
        return []
    correlation = covariance / math.prod(error for error in errors if error is not None)
    return [prop("message.correlation", plain(min(max(correlation, -1.0), 1.0)))]


def _range(fit: Fit, given: Mapping[str, str]) -> list[Node]:
    """Returns the largest measured layout and diff, beyond which `sdsm simulate` warns; the base's where its costs are
    used.

    The largest diff is that of the points which message.* was fitted to: larger ones that were measured do not fit.
    """
    sizes = [int(check.row.removeprefix("release.")) for check in fit.checks if check.row.startswith("release.")]
    largest = {name: given[name] for name in RANGE if name in given}
    if fit.layouts:
        most = (max(layout.nodes for layout in fit.layouts), max(layout.threads_per_node for layout in fit.layouts))
        largest |= zip(RANGE, map(str, most))  # noqa: B905  the diff's size is another fit's
    if sizes:
        largest[RANGE[2]] = f"{costs.diff(max(sizes)).bytes}B"
    found = [prop(name, largest[name]) for name in RANGE if name in largest]
    comment = Comment("The largest that was measured. Predictions beyond are extrapolated.")
    return [comment, *found, Blank()] if found else []


def links_of(root: ElementTree.Element, reference: Network) -> Network | None:
    """Returns the network of a base file's links, if all are alike."""
    kinds = {_kind(node) for node in _all(platform_file.topology(root)) if node.name in LINKS}
    kind = kinds.pop() if len(kinds) == 1 else None
    return None if kind is None or kind[0] <= 0 else replace(reference, bandwidth=kind[0], latency_us=kind[1])


def _all(nodes: Iterable[Node]) -> Iterator[Element]:
    for node in nodes:
        if isinstance(node, Element):
            yield node
            yield from _all(node.children)


def _kind(link: Element) -> tuple[float, float] | None:
    """Returns bytes/us and us."""
    names = LINKS[link.name]
    try:
        rate = quantity(link.attributes.get(names["bandwidth"], ""), BANDWIDTHS) / 1e6
        return rate, quantity(link.attributes.get(names["latency"], "0us"), TIMES_US)
    except ValueError:
        return None


def _is_like(link: Element, network: Network) -> bool:
    """Whether a link is like those that the base measured on; others of a cluster with several kinds stay unchanged."""
    if (kind := _kind(link)) is None:
        return False
    return abs(kind[0] - network.bandwidth) <= 1e-9 * network.bandwidth and abs(kind[1] - network.latency_us) <= 1e-9
