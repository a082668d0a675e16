"""Writes docs/result-format.md and Python's types of results from docs/result.schema.json, which is edited by hand.

Beside JSON Schema's own keywords a field has its `unit`, and what Python reads has `python`: the name of its type. An object's
name becomes a structure; `reads` are then those of its fields that Python needs. Call it without arguments.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs" / "result.schema.json").read_text(encoding="utf-8"))
DEFINITIONS = SCHEMA["$defs"]
PAGE = ROOT / "docs" / "result-format.md"
TYPES = ROOT / "calibration" / "result_types.py"
#: Names that are written by hand: of numbers, and OfX for what X inherits.
PARTS = re.findall(r"^(?:class )?(\w+)(?: = Annotated|:$)", (ROOT / "calibration" / "result_parts.py").read_text(encoding="utf-8"), re.MULTILINE)

Node = Any  # a schema: an object, or true


def definition(node: Node) -> str:
    """The name of the definition that it refers to, else nothing."""
    return node.get("$ref", "").rpartition("/")[2] if node is not True else ""


def followed(node: Node) -> Node:
    """With the keywords of what it refers to; its own ones win."""
    return followed(DEFINITIONS[definition(node)]) | node if definition(node) else node


def unit(node: Node) -> str:
    """Its own, or its elements'."""
    node = followed(node)
    below = [node[name] for name in ("items", "additionalProperties") if isinstance(node.get(name), dict)]
    return str(node.get("unit") or next(map(unit, below), ""))


def meaning(node: Node) -> str:
    words = [node["description"]]
    if "const" in node:
        words.append(f"Always `{json.dumps(node['const'])}`.".replace('"', ""))
    if values := node.get("enum", followed(node.get("items", {})).get("enum")):
        words.append(f"One of {', '.join(f'`{value}`' for value in values)}.")
    if "default" in node:
        words.append(f"Absent: `{node['default']}`.")
    return " ".join(words)


def rows(node: Node, path: str = "") -> Iterator[tuple[str, str, str]]:
    """Name, unit and meaning of each field. What has a title is a section of its own."""
    inherited = {name for part in node.get("allOf", ()) for name in DEFINITIONS[definition(part)]["properties"]}
    required = {name for part in (node, *node.get("anyOf", ())) for name in part.get("required", ())}
    for of, below in node.get("properties", {}).items():
        title, whole = DEFINITIONS.get(definition(below), {}).get("title"), followed(below)
        if below is True:  # as in the definition that it extends
            continue
        name = path + of + ("[]" if whole.get("type") == "array" else "")
        if of not in inherited or "description" in whole:
            yield name + ("" if of in required else "?"), unit(below), meaning(whole)
        while "items" in whole and not title:
            title, whole = DEFINITIONS.get(definition(whole["items"]), {}).get("title"), followed(whole["items"])
        if not title:
            yield from rows(whole, name + ".")


def page() -> str:
    parts = ["<!-- tests/python/result_format.py writes this page. -->", f"# {SCHEMA['title']}", SCHEMA["description"]]
    for node in DEFINITIONS.values():
        if "title" in node:
            parts += [f"## {node['title']}", *([node["description"]] if "description" in node else ())]
            table = ["| field | unit | meaning |", "|---|---|---|"]
            for (of, text), fields in groupby(rows(node), lambda row: row[1:]):
                table.append(f"| {', '.join(f'`{name}`' for name, *_ in fields)} | {of} | {text} |")
            parts.append("\n".join(table))
    return "\n\n".join(parts) + "\n"


HEAD = '''"""What Python reads of results. tests/python/result_format.py writes this file from docs/result.schema.json."""

from __future__ import annotations

from typing import Annotated

import msgspec

from calibration.result_parts import {names}

'''
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None", "object": "dict[str, object]"}
DEFAULTS = {"tuple": "()", "Annotated[tuple": "()", "dict": "msgspec.field(default_factory=dict)", "str": '""', "bool": "False"}
DEFAULTS |= {"Count": "0", "Bytes": "0", "Index": "0", "Seconds": "0.0", "Change": "0.0"}


def python(node: Node) -> str:
    """Its type."""
    if "python" in node:
        return str(node["python"])
    if name := definition(node):
        return name.capitalize() if name.capitalize() in PARTS else python(DEFINITIONS[name])
    if "enum" in node or "const" in node:
        return type(node.get("const", node.get("enum", [0])[0])).__name__
    kinds = [node["type"]] if isinstance(node["type"], str) else node["type"]
    limits = {"pattern": "pattern", "minItems": "min_length"}
    meta = next((f"{limit}={json.dumps(node[name])}" for name, limit in limits.items() if name in node), "")
    if kinds[0] == "array":
        text = f"tuple[{python(node['items'])}, ...]"
    elif isinstance(node.get("additionalProperties"), dict):
        text = f"dict[str, {python(node['additionalProperties'])}]"
    else:
        text = PLAIN[kinds[0]]
    return " | ".join([f"Annotated[{text}, msgspec.Meta({meta})]" if meta else text, *(PLAIN[kind] for kind in kinds[1:])])


def default(kind: str, node: Node) -> str:
    """The rest of an optional field's line."""
    if "default" in node:
        return f"{kind} = {json.dumps(node['default'])}"
    value = next((value for start, value in DEFAULTS.items() if kind.startswith(start)), "")
    return f"{kind} = {value}" if value else f"{kind} | None = None"


def collect(node: Node, found: dict[str, tuple[str, dict[str, str]]]) -> None:
    """Base and fields of each structure in it, what it needs first. Definitions of one name are one structure with all their fields."""
    if not isinstance(node, dict):
        return
    extended = [DEFINITIONS[definition(part)] for part in node.get("allOf", ())]
    for below in (*extended, node.get("items"), node.get("additionalProperties"), *node.get("properties", {}).values()):
        collect(below, found)
    name = node.get("python", "")
    if not name.isidentifier() or "properties" not in node:
        return
    base = next((one["python"] for one in extended if one["python"] != name), "")
    known = found[base][1] if base else {}
    fields = found.setdefault(name, (base, {}))[1]
    for of, below in node["properties"].items():
        if below is not True and of in node.get("reads", [of]) and (of not in known or "python" in below):
            is_required = of in node.get("required", ()) and (base or not extended)
            fields.setdefault(of, python(below) if is_required else default(python(below), below))


def types() -> str:
    found: dict[str, tuple[str, dict[str, str]]] = {}
    for node in DEFINITIONS.values():
        collect(node, found)
    parts = []
    for name, (base, fields) in found.items():
        bases = ", ".join([f"Of{name}"] * (f"Of{name}" in PARTS) + [base or "msgspec.Struct"])
        parts.append(f"class {name}({bases}, frozen=True, kw_only=True):\n" + "\n".join(f"    {of}: {kind}" for of, kind in fields.items()))
    text = "\n\n\n".join(parts) + "\n"
    return HEAD.format(names=", ".join(name for name in sorted(PARTS) if re.search(rf"\b{name}\b", text))) + "\n" + text


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    TYPES.write_text(types(), encoding="utf-8")
