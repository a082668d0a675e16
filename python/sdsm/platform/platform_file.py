"""Writes platform files: SimGrid's XML with the project's properties, in the layout of platforms/p3-score.xml.

Texts of comments and the order of things are the caller's; every number comes in as it shall stand in the file, with its
unit. What a base file holds beside properties (hosts, links, routes) is carried over by `topology`.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

from sdsm.base.command_line import BadInput

HEAD = '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
INDENT = "  "
QUOTED = {'"': "&quot;", "\n": "&#10;", "\t": "&#9;"}


class PlatformFileError(BadInput):
    """A platform file that cannot be used as a base. The text is FILE: what (why). What next."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment; its line breaks stay."""

    text: str


@dataclass(frozen=True, slots=True)
class Blank:
    """An empty line."""


@dataclass(frozen=True, slots=True)
class Element:
    """`is_one_line`: children stand on the element's own line, as SimGrid's routes are usually written."""

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: Sequence[Node] = ()
    is_one_line: bool = False


Node = Comment | Blank | Element


def prop(name: str, value: str) -> Element:
    return Element("prop", {"id": name, "value": value})


def platform_text(about: str, zone_id: str, body: Iterable[Node]) -> str:
    """The whole file. `about` is the comment before the platform. Raises ValueError for a comment that XML forbids."""
    zone = Element("zone", {"id": zone_id, "routing": "Full"}, tuple(body))
    return text_of(about, Element("platform", {"version": "4.1"}, (zone,)))


def text_of(about: str, platform: Element) -> str:
    """platform_text() for a whole platform element."""
    return HEAD + "".join(line + "\n" for node in (Comment(about), platform) for line in _lines(node, 0))


def cluster(nodes: int, speed: str, cores: int, bandwidth: str, latency: str, hosts: str, links: str) -> list[Node]:
    """`nodes` hosts, each with a full-duplex cable to one switch, and the route of each pair. hosts, links: comments."""
    body: list[Node] = [Comment(hosts)]
    body += [Element("host", {"id": f"node-{n}", "speed": speed, "core": str(cores)}) for n in range(nodes)]
    body += [Blank(), Comment(links)]
    cable = {"bandwidth": bandwidth, "latency": latency, "sharing_policy": "SPLITDUPLEX"}
    body += [Element("link", {"id": f"cable-{n}"} | cable) for n in range(nodes)]
    body.append(Blank())
    for source in range(nodes):
        for target in range(source + 1, nodes):
            ends = ((source, "UP"), (target, "DOWN"))
            way = tuple(Element("link_ctn", {"id": f"cable-{n}", "direction": direction}) for n, direction in ends)
            body.append(Element("route", {"src": f"node-{source}", "dst": f"node-{target}"}, way, is_one_line=True))
    return body


def _lines(node: Node, depth: int) -> list[str]:
    margin = INDENT * depth
    if isinstance(node, Blank):
        return [""]
    if isinstance(node, Comment):
        if "--" in node.text or node.text.endswith("-"):
            raise ValueError(f"a comment of XML cannot hold '--', nor end in '-': {node.text[:60]!r}")
        first, *rest = node.text.split("\n")
        lines = [f"{margin}<!-- {first}", *(f"{margin}     {line}" if line else "" for line in rest)]
        lines[-1] += " -->"
        return lines
    if not node.children:
        return [f"{margin}{_tag(node)}/>"]
    if node.is_one_line:
        inner = "".join(line for child in node.children for line in _lines(child, 0))
        return [f"{margin}{_tag(node)}>{inner}</{node.name}>"]
    inner_lines = [line for child in node.children for line in _lines(child, depth + 1)]
    return [f"{margin}{_tag(node)}>", *inner_lines, f"{margin}</{node.name}>"]


def _tag(element: Element) -> str:
    return f"<{element.name}" + "".join(f' {name}="{escape(value, QUOTED)}"' for name, value in element.attributes.items())


def parse(path: Path) -> ElementTree.Element:
    """The root of a platform file, comments included. Raises PlatformFileError, OSError."""
    parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    try:
        root = ElementTree.parse(path, parser).getroot()
    except ElementTree.ParseError as error:
        raise PlatformFileError(f"{path}: not XML ({error}). Give a platform file") from None
    if root.tag != "platform" or root.find("zone") is None:
        raise PlatformFileError(f"{path}: no <platform> with a <zone>. `sdsm check` says what a platform file needs")
    return root


def properties(root: ElementTree.Element) -> dict[str, str]:
    """Returns the properties of the outermost zone."""
    zone = root.find("zone")
    return {} if zone is None else {p.get("id", ""): p.get("value", "") for p in zone.findall("prop")}


def costs(root: ElementTree.Element) -> list[Node]:
    """The outermost zone's properties, and the comments before them."""
    return _halves(root)[0]


def topology(root: ElementTree.Element) -> list[Node]:
    """Returns the outermost zone's other contents."""
    return _halves(root)[1]


def _halves(root: ElementTree.Element) -> tuple[list[Node], list[Node]]:
    zone = root.find("zone")
    children = [] if zone is None else list(zone)
    end = 1 + max((i for i, child in enumerate(children) if child.tag == "prop"), default=-1)
    return [_node(child) for child in children[:end]], [_node(child) for child in children[end:]]


def _node(element: ElementTree.Element) -> Node:
    if element.tag is ElementTree.Comment:
        text = (element.text or "").strip()
        return Comment("\n".join(line.strip() for line in text.splitlines()))
    children = tuple(_node(child) for child in element)
    return Element(element.tag, dict(element.attrib), children, is_one_line=element.tag == "route")
