"""Writes docs/result-format.md and Python's types of results from docs/result.schema.json, which is edited by hand.

Beside JSON Schema's own keywords a field has its `unit`, and what Python reads has `python`: the name of its type. An object's
name becomes a structure; `reads` are then those of its fields that Python needs. Call it without arguments.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import groupby
from keyword import iskeyword
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs" / "result.schema.json").read_text(encoding="utf-8"))
DEFINITIONS = SCHEMA["$defs"]
PAGE = ROOT / "docs" / "result-format.md"
BASE = ROOT / "python" / "sdsm" / "base"
TYPES = BASE / "result_types.py"
#: What stands in result_parts.py: types of numbers, and OfX, from which structure X inherits.
PARTS = re.findall(r"^(?:class )?(\w+)(?: = Annotated|:$)", (BASE / "result_parts.py").read_text(encoding="utf-8"), re.MULTILINE)


def definition(node: Any) -> str:
    """The name of the definition that it refers to, else nothing."""
    return node.get("$ref", "").rpartition("/")[2]


def followed(node: Any) -> Any:
    """With the keywords of what it refers to; its own ones win."""
    return followed(DEFINITIONS[definition(node)]) | node if definition(node) else node


def unit(node: Any) -> str:
    """Its own, or its elements'."""
    below = [node[name] for name in ("items", "additionalProperties") if isinstance(node.get(name), dict)]
    return str(node.get("unit") or next((unit(followed(one)) for one in below), ""))


def meaning(node: Any) -> str:
    values = node.get("enum", followed(node.get("items", {})).get("enum", ()))
    words = [node["description"], f"One of {', '.join(f'`{value}`' for value in values)}." if values else ""]
    for keyword, before in (("const", "Always"), ("default", "Absent:")):
        if keyword in node:
            words.append(f"{before} `{node[keyword] if isinstance(node[keyword], str) else json.dumps(node[keyword])}`.")
    return " ".join(filter(None, words))


def rows(node: Any, path: str = "") -> Iterator[tuple[str, str, str]]:
    """Name, unit and meaning of each field. What has a title is a section of its own."""
    inherited = {name for part in node.get("allOf", ()) for name in DEFINITIONS[definition(part)]["properties"]}
    required = {name for part in (node, *node.get("anyOf", ())) for name in part.get("required", ())}
    for of, below in node.get("properties", {}).items():
        if below is not True:  # which means: as in the definition that it extends
            whole = followed(below)
            name = path + of + ("[]" if whole.get("type") == "array" else "")
            if of not in inherited or "description" in whole:
                yield name + ("" if of in required else "?"), unit(whole), meaning(whole)
            while "items" in whole and "title" not in whole:
                whole = followed(whole["items"])
            if "title" not in whole:
                yield from rows(whole, name + ".")


def page() -> str:
    parts = [f"# {SCHEMA['title']}", re.sub(r"(?<=[a-z)][.]) ", "\n", SCHEMA["description"])]
    for node in DEFINITIONS.values():
        if "title" in node:
            parts += [f"## {node['title']}", *([node["description"]] if "description" in node else ())]
            table = ["| field | unit | meaning |", "|---|---|---|"]
            for (of, text), fields in groupby(rows(node), lambda row: row[1:]):
                table.append(f"| {', '.join(f'`{name}`' for name, *_ in fields)} | {of} | {text} |")
            parts.append("\n".join(table))
    return "\n\n".join([*parts, "<!-- tests/python/result_format.py writes this page. -->"]) + "\n"


HEAD = '''"""What Python reads of results. tests/python/result_format.py writes this file from docs/result.schema.json."""

from __future__ import annotations

from typing import Annotated

import msgspec

from sdsm.base.result_parts import '''
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None", "object": "dict[str, object]"}
#: Values of optional fields, by the first word of their type; of others, None.
DEFAULTS = {"tuple": "()", "Annotated": "()", "dict": "msgspec.field(default_factory=dict)", "str": '""', "bool": "False"}
DEFAULTS |= {"Count": "0", "Bytes": "0", "Index": "0", "Seconds": "0.0", "Change": "0.0"}


def python(node: Any) -> str:
    """Its type."""
    if "python" in node:
        return str(node["python"])
    if name := definition(node):
        return name.capitalize() if name.capitalize() in PARTS else python(DEFINITIONS[name])
    if "enum" in node or "const" in node:
        return type(node.get("const", node.get("enum", [0])[0])).__name__
    kinds = [node["type"]] if isinstance(node["type"], str) else node["type"]
    text = PLAIN.get(kinds[0]) or f"tuple[{python(node['items'])}, ...]"
    if isinstance(node.get("additionalProperties"), dict):
        text = f"dict[str, {python(node['additionalProperties'])}]"
    for limit, name in (("pattern", "pattern"), ("minItems", "min_length")):
        text = f"Annotated[{text}, msgspec.Meta({name}={json.dumps(node[limit])})]" if limit in node else text
    return " | ".join([text, *(PLAIN[kind] for kind in kinds[1:])])


def optional(node: Any) -> str:
    kind = python(node)
    value = json.dumps(node["default"]) if "default" in node else DEFAULTS.get(kind.partition("[")[0])
    return f"{kind} = {value}" if value else f"{kind} | None = None"


def collect(node: Any, found: dict[str, tuple[str, dict[str, str]]]) -> None:
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
    known, fields = found[base][1] if base else {}, found.setdefault(name, (base, {}))[1]
    for of, below in node["properties"].items():
        if below is not True and of in node.get("reads", [of]) and (of not in known or "python" in below):
            is_required = of in node.get("required", ()) and (base or not extended)
            kind = python(below) if is_required else optional(below)
            fields.setdefault(of + "_" * iskeyword(of), kind + f' = msgspec.field(name="{of}")' * iskeyword(of))


def types() -> str:
    found: dict[str, tuple[str, dict[str, str]]] = {}
    for node in DEFINITIONS.values():
        collect(node, found)
    text = ""
    for name, (base, fields) in found.items():
        bases = f"Of{name}, " * (f"Of{name}" in PARTS) + (base or "msgspec.Struct")
        text += f"\n\n\nclass {name}({bases}, frozen=True, kw_only=True):"
        text += "".join(f"\n    {of}: {kind}" for of, kind in fields.items())
    return HEAD + ", ".join(part for part in sorted(PARTS) if re.search(rf"\b{part}\b", text)) + text + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    TYPES.write_text(types(), encoding="utf-8")
