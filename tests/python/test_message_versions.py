"""Parts of two builds that would misread each other's messages refuse each other, as each says a version first.

A message's layout is the text of its structures and enumerations without comments, with all that they use. RECORDED holds
each version's hash of it, so a layout that changes while its version stays fails here.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Language:
    """header: all types in it are messages. version: the constant in it that both ends compare."""

    header: str
    version: str
    recorded: tuple[int, str]


#: When this test fails because messages have changed: raise the version in the header, and write it and the hash here.
LANGUAGES = (
    Language("native/dsm/wire/control.hpp", "control_version", (15, "4c2a5f511e83386f")),
    Language("native/tracer/record/stream.hpp", "stream_version", (12, "d65e6029e03c2d29")),
)


def without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def header_with_included(name: str, seen: dict[str, str]) -> dict[str, str]:
    """The project's headers that `name` includes, itself first, with their texts."""
    if name not in seen:
        seen[name] = without_comments((ROOT / name).read_text())
        for included in re.findall(r'#include "([^"]+)"', seen[name]):
            header_with_included(included, seen)
    return seen


def types_of(text: str) -> dict[str, set[str]]:
    """Structures, enumerations, aliases, constants and macros at any depth, by name: definitions with all spaces alike.

    Several of one name where namespaces or structures have their own.
    """
    found: dict[str, set[str]] = {}
    for match in re.finditer(r"\b(?:struct|class|union|enum(?: class)?) +(\w+)[^;{}()]*\{", text):
        depth, end = 1, match.end()
        while depth > 0:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        found.setdefault(match[1], set()).add(" ".join(text[match.start() : end].split()))
    constants = r"\busing (?P<alias>\w+) =[^;]*;|\bconstexpr [\w:<> *]+?\b(?P<constant>\w+)(?:\[\])? =[^;]*;"
    for match in re.finditer(constants + r"|^# *define (?P<macro>\w+)(?:[^\n\\]|\\\n)*", text, flags=re.MULTILINE):
        found.setdefault(match[match.lastgroup or 0], set()).add(" ".join(match[0].split()))
    return found


def layout_of(header: str) -> dict[str, str]:
    """The messages' types and all that these name, by name."""
    texts = header_with_included(header, {})
    known: dict[str, set[str]] = {}
    for text in texts.values():
        for name, definitions in types_of(text).items():
            known.setdefault(name, set()).update(definitions)
    wanted = list(types_of(texts[header]))
    layout: dict[str, str] = {}
    while wanted:
        name = wanted.pop()
        if name in known and name not in layout:
            layout[name] = "\n".join(sorted(known[name]))
            wanted += re.findall(r"\w+", layout[name])
    return layout


def hash_of(layout: dict[str, str], leaving_out: str) -> str:
    text = "\n".join(f"{name}: {layout[name]}" for name in sorted(layout) if name != leaving_out)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.version)
def test_messages_change_only_with_their_version(language):
    layout = layout_of(language.header)
    version = int(re.findall(r"(\d+);", layout[language.version])[0])
    found = (version, hash_of(layout, language.version))
    assert found == language.recorded, f"messages of {language.header} have changed: raise {language.version}, and record it as {found}"


def test_a_layout_holds_what_its_messages_are_made_of():
    layout = layout_of("native/dsm/wire/control.hpp")
    assert "jiajia::Rules jiajia;" in layout["Welcome"]
    assert {"FrameKind", "Rules", "Scope", "Emulation", "EmulatedNetwork", "Tally", "ThreadCounts", "SDSM_PROTOCOLS", "secret_bytes"} <= set(layout)
    assert layout["FaultKind"].count("enum class") == 2  # SCASH's and JIAJIA's
    whole = hash_of(layout, "control_version")
    shorter = layout | {"Welcome": layout["Welcome"].replace("jiajia::Rules jiajia;", "")}
    swapped = layout | {"Scope": layout["Scope"].replace("openmp", "lock_first")}
    assert len({whole, hash_of(shorter, "control_version"), hash_of(swapped, "control_version")}) == 3


def test_comments_and_spaces_are_no_layout():
    assert types_of(without_comments("struct A {  ///< one\n  int a = 0;\n};")) == types_of("struct A { int a = 0; };")
